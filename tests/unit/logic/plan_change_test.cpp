// SPDX-License-Identifier: GPL-2.0-or-later
//
// Groups that change: scaled, with nodes removed, replaced and rebooted, deleted; and what belongs to others meanwhile.
#include <gtest/gtest.h>

#include "tests/fakes/fake_world.hpp"

namespace muster::logic {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using tests::FakeWorld;

class Change : public ::testing::Test {
 protected:
  /// A group of so many nodes, all open.
  static FakeWorld open_world(int nodes) {
    FakeWorld world(nodes, 0);
    world.run_until_quiet();
    for (int number = 1; number <= nodes; ++number) {
      world.pass_time(seconds{1});
      world.bring_up("gpu-" + std::to_string(number));
    }
    return world;
  }
  static bool has_slot(FakeWorld& world, const std::string& name) {
    for (const SlotRecord& slot : world.group().slots) {
      if (slot.name.str() == name) return true;
    }
    return false;
  }
  static void run_job_on(FakeWorld& world, const std::string& name) { world.node(name).base = NodeBase::allocated; }
  static void end_job_on(FakeWorld& world, const std::string& name) { world.node(name).base = NodeBase::idle; }
};

TEST_F(Change, AnAppliedFileBeginsItsGroupsAndDecidesNothingElse) {
  FakeWorld world(2, 1);
  world.apply_file();
  EXPECT_EQ(world.group().deadline, world.now + hours{3});
  EXPECT_TRUE(world.group().slots.empty()) << "slots, records and launches are the passes' own";
  world.run_until_quiet();
  EXPECT_EQ(world.events_of_kind("GroupCreating"), 1);
  world.bring_up("gpu-1");
  const Ledger before = world.ledger;
  world.apply_file();
  EXPECT_TRUE(world.ledger == before) << "the same file again";
}

TEST_F(Change, TheNewestTargetWinsAndIncrementsAdd) {
  FakeWorld world = open_world(2);
  ASSERT_TRUE(world.scale(5));
  ASSERT_TRUE(world.scale(3));
  ASSERT_TRUE(world.command(AddNodes{world.spec().name, 2}));
  ASSERT_TRUE(world.command(AddNodes{world.spec().name, 1}));
  world.run_until_quiet();
  EXPECT_EQ(world.group().counts.target, 6);
  EXPECT_EQ(world.group().slots.size(), 6u);
}

TEST_F(Change, ScalingDownTakesTheNewestIdleNodeAndEndsItOnlyWhenItIsSeenClosed) {
  FakeWorld world = open_world(3);
  ASSERT_TRUE(world.scale(2));
  const Plan first = world.decide();
  EXPECT_EQ(world.count<TerminateMachine>(first), 0u) << "closed and read back first";
  ASSERT_EQ(world.count<DrainNodes>(first), 1u);
  world.act(first);
  world.run_until_quiet();
  EXPECT_EQ(world.machines().size(), 2u);
  EXPECT_EQ(world.node("gpu-3").base, NodeBase::future);
}

TEST_F(Change, ScalingDownTakesUnhealthyNodesBeforeIdleOnesAndBusyOnesLast) {
  FakeWorld world = open_world(4);
  run_job_on(world, "gpu-4");
  run_job_on(world, "gpu-3");
  world.node("gpu-1").not_responding = true;
  ASSERT_TRUE(world.scale(1));
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").wish, Wish::remove);
  EXPECT_EQ(world.slot("gpu-2").wish, Wish::remove);
  EXPECT_EQ(world.slot("gpu-4").wish, Wish::remove) << "of the busy ones the newest";
  EXPECT_EQ(world.slot("gpu-3").wish, Wish::keep);
}

TEST_F(Change, ABusyNodeIsEndedWhenItsJobIsOverOrItsTimeIs) {
  FakeWorld world = open_world(2);
  run_job_on(world, "gpu-1");
  run_job_on(world, "gpu-2");
  ASSERT_TRUE(world.scale(0));
  world.run_until_quiet();
  world.pass_time(hours{1});
  world.run_until_quiet();
  EXPECT_EQ(world.machines().size(), 2u);
  end_job_on(world, "gpu-1");
  world.run_until_quiet();
  EXPECT_EQ(world.machines().size(), 1u);
  world.pass_time(hours{23});
  world.run_until_quiet();
  EXPECT_TRUE(world.machines().empty());
  EXPECT_EQ(world.events_of_kind("DrainTimedOut"), 1);
}

TEST_F(Change, ScalingUpTakesBackNodesThatHaveNotGoneYet) {
  FakeWorld world = open_world(2);
  run_job_on(world, "gpu-2");
  run_job_on(world, "gpu-1");
  ASSERT_TRUE(world.scale(1));
  world.run_until_quiet();
  EXPECT_TRUE(world.node("gpu-2").drained);
  const int launches = world.launch_calls;
  ASSERT_TRUE(world.scale(2));
  world.run_until_quiet();
  EXPECT_FALSE(world.node("gpu-2").drained);
  EXPECT_EQ(world.launch_calls, launches);
}

TEST_F(Change, NodesAreRemovedByNameAndTheirNamesAreUsedAgain) {
  FakeWorld world = open_world(3);
  ASSERT_TRUE(world.command(RemoveNodes{{NodeName{"gpu-2"}}}));
  world.run_until_quiet();
  EXPECT_EQ(world.group().counts.target, 2);
  EXPECT_EQ(world.machines().size(), 2u);
  world.pass_time(minutes{11});
  world.run_until_quiet();
  EXPECT_FALSE(has_slot(world, "gpu-2"));
  ASSERT_TRUE(world.command(AddNodes{world.spec().name, 1}));
  world.run_until_quiet();
  EXPECT_TRUE(has_slot(world, "gpu-2"));
}

TEST_F(Change, RemovingBelowMinCountIsRefusedWithoutHalfOfItDone) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.bring_up("gpu-2");
  EXPECT_FALSE(world.command(RemoveNodes{{NodeName{"gpu-1"}}}));
  EXPECT_FALSE(world.command(RemoveNodes{{NodeName{"gpu-1"}, NodeName{"gpu-9"}}})) << "one of them is not there";
  EXPECT_EQ(world.slot("gpu-1").wish, Wish::keep);
  EXPECT_EQ(world.group().counts.target, 2);
}

