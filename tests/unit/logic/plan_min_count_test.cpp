// SPDX-License-Identifier: GPL-2.0-or-later
//
// HyperPod's MinCount table, row by row, and what we add to it.
#include <gtest/gtest.h>

#include "logic/group_planner.hpp"
#include "tests/fakes/fake_world.hpp"

namespace muster::logic {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using tests::FakeWorld;

/// A world whose nodes 1..ready are up.
void bring_up(FakeWorld& world, int ready) {
  world.run_until_quiet();
  for (int number = 1; number <= ready; ++number) world.bring_up("gpu-" + std::to_string(number));
}

TEST(MinCount, ANewGroupIsCreatingUntilMinCountAreReady) {
  FakeWorld world(4, 2);
  bring_up(world, 1);
  EXPECT_EQ(world.group().status, GroupStatus::creating);
  world.bring_up("gpu-2");
  EXPECT_EQ(world.group().status, GroupStatus::in_service);
  EXPECT_EQ(world.events_of_kind("MinCountReached"), 1);
}

TEST(MinCount, EqualToTheTargetIsAllOrNothing) {
  FakeWorld world(3, 3);
  bring_up(world, 2);
  EXPECT_EQ(world.undrain_calls, 0);
  world.bring_up("gpu-3");
  EXPECT_EQ(world.undrain_calls, 1);
  EXPECT_EQ(open_count(world.group()), 3);
}

TEST(MinCount, AGroupThatUpdatesSaysThatItsLaunchingIsStopped) {
  FakeWorld world(2, 1);
  bring_up(world, 2);
  ASSERT_TRUE(world.scale(3, 3));
  for (int attempt = 0; attempt < 3; ++attempt) {
    world.next_launch_fails = FailureClass::configuration;
    world.run_until_quiet();
    world.pass_time(minutes{40});
  }
  EXPECT_EQ(world.group().status, GroupStatus::updating);
  EXPECT_NE(world.group().status_reason.find("2 of 3 nodes ready; launching is stopped: "), std::string::npos)
      << world.group().status_reason;
}

TEST(MinCount, RaisedAboveWhatIsReadyMakesTheGroupUpdatingAndLeavesOpenNodesOpen) {
  FakeWorld world(4, 1);
  bring_up(world, 2);
  ASSERT_TRUE(world.scale({}, 4));
  world.run_until_quiet();
  EXPECT_EQ(world.group().status, GroupStatus::updating);
  EXPECT_EQ(open_count(world.group()), 2);
  EXPECT_FALSE(world.node("gpu-1").drained);
  world.bring_up("gpu-3");
  EXPECT_TRUE(world.node("gpu-3").drained) << "what comes while it is Updating waits";
  world.bring_up("gpu-4");
  EXPECT_EQ(world.group().status, GroupStatus::in_service);
  EXPECT_EQ(open_count(world.group()), 4);
}

TEST(MinCount, RaisedToWhatIsReadyAlreadyChangesNoStatus) {
  FakeWorld world(4, 1);
  bring_up(world, 3);
  ASSERT_TRUE(world.scale({}, 3));
  world.run_until_quiet();
  EXPECT_EQ(world.group().status, GroupStatus::in_service);
}

TEST(MinCount, RaisingOnlyTheTargetDoesNotReopenTheWait) {
  FakeWorld world(2, 2);
  bring_up(world, 2);
  ASSERT_TRUE(world.scale(4));
  world.run_until_quiet();
  EXPECT_EQ(world.group().status, GroupStatus::in_service);
  world.bring_up("gpu-3");
  EXPECT_FALSE(world.node("gpu-3").drained);
}

TEST(MinCount, LoweredToWhatIsReadyEndsTheWaitAtOnce) {
  FakeWorld world(4, 4);
  bring_up(world, 2);
  ASSERT_TRUE(world.scale({}, 2));
  world.run_until_quiet();
  EXPECT_EQ(world.group().status, GroupStatus::in_service);
}

TEST(MinCount, ALaterDipChangesNoStatus) {
  FakeWorld world(2, 2);
  bring_up(world, 2);
  world.node("gpu-1").base = NodeBase::down;
  world.node("gpu-1").reason = "Not responding";
  world.run_until_quiet();
  EXPECT_EQ(world.group().status, GroupStatus::in_service);
  EXPECT_FALSE(world.node("gpu-2").drained);
}

TEST(MinCount, ANodeThatIsLostBeforeTheGroupOpensNoLongerCounts) {
  FakeWorld world(3, 2);
  bring_up(world, 1);
  EXPECT_EQ(ready_count(world.group()), 1);
  world.node("gpu-1").base = NodeBase::down;
  world.node("gpu-1").reason = "Not responding";
  world.run_until_quiet();
  EXPECT_EQ(ready_count(world.group()), 0);
}

TEST(MinCount, TheDeadlineStartsAnewWhenMinCountChangesAndNotWhenOnlyTheTargetDoes) {
  FakeWorld world(4, 3);
  world.run_until_quiet();
  const Time first = world.group().deadline;
  world.pass_time(hours{1});
  ASSERT_TRUE(world.scale(5));
  EXPECT_EQ(world.group().deadline, first);
  ASSERT_TRUE(world.scale({}, 4));
  EXPECT_EQ(world.group().deadline, world.now + hours{3});
}

TEST(MinCount, TheDeadlineIsExactToTheMillisecond) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  const Time deadline = world.group().deadline;
  EXPECT_EQ(world.decide().next_deadline <= deadline, true);
  world.now = deadline - Duration{1};
  world.run_until_quiet();
  EXPECT_EQ(world.group().status, GroupStatus::creating);
  world.now = deadline;
  world.commit(world.decide());
  EXPECT_EQ(world.group().status, GroupStatus::in_service);
  EXPECT_EQ(world.events_of_kind("RollbackStarted"), 1);
}