TEST_F(Change, TheRecordOfADepartedNodeIsDeletedAfterAWhileAndNeverWhileSomebodyNamesIt) {
  FakeWorld world = open_world(2);
  SeenJob job;
  job.id = 7;
  job.state = "PENDING";
  job.required_nodes = {NodeName{"gpu-2"}};
  world.jobs = {job};
  ASSERT_TRUE(world.scale(1));
  world.run_until_quiet();
  EXPECT_EQ(world.nodes().count(NodeName{"gpu-2"}), 1u) << "kept for prune_after";
  world.pass_time(minutes{11});
  world.run_until_quiet();
  EXPECT_EQ(world.nodes().count(NodeName{"gpu-2"}), 1u) << "a job names it";
  world.jobs.clear();
  world.reservations = {{"upkeep", {NodeName{"gpu-2"}}, world.now, no_time}};
  world.run_until_quiet();
  EXPECT_EQ(world.nodes().count(NodeName{"gpu-2"}), 1u) << "a reservation names it";
  world.reservations.clear();
  world.run_until_quiet();
  EXPECT_EQ(world.nodes().count(NodeName{"gpu-2"}), 0u);
  EXPECT_FALSE(has_slot(world, "gpu-2"));
}

TEST_F(Change, WhatSomebodyElseDrainedOrReservedGoesOnlyByName) {
  FakeWorld world = open_world(3);
  world.node("gpu-3").drained = true;
  world.node("gpu-3").reason = "bad fan";
  world.reservations = {{"upkeep", {NodeName{"gpu-2"}}, world.now, no_time}};
  world.run_until_quiet();
  ASSERT_TRUE(world.scale(0));
  world.run_until_quiet();
  EXPECT_EQ(world.machines().size(), 2u);
  EXPECT_EQ(world.slot("gpu-3").wish, Wish::keep);
  ASSERT_TRUE(world.scale(3));
  ASSERT_TRUE(world.command(RemoveNodes{{NodeName{"gpu-3"}}}));
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-3").state, SlotState::waiting);
}

TEST_F(Change, ANodeThatSomebodyDrainsWhileItIsToGoForALowerTargetStaysAndAnotherOneGoes) {
  FakeWorld world = open_world(2);
  run_job_on(world, "gpu-1");
  run_job_on(world, "gpu-2");
  ASSERT_TRUE(world.scale(1));
  world.run_until_quiet();
  const std::string chosen = world.slot("gpu-1").wish == Wish::remove ? "gpu-1" : "gpu-2";
  const std::string other = chosen == "gpu-1" ? "gpu-2" : "gpu-1";
  world.node(chosen).reason = "broken fan";
  world.run_until_quiet();
  EXPECT_EQ(world.slot(chosen).wish, Wish::keep);
  EXPECT_EQ(world.slot(other).wish, Wish::remove);
  EXPECT_EQ(world.node(chosen).reason, "broken fan");
}

TEST_F(Change, ANodeThatSomebodyElseMadeKeepsItsNameAndTheNextNumberIsTaken) {
  FakeWorld world = open_world(2);
  SeenNode theirs;
  theirs.base = NodeBase::idle;
  theirs.slurmd_start_time = world.now;
  world.nodes()[NodeName{"gpu-3"}] = theirs;
  ASSERT_TRUE(world.scale(4));
  world.run_until_quiet();
  EXPECT_FALSE(has_slot(world, "gpu-3"));
  EXPECT_TRUE(has_slot(world, "gpu-5"));
  EXPECT_EQ(world.node("gpu-3").base, NodeBase::idle);
  EXPECT_FALSE(world.node("gpu-3").drained);
}

TEST_F(Change, ANodeThatTakesTheNameBeforeItsRecordIsMadeIsLeftAlone) {
  FakeWorld world(1, 0);
  Plan plan = world.decide();  // the slot and its record are decided
  plan.ledger.groups.begin()->second.slots[0].has_record = false;
  plan.actions.clear();
  world.act(plan);
  SeenNode theirs;
  theirs.base = NodeBase::idle;
  theirs.slurmd_start_time = world.now;
  world.nodes()[NodeName{"gpu-1"}] = theirs;
  world.run_until_quiet();
  EXPECT_EQ(world.node("gpu-1").base, NodeBase::idle);
  EXPECT_FALSE(world.node("gpu-1").drained);
  EXPECT_EQ(world.launch_calls, 0);
  EXPECT_EQ(world.events_of_kind("NameTaken"), 1);
}

TEST_F(Change, NobodyIsSentAwayWhileSlurmCannotBeRead) {
  FakeWorld world = open_world(3);
  world.reservations = {{"upkeep", {NodeName{"gpu-3"}}, world.now, no_time}};
  run_job_on(world, "gpu-2");
  world.slurm_is_away = true;
  ASSERT_TRUE(world.scale(2));
  world.run_until_quiet();
  for (const SlotRecord& slot : world.group().slots) EXPECT_EQ(slot.wish, Wish::keep) << slot.name.str();
  world.slurm_is_away = false;
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").wish, Wish::remove) << "the only one that is neither busy nor reserved";
}

TEST_F(Change, ReplacingWaitsForTheJobAndKeepsTheName) {
  FakeWorld world = open_world(1);
  const InstanceId before = world.slot("gpu-1").instance;
  run_job_on(world, "gpu-1");
  ASSERT_TRUE(world.command(ReplaceNodes{{NodeName{"gpu-1"}}}));
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").instance, before);
  end_job_on(world, "gpu-1");
  world.run_until_quiet();
  EXPECT_NE(world.slot("gpu-1").instance, before);
  EXPECT_EQ(world.terminated.count(before), 1u);
  world.bring_up("gpu-1");
  EXPECT_EQ(open_count(world.group()), 1);
}

TEST_F(Change, ReplacingWhatSomebodyDrainedEndsTheirDrainWithTheMachineAndRebootingKeepsIt) {
  FakeWorld world = open_world(2);
  for (const char* name : {"gpu-1", "gpu-2"}) {
    world.node(name).drained = true;
    world.node(name).reason = "bad fan";
  }
  world.run_until_quiet();
  ASSERT_TRUE(world.command(ReplaceNodes{{NodeName{"gpu-1"}}}));
  ASSERT_TRUE(world.command(RebootNodes{{NodeName{"gpu-2"}}}));
  world.run_until_quiet();
  world.boots_again("gpu-2");
  world.report("gpu-2", NodeStep::ready);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.bring_up("gpu-2");
  EXPECT_FALSE(world.node("gpu-1").drained);
  EXPECT_TRUE(world.node("gpu-2").drained);
  EXPECT_EQ(world.slot("gpu-2").foreign_reason, "bad fan");
  EXPECT_EQ(world.events_of_kind("NodeDrainLifted"), 0);
}

TEST_F(Change, RebootingKeepsTheMachineAndRegistersItAgain) {
  FakeWorld world = open_world(1);
  const InstanceId machine = world.slot("gpu-1").instance;
  ASSERT_TRUE(world.command(RebootNodes{{NodeName{"gpu-1"}}}));
  world.run_until_quiet();
  ASSERT_EQ(world.rebooted.size(), 1u);
  EXPECT_EQ(world.slot("gpu-1").state, SlotState::rebooting);
  world.boots_again("gpu-1");
  world.report("gpu-1", NodeStep::ready);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  EXPECT_EQ(world.slot("gpu-1").instance, machine);
  EXPECT_EQ(open_count(world.group()), 1);
  EXPECT_EQ(world.rebooted.size(), 1u);
}

TEST_F(Change, ARebootThatTheProviderRefusesLeavesTheNodeInService) {
  FakeWorld world = open_world(1);
  world.reboots_are_refused = true;
  ASSERT_TRUE(world.command(RebootNodes{{NodeName{"gpu-1"}}}));
  world.run_until_quiet();
  EXPECT_EQ(world.events_of_kind("RebootRefused"), 1);
  world.bring_up("gpu-1");
  EXPECT_EQ(open_count(world.group()), 1);
}

TEST_F(Change, AMachineThatDoesNotComeBackFromItsRebootIsReplaced) {
  FakeWorld world = open_world(1);
  const InstanceId machine = world.slot("gpu-1").instance;
  ASSERT_TRUE(world.command(RebootNodes{{NodeName{"gpu-1"}}}));
  world.run_until_quiet();
  world.pass_time(minutes{16});
  world.run_until_quiet();
  EXPECT_EQ(world.terminated.count(machine), 1u);
}

TEST_F(Change, AnActionReasonReplacesTheNodeAndAnUnknownOneIsRefusedAloudOnce) {
  FakeWorld world = open_world(2);
  const InstanceId before = world.slot("gpu-1").instance;
  world.node("gpu-1").drained = true;
  world.node("gpu-1").reason = "action: REPLACE.";
  world.node("gpu-2").drained = true;
  world.node("gpu-2").reason = "Action:Repaint";
  world.run_until_quiet();
  EXPECT_EQ(world.terminated.count(before), 1u);
  world.pass_time(minutes{1});
  world.run_until_quiet();
  EXPECT_EQ(world.events_of_kind("ActionNotUnderstood"), 1);
  EXPECT_TRUE(world.node("gpu-2").drained);
  EXPECT_EQ(world.slot("gpu-2").foreign_reason, "Action:Repaint");
}

TEST_F(Change, AnActionReasonOnADownNodeDoesNotWaitForAnything) {
  FakeWorld world = open_world(1);
  const InstanceId before = world.slot("gpu-1").instance;
  world.node("gpu-1").base = NodeBase::down;
  world.node("gpu-1").reason = "Action:Replace";
  world.run_until_quiet();
  EXPECT_EQ(world.terminated.count(before), 1u);
  world.bring_up("gpu-1");
  EXPECT_EQ(open_count(world.group()), 1);
}

TEST_F(Change, AnAdminsDownIsLeftAlone) {
  FakeWorld world = open_world(1);
  world.node("gpu-1").base = NodeBase::down;
  world.node("gpu-1").reason = "smells of smoke";
  world.run_until_quiet();
  EXPECT_EQ(world.node("gpu-1").base, NodeBase::down);
  EXPECT_EQ(ready_count(world.group()), 0);
  EXPECT_EQ(world.slot("gpu-1").foreign_reason, "smells of smoke");
}

TEST_F(Change, ARecordThatWasDamagedAndMendedHoldsUpNoLaunch) {
  FakeWorld world(1, 1);
  for (int i = 0; i < 10; ++i) {
    world.next_launch_fails = FailureClass::transient;
    world.run_until_quiet();
    world.pass_time(minutes{5});
  }
  world.next_launch_fails = FailureClass::transient;
  world.run_until_quiet();
  world.restart_slurmctld();
  world.run_until_quiet();
  world.pass_time(minutes{3});
  world.restart_slurmctld();
  world.run_until_quiet();
  EXPECT_FALSE(world.slot("gpu-1").instance.empty());
}

TEST_F(Change, AMendThatMusterdDiedOverIsDoneAgainSoon) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  world.report("gpu-1", NodeStep::ready);
  world.restart_slurmctld();
  world.commit(world.decide());  // written, and not done
  world.crash();
  world.pass_time(seconds{3});
  world.report("gpu-1", NodeStep::ready);
  world.run_until_quiet();
  EXPECT_EQ(world.node("gpu-1").gres, gres_text(world.spec().gres));
  EXPECT_EQ(world.slot("gpu-1").slurmd_start, 1);
}

TEST_F(Change, ADamagedRecordThatCannotBeDeletedAsksForNothingAgain) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  world.node("gpu-1").drained = true;
  world.node("gpu-1").reason = "Action:Replace";
  world.act(world.decide());
  ASSERT_EQ(world.terminated.size(), 1u);
  world.restart_slurmctld();
  world.commit(world.decide());  // a reservation names it, and Slurm refuses
  world.run_until_quiet();
  EXPECT_EQ(world.events_of_kind("ReplaceAsked"), 1);
}

TEST_F(Change, WhatSlurmAppendsToAnAdminsReasonIsNotTakenForAnother) {
  FakeWorld world = open_world(1);
  world.node("gpu-1").drained = true;
  world.node("gpu-1").reason = "broken fan";
  world.run_until_quiet();
  world.node("gpu-1").base = NodeBase::down;
  world.node("gpu-1").reason = "broken fan : Not responding";
  EXPECT_TRUE(world.decide().actions.empty());
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").foreign_reason, "broken fan");
  EXPECT_EQ(world.events_of_kind("NodeDrainedByOther"), 1);
}

TEST_F(Change, AnAdminsDownOutlivesThatItsNodeIsHidden) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  world.node("gpu-1").base = NodeBase::down;  // a record that waits for its machine, drained by us
  world.node("gpu-1").reason = "smells of smoke";
  world.run_until_quiet();
  ASSERT_EQ(world.node("gpu-1").base, NodeBase::future);
  EXPECT_TRUE(world.node("gpu-1").drained);
  EXPECT_EQ(world.node("gpu-1").reason, "smells of smoke");
}

TEST_F(Change, AnAdminsDrainThatIsPutBackOnAHiddenRecordSurvivesACrashBeforeItIs) {
  FakeWorld world = open_world(1);
  world.node("gpu-1").drained = true;
  world.node("gpu-1").reason = "broken fan";
  world.run_until_quiet();
  world.lose_records();
  world.act(world.decide());  // made again
  const Plan plan = world.decide();
  ASSERT_EQ(world.only<DrainNodes>(plan).reason, "broken fan");
  world.commit(plan);
  world.crash();  // before Slurm was told
  world.run_until_quiet();
  EXPECT_EQ(world.node("gpu-1").reason, "broken fan");
  EXPECT_TRUE(world.node("gpu-1").drained);
  EXPECT_EQ(world.slot("gpu-1").foreign_reason, "broken fan");
}