TEST(MinCount, RollbackOfANewGroupEndsAllItsMachinesAndOpensNoNode) {
  FakeWorld world(4, 4);
  bring_up(world, 3);
  world.pass_time(hours{3});
  world.run_until_quiet();
  EXPECT_EQ(world.group().counts, (Counts{0, 0}));
  EXPECT_EQ(world.group().status, GroupStatus::in_service);
  EXPECT_EQ(world.undrain_calls, 0);
  EXPECT_TRUE(world.machines().empty());
}

TEST(MinCount, RollbackOfAnOldGroupReturnsToTheCountsOfItsLastInServiceAndKeepsItsNodes) {
  FakeWorld world(3, 2);
  bring_up(world, 3);
  ASSERT_TRUE(world.scale(6, 6));
  world.run_until_quiet();
  world.bring_up("gpu-4");
  ASSERT_TRUE(world.scale({}, 5));
  world.pass_time(hours{3});
  world.run_until_quiet();
  EXPECT_EQ(world.group().counts, (Counts{3, 2}));
  EXPECT_EQ(world.group().status, GroupStatus::in_service);
  for (const char* name : {"gpu-1", "gpu-2", "gpu-3"}) EXPECT_FALSE(world.node(name).drained) << name;
  EXPECT_EQ(world.machines().size(), 3u) << "the newest went";
  EXPECT_EQ(world.undrain_calls, 2) << "the node that had arrived for the change was never opened";
}

TEST(MinCount, ARolledBackGroupSaysSoUntilItsCountsAreChanged) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  world.pass_time(hours{3});
  world.run_until_quiet();
  EXPECT_NE(world.group().status_reason.find("rolled back: 0 of 2 nodes ready at the deadline"), std::string::npos);
  world.apply_file();
  world.run_until_quiet();
  EXPECT_EQ(world.group().counts, (Counts{2, 2})) << "the file applied again is a new request";
  EXPECT_EQ(world.group().status, GroupStatus::updating);
  EXPECT_TRUE(world.group().rolled_back.empty());
}

TEST(MinCount, TheCostOfWaitingRollsTheGroupBackEarly) {
  FakeWorld world(4, 4);
  world.spec().max_idle_node_hours = 2;
  world.spec().boot_timeout = hours{10};
  bring_up(world, 2);  // four machines wait, two of them ready
  world.pass_time(minutes{29});
  world.run_until_quiet();
  EXPECT_EQ(world.events_of_kind("RollbackStarted"), 0);
  const Time due = world.decide().next_deadline;
  EXPECT_LE(due, world.now + minutes{1} + seconds{1});
  world.now = due;
  world.run_until_quiet();
  EXPECT_EQ(world.events_of_kind("RollbackStarted"), 1);
  EXPECT_EQ(world.group().counts, (Counts{0, 0}));
}

TEST(MinCount, TheCostOfMachinesThatAreGoneAgainIsNotForgotten) {
  FakeWorld world(1, 1);
  world.spec().max_idle_node_hours = 100;
  world.spec().boot_timeout = minutes{30};
  world.run_until_quiet();
  world.pass_time(minutes{30});
  world.run_until_quiet();  // boot timeout: ended
  world.pass_time(seconds{2});
  world.run_until_quiet();  // and replaced
  world.pass_time(minutes{20});
  EXPECT_GE(idle_node_time(world.group(), world.now), minutes{49});
}

TEST(MinCount, AnOperatorOpensAGatheringGroupWithWhatIsReady) {
  FakeWorld world(4, 4);
  bring_up(world, 2);
  ASSERT_TRUE(world.open_group());
  world.run_until_quiet();
  EXPECT_EQ(open_count(world.group()), 2);
  EXPECT_EQ(world.group().deadline, no_time);
  EXPECT_FALSE(world.open_group()) << "it is open already";
}

TEST(MinCount, AddingAndRemovingByNumberAreRefusedWhileTheGroupWaitsAndScalingAndDeletingAreNot) {
  FakeWorld world(4, 4);
  bring_up(world, 1);
  EXPECT_FALSE(world.command(AddNodes{world.spec().name, 1}));
  EXPECT_FALSE(world.command(RemoveNodes{{NodeName{"gpu-1"}}}));
  EXPECT_TRUE(world.scale(5, 3));
  EXPECT_TRUE(world.command(DeleteGroup{world.spec().name}));
}

TEST(MinCount, RefusesAMinCountAboveTheTarget) {
  FakeWorld world(4, 2);
  world.run_until_quiet();
  EXPECT_FALSE(world.scale({}, 5));
  EXPECT_FALSE(world.scale(1));
  EXPECT_EQ(world.group().counts, (Counts{4, 2}));
}

TEST(MinCount, AFloorClosesTheGroupToNewJobsWhileTooFewAreUsableAndOpensItAgain) {
  FakeWorld world(3, 2);
  world.spec().gate = GatePolicy::floor;
  bring_up(world, 3);
  for (const char* name : {"gpu-1", "gpu-2"}) {
    world.node(name).base = NodeBase::down;
    world.node(name).not_responding = true;
    world.node(name).reason = "Not responding";
  }
  world.run_until_quiet();
  EXPECT_EQ(world.group().status, GroupStatus::degraded);
  EXPECT_TRUE(world.node("gpu-3").drained);
  EXPECT_EQ(world.group().deadline, no_time) << "a floor rolls nothing back";
  world.node("gpu-1").base = NodeBase::idle;
  world.node("gpu-1").not_responding = false;
  world.node("gpu-1").reason.clear();
  world.report("gpu-1", NodeStep::running);
  world.run_until_quiet();
  EXPECT_EQ(world.group().status, GroupStatus::in_service);
  EXPECT_FALSE(world.node("gpu-3").drained);
}

}  // namespace
}  // namespace muster::logic