TEST_F(Change, AMachineThatIsRestartedBeforeItWasEverHeardIsKnownToBeBackByItsFirstReport) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  ASSERT_TRUE(world.command(RebootNodes{{NodeName{"gpu-1"}}}));
  world.run_until_quiet();
  ASSERT_EQ(world.rebooted.size(), 1u);
  world.report("gpu-1", NodeStep::checking);
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").state, SlotState::booting);
  EXPECT_EQ(world.slot("gpu-1").wish, Wish::keep);
}

TEST_F(Change, TheSameActionCanBeAskedForAgainByItsReason) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  for (int reboots = 1; reboots <= 2; ++reboots) {
    world.node("gpu-1").drained = true;
    world.node("gpu-1").reason = "Action:Reboot";
    world.run_until_quiet();
    EXPECT_EQ(world.rebooted.size(), static_cast<std::size_t>(reboots));
    world.boots_again("gpu-1");
    world.report("gpu-1", NodeStep::checking);
    world.run_until_quiet();
    EXPECT_EQ(world.node("gpu-1").reason, gathering_reason(world.spec().name));
  }
}

TEST_F(Change, ADrainOfOursThatSlurmctldBringsBackFromBeforeIsLiftedAgainAndANewOneWithItsWordsIsNot) {
  FakeWorld world = open_world(1);
  const std::string ours = gathering_reason(world.spec().name);
  world.run_until_quiet();
  world.node("gpu-1").drained = true;
  world.node("gpu-1").reason = ours;
  world.node("gpu-1").reason_time = world.now - minutes{1};
  world.run_until_quiet();
  EXPECT_FALSE(world.node("gpu-1").drained);
  EXPECT_EQ(world.events_of_kind("NodeDrainedByOther"), 0);
  world.pass_time(minutes{5});
  world.node("gpu-1").drained = true;
  world.node("gpu-1").reason = ours;
  world.node("gpu-1").reason_time = world.now;
  world.run_until_quiet();
  EXPECT_TRUE(world.node("gpu-1").drained) << "somebody drained it, whatever the words";
}

TEST_F(Change, AnOlderTextOfOursOnANodeThatWasNotOpenedYetIsOurs) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  ASSERT_TRUE(world.command(ReplaceNodes{{NodeName{"gpu-1"}}}));
  world.run_until_quiet();
  // slurmctld was killed and has forgotten the last moments.
  world.node("gpu-1").reason = "muster: to be replaced (asked for by uid 0)";
  world.node("gpu-1").reason_time = world.now - seconds{1};
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").foreign_reason, "");
  world.pass_time(seconds{5});
  world.node("gpu-1").reason = "muster: keep off, says its admin";
  world.node("gpu-1").reason_time = world.now;
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").foreign_reason, "muster: keep off, says its admin") << "whose it is no prefix tells";
}

TEST_F(Change, AnAdminsReasonThatBeginsLikeOneOfSlurmsIsTheirs) {
  for (const char* reason : {"Not responding to IPMI, ticket 4711", "Low CPUs: BIOS flaw, vendor on site",
                             "Low CPUs, vendor on site", "gres/gpu count reported lower than configured (7 < 8), RMA",
                             "Low RealMemory (reported:1 < 2) and a bad fan"}) {
    FakeWorld world = open_world(1);
    world.node("gpu-1").drained = true;
    world.node("gpu-1").reason = reason;
    world.run_until_quiet();
    EXPECT_TRUE(world.node("gpu-1").drained) << reason;
    EXPECT_EQ(world.slot("gpu-1").foreign_reason, reason);
  }
  EXPECT_TRUE(is_slurm_fault("Low CPUs"));
  EXPECT_TRUE(is_slurm_fault("Low socket*core*thread count, Low CPUs"));
  EXPECT_TRUE(is_slurm_fault("Low RealMemory (reported:900 < 100.00% of configured:1000)"));
  EXPECT_TRUE(is_slurm_fault("gres/gpu count reported lower than configured (0 < 4)"));
  EXPECT_FALSE(is_slurm_fault(""));
}

TEST_F(Change, ANodeThatSomebodyDrainsOrReservesAfterItWasChosenIsNotEndedButAnotherOne) {
  FakeWorld world = open_world(3);
  for (const char* name : {"gpu-1", "gpu-2", "gpu-3"}) run_job_on(world, name);
  ASSERT_TRUE(world.scale(1));
  world.run_until_quiet();
  ASSERT_EQ(world.slot("gpu-3").wish, Wish::remove);
  ASSERT_EQ(world.slot("gpu-2").wish, Wish::remove);
  world.node("gpu-3").reason = "RMA evidence";
  world.reservations = {{"upkeep", {NodeName{"gpu-2"}}, world.now, no_time}};
  for (const char* name : {"gpu-1", "gpu-2", "gpu-3"}) end_job_on(world, name);
  world.run_until_quiet();
  EXPECT_EQ(world.machines().size(), 2u) << "both stay, and the third one goes";
  EXPECT_EQ(world.slot("gpu-3").wish, Wish::keep);
  EXPECT_TRUE(world.node("gpu-3").drained);
  EXPECT_EQ(world.events_of_kind("RemovalTakenBack"), 2);
}

TEST_F(Change, ANodeThatIsTakenBackWhileItRegistersAgainGetsItsTimeAnewAndIsNotEndedUnderItsJobs) {
  FakeWorld world = open_world(2);
  run_job_on(world, "gpu-2");
  run_job_on(world, "gpu-1");
  ASSERT_TRUE(world.scale(1));
  world.run_until_quiet();
  ASSERT_EQ(world.slot("gpu-2").wish, Wish::remove);
  world.boots_again("gpu-2");
  world.report("gpu-2", NodeStep::checking);
  world.run_until_quiet();
  ASSERT_EQ(world.slot("gpu-2").state, SlotState::booting);
  world.pass_time(hours{1});
  ASSERT_TRUE(world.scale(2));
  world.run_until_quiet();
  world.pass_time(minutes{1});
  world.run_until_quiet();
  EXPECT_TRUE(world.terminated.empty()) << "it was not waited for meanwhile";
  world.pass_time(hours{1});
  world.run_until_quiet();
  EXPECT_TRUE(world.terminated.empty()) << "its jobs come first";
  end_job_on(world, "gpu-2");
  world.run_until_quiet();
  EXPECT_EQ(world.terminated.size(), 1u);
}

TEST_F(Change, AMachineThatSomebodyDrainedWhileItRebootsIsLeftAlone) {
  FakeWorld world = open_world(1);
  ASSERT_TRUE(world.command(RebootNodes{{NodeName{"gpu-1"}}}));
  world.run_until_quiet();
  world.node("gpu-1").drained = true;
  world.node("gpu-1").reason = "I am looking at it";
  world.run_until_quiet();
  world.pass_time(hours{1});
  world.run_until_quiet();
  EXPECT_TRUE(world.terminated.empty());
  EXPECT_EQ(world.rebooted.size(), 1u);
}

TEST_F(Change, AnAdminsDrainOverOursOutlivesThatSlurmHidesTheNode) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.node("gpu-1").reason = "bad fan";
  world.run_until_quiet();
  ASSERT_EQ(world.slot("gpu-1").foreign_reason, "bad fan");
  // Its slurmd says good-bye, and slurmctld hides a dynamic node then, without its drain.
  world.node("gpu-1").base = NodeBase::future;
  world.node("gpu-1").drained = false;
  world.node("gpu-1").reason.clear();
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").foreign_reason, "bad fan");
  EXPECT_EQ(world.node("gpu-1").reason, "bad fan");
  EXPECT_EQ(world.events_of_kind("NodeDrainLifted"), 0);
}

TEST_F(Change, AReplacementThatIsAskedForWhileTheNodeRebootsIsNotForgotten) {
  FakeWorld world = open_world(1);
  const InstanceId machine = world.slot("gpu-1").instance;
  ASSERT_TRUE(world.command(RebootNodes{{NodeName{"gpu-1"}}}));
  world.run_until_quiet();
  ASSERT_TRUE(world.command(ReplaceNodes{{NodeName{"gpu-1"}}}));
  world.boots_again("gpu-1");
  world.report("gpu-1", NodeStep::ready);
  world.run_until_quiet();
  EXPECT_EQ(world.terminated.count(machine), 1u);
}

TEST_F(Change, AReplacementThatAReasonAsksForCountsMoreThanTheRebootBefore) {
  FakeWorld world = open_world(1);
  run_job_on(world, "gpu-1");
  world.node("gpu-1").drained = true;
  world.node("gpu-1").reason = "Action:Reboot";
  world.run_until_quiet();
  world.node("gpu-1").reason = "Action:Replace";
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").wish, Wish::replace);
  EXPECT_EQ(world.events_of_kind("ReplaceAsked"), 1);
}

TEST_F(Change, ANodeAboveTheTargetIsRemovedByNameWithoutLoweringIt) {
  FakeWorld world = open_world(2);
  for (const char* name : {"gpu-1", "gpu-2"}) {
    world.node(name).drained = true;
    world.node(name).reason = "bad fan";
  }
  world.run_until_quiet();
  ASSERT_TRUE(world.scale(1));
  world.run_until_quiet();
  ASSERT_EQ(world.machines().size(), 2u) << "neither goes without being named";
  ASSERT_TRUE(world.command(RemoveNodes{{NodeName{"gpu-2"}}}));
  world.run_until_quiet();
  EXPECT_EQ(world.group().counts.target, 1);
  EXPECT_EQ(world.machines().size(), 1u);
}

TEST_F(Change, AnOrphanThatCannotBeEndedIsToldOnceAndTriedEverMoreSeldom) {
  FakeWorld world = open_world(1);
  const LaunchToken old{"lab.gpu-1." + std::to_string(to_milliseconds(world.now))};
  world.provider_has(old, "i-stays");
  int tries = 0;
  for (int list = 0; list < 60; ++list) {
    world.pass_time(seconds{10});
    world.list_machines();
    const Plan plan = world.decide();
    world.commit(plan);
    if (world.count<TerminateMachine>(plan) == 0) continue;
    ++tries;
    world.provider_refuses_to_end("i-stays");
    world.commit(world.decide());
  }
  EXPECT_GE(tries, 2);
  EXPECT_LE(tries, 20) << "of 60 lists in ten minutes";
  EXPECT_EQ(world.events_of_kind("OrphanEnded"), 1);
  EXPECT_EQ(world.events_of_kind("OrphanNotEnded"), 1);
}

TEST_F(Change, AMachineWhoseCheckStaysBadIsNotTriedForEver) {
  FakeWorld world(1, 0);
  world.run_until_quiet();
  for (int round = 0; round < 24; ++round) {
    if (!world.machines().empty())
      world.report("gpu-1", NodeStep::checking, "", {{"memory", false, "24 GiB, wanted are 900 GiB"}});
    world.run_until_quiet();
    world.pass_time(hours{1});
    world.run_until_quiet();
  }
  EXPECT_LE(world.launch_calls, 7);
  EXPECT_TRUE(world.machines().empty());
  EXPECT_TRUE(world.slot("gpu-1").given_up);
  EXPECT_EQ(world.slot("gpu-1").last_failure, FailureClass::unhealthy);
}

TEST_F(Change, AChangedDeadlineMovesTheOneOfAWaitThatIsUnderWay) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  const Time before = world.group().deadline;
  const ClusterSpec old_file = world.wanted;
  world.pass_time(minutes{10});
  world.spec().deadline += hours{2};
  world.apply_file(&old_file);
  EXPECT_EQ(world.group().deadline, before + hours{2});
}

TEST_F(Change, AFloorThatAnOperatorOpenedCountsAgainWhenItHasBeenReached) {
  FakeWorld world(2, 2);
  world.spec().gate = GatePolicy::floor;
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.bring_up("gpu-2");
  world.node("gpu-2").base = NodeBase::down;
  world.run_until_quiet();
  ASSERT_TRUE(world.node("gpu-1").drained);
  ASSERT_TRUE(world.open_group());
  world.run_until_quiet();
  EXPECT_FALSE(world.node("gpu-1").drained);
  world.node("gpu-2").base = NodeBase::idle;
  world.run_until_quiet();
  world.node("gpu-2").base = NodeBase::down;
  world.run_until_quiet();
  EXPECT_TRUE(world.node("gpu-1").drained);
}

TEST_F(Change, ADeletedGroupEndsItsMachinesAndRecordsAndStaysGone) {
  FakeWorld world = open_world(2);
  ASSERT_TRUE(world.command(DeleteGroup{world.spec().name}));
  world.run_until_quiet();
  EXPECT_EQ(world.group().status, GroupStatus::deleting);
  world.pass_time(minutes{11});
  world.run_until_quiet();
  EXPECT_TRUE(world.group().deleted);
  EXPECT_TRUE(world.nodes().empty());
  EXPECT_TRUE(world.machines().empty());
  world.pass_time(hours{1});
  world.run_until_quiet();
  EXPECT_TRUE(world.nodes().empty());
  EXPECT_FALSE(world.scale(1)) << "there is no such group any more";
  world.apply_file();
  world.run_until_quiet();
  EXPECT_EQ(world.group().slots.size(), 2u) << "a file that names it makes it anew";
}

TEST_F(Change, ALaunchThatIsUnderWayWhenItsSlotIsRemovedLeavesNoMachineBehind) {
  FakeWorld world(1, 0);
  world.hold_provider_calls = true;
  world.run_until_quiet();
  const LaunchToken token = world.slot("gpu-1").token;
  ASSERT_TRUE(world.scale(0));
  world.run_until_quiet();
  world.provider_has(token, "i-late");
  world.crash();
  world.run_until_quiet();
  world.pass_time(minutes{1});
  world.list_machines();
  world.run_until_quiet();
  EXPECT_TRUE(world.machines().empty());
}

// ---- Launching ----

TEST_F(Change, TriesTheNextInstanceTypeWhenOneHasNoCapacityAndTheFirstAgainOnANewRequest) {
  FakeWorld world(4, 0);
  world.spec().instance_types = {"big", "small"};
  world.types_without_capacity = {"big"};
  world.run_until_quiet();
  for (const SlotRecord& slot : world.group().slots) EXPECT_EQ(slot.instance_type, "small") << slot.name.str();
  EXPECT_EQ(world.group().troubles.count("big"), 1u);
  world.types_without_capacity.clear();
  ASSERT_TRUE(world.scale(8));
  world.commit(world.decide());
  EXPECT_EQ(world.group().troubles.count("big"), 0u) << "a new request forgets the back-off";
}

TEST_F(Change, AShortageIsMetByOneProbeHoweverManySlotsWait) {
  FakeWorld world(20, 0);
  world.spec().instance_types = {"big"};
  world.types_without_capacity = {"big"};
  world.run_until_quiet();
  const int first = world.launch_calls;
  EXPECT_LE(first, 8);
  world.pass_time(seconds{3});
  world.run_until_quiet();
  EXPECT_EQ(world.launch_calls, first + 1);
  world.types_without_capacity.clear();
  world.pass_time(seconds{10});
  world.run_until_quiet();
  EXPECT_TRUE(world.group().troubles.empty());
  for (const SlotRecord& slot : world.group().slots) EXPECT_EQ(slot.state, SlotState::booting);
}

TEST_F(Change, AConfigurationFaultStopsAfterThreeTriesAndGoesOnWhenAskedTo) {
  FakeWorld world(1, 0);
  for (int attempt = 0; attempt < 6; ++attempt) {
    world.next_launch_fails = FailureClass::configuration;
    world.run_until_quiet();
    world.pass_time(hours{2});
  }
  EXPECT_EQ(world.launch_calls, 3);
  EXPECT_EQ(world.events_of_kind("LaunchingStopped"), 1);
  EXPECT_EQ(world.group().status, GroupStatus::failed);
  world.next_launch_fails = FailureClass::none;
  ASSERT_TRUE(world.command(RetryNow{}));
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").state, SlotState::booting);
  EXPECT_EQ(world.group().status, GroupStatus::in_service);
}

TEST_F(Change, ANodeThatNeverRegistersIsNotReplacedForEver) {
  FakeWorld world(1, 0);
  for (int attempt = 0; attempt < 20; ++attempt) {
    world.run_until_quiet();
    if (!world.slot("gpu-1").instance.empty()) world.report("gpu-1", NodeStep::ready);
    world.run_until_quiet();
    world.pass_time(minutes{30});
  }
  EXPECT_LE(world.launch_calls, 5);
  EXPECT_TRUE(world.slot("gpu-1").given_up);
  EXPECT_EQ(world.group().status, GroupStatus::degraded);
  ASSERT_TRUE(world.command(ReplaceNodes{{NodeName{"gpu-1"}}}));
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").state, SlotState::booting);
}

TEST_F(Change, AProviderThatIsNotIdempotentIsNotAskedAgainButItsListIsWaitedFor) {
  FakeWorld world(1, 0);
  world.wanted.providers.begin()->second.idempotent_launch = false;
  world.wanted.providers.begin()->second.list_lag = minutes{2};
  world.next_launch_is_unanswered = true;
  world.run_until_quiet();
  EXPECT_EQ(world.launch_calls, 1);
  world.pass_time(minutes{1});
  world.list_machines();
  world.run_until_quiet();
  EXPECT_EQ(world.launch_calls, 1) << "the list may lag";
  world.pass_time(minutes{2});
  world.list_machines();
  world.run_until_quiet();
  world.pass_time(seconds{10});
  world.run_until_quiet();
  EXPECT_EQ(world.launch_calls, 2);
  EXPECT_EQ(world.launches_by_token.size(), 2u) << "with a token of its own";
}

TEST_F(Change, AnUnansweredLaunchWhoseMachineTheListShowsIsTakenBack) {
  FakeWorld world(1, 0);
  world.wanted.providers.begin()->second.idempotent_launch = false;
  world.next_launch_is_unanswered = true;
  world.run_until_quiet();
  world.provider_has(world.slot("gpu-1").token, "i-late");
  world.list_machines();
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").instance, InstanceId{"i-late"});
  EXPECT_EQ(world.launch_calls, 1);
}

TEST_F(Change, ANameThatIsUsedAgainGetsATokenThatWasNeverUsed) {
  FakeWorld world = open_world(1);
  const LaunchToken before = world.slot("gpu-1").token;
  ASSERT_TRUE(world.scale(0));
  world.run_until_quiet();
  world.pass_time(minutes{11});
  world.run_until_quiet();
  ASSERT_FALSE(has_slot(world, "gpu-1"));
  ASSERT_TRUE(world.scale(1));
  world.run_until_quiet();
  EXPECT_NE(world.slot("gpu-1").token, before);
}

TEST_F(Change, AMachineOfAnotherLifeOfTheGroupIsLeftAlone) {
  FakeWorld world = open_world(1);
  world.provider_has(LaunchToken{"lab.gpu-1.1000"}, "i-old");
  world.provider_has(LaunchToken{"other.gpu-1.9999999999999"}, "i-other");
  for (int list = 0; list < 3; ++list) {
    world.pass_time(seconds{30});
    world.list_machines();
    world.run_until_quiet();
  }
  EXPECT_TRUE(world.terminated.empty());
}

TEST_F(Change, OneBadMachineDoesNotHoldUpTheOthers) {
  FakeWorld world(12, 0);
  world.spec().boot_timeout = minutes{1};
  world.run_until_quiet();
  world.pass_time(minutes{2});
  world.bring_up("gpu-2");
  EXPECT_GE(world.launch_calls, 12);
}

TEST_F(Change, ANodeIsNotGivenUpWhileSlurmCannotBeRead) {
  FakeWorld world(1, 0);
  world.run_until_quiet();
  world.report("gpu-1", NodeStep::ready);
  world.run_until_quiet();
  ASSERT_EQ(world.slot("gpu-1").state, SlotState::registering);
  world.slurm_is_away = true;
  for (int minute = 0; minute < 30; ++minute) {
    world.pass_time(minutes{1});
    world.run_until_quiet();
  }
  EXPECT_EQ(world.slot("gpu-1").state, SlotState::registering);
  EXPECT_TRUE(world.terminated.empty());
}

TEST_F(Change, AMachineThatPassedItsChecksWaitsForSlurmctldHoweverLongItIsAway) {
  FakeWorld world(1, 0);
  world.run_until_quiet();
  world.slurm_is_away = true;
  world.report("gpu-1", NodeStep::ready);
  for (Duration away{0}; away < 2 * world.spec().boot_timeout; away += minutes{1}) {
    world.pass_time(minutes{1});
    world.run_until_quiet();
  }
  world.slurm_is_away = false;
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").state, SlotState::registering);
  EXPECT_TRUE(world.terminated.empty());
}

TEST_F(Change, ADeadlineThatPassesWhileMusterdIsAwayEndsNoMachineThatCouldNotBeHeard) {
  FakeWorld world(2, 0);
  world.run_until_quiet();
  world.report("gpu-2", NodeStep::ready);
  world.run_until_quiet();
  ASSERT_EQ(world.slot("gpu-1").state, SlotState::booting);
  ASSERT_EQ(world.slot("gpu-2").state, SlotState::registering);
  world.pass_time(world.spec().boot_timeout + minutes{10});
  world.crash();
  world.run_until_quiet();
  world.pass_time(seconds{59});
  world.run_until_quiet();
  EXPECT_TRUE(world.terminated.empty());
  EXPECT_EQ(world.decide().next_deadline, world.now + seconds{1});
  world.pass_time(seconds{1});
  world.run_until_quiet();
  EXPECT_EQ(world.terminated.size(), 2u);
}

// ---- registration: slurm_conf ----

FakeWorld listed_world(int nodes, int minimum) {
  FakeWorld world(nodes, minimum);
  world.spec().registration = Registration::slurm_conf;
  for (int number = 1; number <= nodes; ++number)
    world.spec().node_addresses.push_back("10.1.0." + std::to_string(number));
  return world;
}

TEST_F(Change, ListedNodesAreWrittenThenReadThenDrainedAndOnlyThenLaunched) {
  FakeWorld world = listed_world(3, 2);
  const Plan first = world.decide();
  ASSERT_EQ(world.count<WriteNodeFile>(first), 1u);
  EXPECT_EQ(world.count<CreateRecords>(first), 0u);
  world.act(first);
  EXPECT_NE(world.node_file.find("NodeName=gpu-2 NodeAddr=10.1.0.2 CPUs=2"), std::string::npos) << world.node_file;
  EXPECT_NE(world.node_file.find(" State=UNKNOWN\n"), std::string::npos);
  const Plan second = world.decide();
  ASSERT_EQ(world.count<ReconfigureSlurm>(second), 1u);
  EXPECT_EQ(world.count<LaunchMachine>(second), 0u);
  world.act(second);
  const Plan third = world.decide();
  ASSERT_EQ(world.count<DrainNodes>(third), 1u);
  EXPECT_EQ(world.count<LaunchMachine>(third), 0u);
  world.act(third);
  EXPECT_EQ(world.count<LaunchMachine>(world.decide()), 3u);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  EXPECT_TRUE(world.node("gpu-1").drained);
  world.bring_up("gpu-3");
  EXPECT_FALSE(world.node("gpu-1").drained);
  EXPECT_EQ(world.reconfigures, 1) << "an arrival reconfigures nothing";
}

TEST_F(Change, AListedNodeThatDepartsLosesItsLineAfterAWhile) {
  FakeWorld world = listed_world(2, 0);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.bring_up("gpu-2");
  ASSERT_TRUE(world.scale(1));
  world.run_until_quiet();
  EXPECT_NE(world.node_file.find("gpu-2"), std::string::npos);
  world.pass_time(minutes{11});
  world.run_until_quiet();
  EXPECT_EQ(world.node_file.find("gpu-2"), std::string::npos);
  EXPECT_FALSE(has_slot(world, "gpu-2"));
}

TEST_F(Change, WhereReconfigureIsNotEnoughTheOperatorIsToldOnceToRestartSlurmctld) {
  FakeWorld world = listed_world(2, 0);
  world.slurm_rereads_nodes = false;
  world.run_until_quiet();
  world.pass_time(minutes{5});
  world.run_until_quiet();
  EXPECT_EQ(world.reconfigures, 0);
  EXPECT_EQ(world.events_of_kind("RestartNeeded"), 1);
  EXPECT_NE(world.ledger.cluster.node_file_needs.find("restart slurmctld, so that it takes in the lines of gpu-[1-2]"),
            std::string::npos)
      << world.ledger.cluster.node_file_needs;
  EXPECT_EQ(world.launch_calls, 0);
  world.read_node_file();
  world.run_until_quiet();
  EXPECT_EQ(world.launch_calls, 2);
  EXPECT_TRUE(world.ledger.cluster.node_file_needs.empty());
}

TEST_F(Change, AfterTheRestartOfSlurmctldEachSlurmdGetsTheNewLinesToo) {
  FakeWorld world = listed_world(2, 0);
  world.slurm_rereads_nodes = false;
  world.run_until_quiet();
  world.read_node_file();
  const Plan plan = world.decide();
  EXPECT_EQ(world.count<ReconfigureSlurm>(plan), 1u);
  world.commit(plan);  // and musterd is killed before it acts
  world.crash();
  world.pass_time(minutes{1});
  world.run_until_quiet();
  EXPECT_EQ(world.reconfigures, 1);
  world.pass_time(minutes{10});
  world.run_until_quiet();
  EXPECT_EQ(world.reconfigures, 1);
}

TEST_F(Change, AnotherAddressOfAListedNodeIsReadBySlurmBeforeItsMachineIsLaunched) {
  FakeWorld world = listed_world(1, 0);
  world.next_launch_fails = FailureClass::capacity;
  world.run_until_quiet();
  world.spec().node_addresses.front() = "10.1.0.9";
  world.pass_time(minutes{1});
  world.nodes().erase(NodeName{"gpu-1"});
  world.run_until_quiet();
  EXPECT_EQ(world.node("gpu-1").address, "10.1.0.9");
  EXPECT_EQ(world.reconfigures, 2);
}

TEST_F(Change, ASlurmctldThatDoesNotReadTheFileIsToldSeldomAndTheOperatorWhy) {
  FakeWorld world = listed_world(1, 0);
  world.reconfigures_are_in_vain = true;
  for (int tens_of_seconds = 0; tens_of_seconds < 30; ++tens_of_seconds) {
    world.run_until_quiet();
    world.pass_time(std::chrono::seconds{10});
  }
  EXPECT_EQ(world.reconfigures, 2);
  EXPECT_EQ(world.events_of_kind("ReconfigureInVain"), 1);
  world.reconfigures_are_in_vain = false;
  world.pass_time(minutes{1});
  world.run_until_quiet();
  EXPECT_EQ(world.launch_calls, 1);
  EXPECT_EQ(world.ledger.cluster.node_file_needs, "");
}

TEST_F(Change, AFileThatSlurmConfDoesNotIncludeIsWrittenAndTheOperatorIsToldTheLine) {
  FakeWorld world = listed_world(1, 0);
  world.node_file_around.is_included = false;
  world.run_until_quiet();
  EXPECT_NE(world.node_file.find("NodeName=gpu-1 "), std::string::npos);
  EXPECT_EQ(world.reconfigures, 0);
  EXPECT_NE(
      world.ledger.cluster.node_file_needs.find("add the line \"Include muster-nodes.conf\" to /etc/slurm/slurm.conf"),
      std::string::npos)
      << world.ledger.cluster.node_file_needs;
  world.node_file_around.is_included = true;
  world.run_until_quiet();
  EXPECT_EQ(world.launch_calls, 1);
}

TEST_F(Change, LinesWithWhichSlurmctldWouldNotStartAreNotPutInPlace) {
  FakeWorld world = listed_world(2, 0);
  world.node_file_around.others = {NodeName{"login"}, NodeName{"gpu-2"}};
  world.run_until_quiet();
  EXPECT_EQ(world.node_file, "");
  EXPECT_NE(world.ledger.cluster.node_file_needs.find("found gpu-2"), std::string::npos);
  world.node_file_around.others = {NodeName{"login"}};
  world.node_file_around.max_nodes = 2;
  world.run_until_quiet();
  EXPECT_EQ(world.node_file, "");
  EXPECT_NE(world.ledger.cluster.node_file_needs.find("expected MaxNodeCount to be 3 or more"), std::string::npos);
  EXPECT_EQ(world.events_of_kind("NodeFileTrouble"), 2);
  world.node_file_around.max_nodes = 3;
  world.run_until_quiet();
  EXPECT_EQ(world.launch_calls, 2);
}

TEST_F(Change, ANodeFileOfSomebodyElseIsLeftAloneAndTheOperatorIsTold) {
  FakeWorld world = listed_world(1, 0);
  world.node_file = "# mine\n";
  world.node_file_around.trouble = "it is somebody else's";
  world.run_until_quiet();
  EXPECT_EQ(world.node_file, "# mine\n");
  EXPECT_EQ(world.ledger.cluster.node_file_needs, "it is somebody else's");
  EXPECT_EQ(world.launch_calls, 0);
}

TEST_F(Change, ATargetBeyondTheAddressesOfAListedGroupIsRefused) {
  FakeWorld world = listed_world(2, 0);
  world.run_until_quiet();
  EXPECT_FALSE(world.scale(3));
  EXPECT_FALSE(world.command(AddNodes{world.spec().name, 1}));
  EXPECT_TRUE(world.scale(1));
}

// ---- Order ----

GroupSpec group_of(NodeType type, const std::string& name) {
  GroupSpec group;
  group.name = GroupName{name};
  group.node_type = type;
  group.target_count = 1;
  group.min_count = 1;
  group.provider = "fake";
  group.node_prefix = name + "-";
  group.settle_time = Duration{0};
  return group;
}

TEST_F(Change, ControllersComeFirstAndThenAllOthersAtOnce) {
  FakeWorld world(2, 0);
  world.wanted.groups.push_back(group_of(NodeType::login, "door"));
  world.wanted.groups.push_back(group_of(NodeType::controller, "ctl"));
  world.run_until_quiet();
  EXPECT_EQ(world.slot("ctl-1").state, SlotState::booting);
  EXPECT_EQ(world.slot("gpu-1").state, SlotState::waiting);
  EXPECT_EQ(world.slot("door-1").state, SlotState::waiting);
  EXPECT_EQ(world.ledger.cluster.in_service_at, no_time);
  world.report("ctl-1", NodeStep::ready);
  world.run_until_quiet();
  EXPECT_EQ(world.slot("ctl-1").state, SlotState::in_service);
  EXPECT_EQ(world.nodes().count(NodeName{"ctl-1"}), 0u) << "it is no node of Slurm";
  EXPECT_EQ(world.slot("gpu-1").state, SlotState::booting);
  EXPECT_EQ(world.slot("door-1").state, SlotState::booting);
  EXPECT_EQ(world.ledger.cluster.in_service_at, no_time) << "a login node is waited for";
  world.report("door-1", NodeStep::ready);
  world.run_until_quiet();
  EXPECT_NE(world.ledger.cluster.in_service_at, no_time) << "workers are not";
  EXPECT_EQ(world.events_of_kind("ClusterInService"), 1);
}

TEST_F(Change, AControllerGroupThatComesLaterStopsNothingInAClusterThatWasInService) {
  FakeWorld world = open_world(1);
  world.wanted.groups.push_back(group_of(NodeType::controller, "ctl"));
  world.hold_provider_calls = true;
  world.run_until_quiet();
  ASSERT_TRUE(world.scale(2));
  const int launches = world.launch_calls;
  world.run_until_quiet();
  EXPECT_EQ(world.launch_calls, launches + 1);
}

TEST_F(Change, AControllerGroupThatIsDeletedIsNotWaitedFor) {
  FakeWorld world(1, 0);
  world.wanted.groups.push_back(group_of(NodeType::controller, "ctl"));
  world.next_launch_fails = FailureClass::capacity;
  world.run_until_quiet();
  ASSERT_EQ(world.slot("gpu-1").state, SlotState::waiting);
  ASSERT_TRUE(world.command(DeleteGroup{GroupName{"ctl"}}));
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").state, SlotState::booting);
}

TEST_F(Change, WithoutAControllerGroupTheClusterIsInServiceAtOnce) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  EXPECT_NE(world.ledger.cluster.in_service_at, no_time);
}

TEST_F(Change, AClusterWhoseControllersCannotBeHadFailsAndSaysWhy) {
  FakeWorld world(2, 0);
  world.wanted.groups.push_back(group_of(NodeType::controller, "ctl"));
  world.wanted.groups.back().instance_types = {"big"};
  world.types_without_capacity = {"big"};
  world.run_until_quiet();
  world.pass_time(hours{3});
  world.run_until_quiet();
  EXPECT_NE(world.ledger.cluster.failure.find("controller group ctl"), std::string::npos);
  EXPECT_EQ(world.slot("gpu-1").state, SlotState::waiting);
}

}  // namespace
}  // namespace muster::logic
