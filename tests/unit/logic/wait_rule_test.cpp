// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/wait_rule.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/fake_world.hpp"

namespace muster::logic {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using tests::FakeWorld;
using State = WaitOutcome::State;

WaitOutcome judge(FakeWorld& world, WaitFor what) {
  HeadState state;
  state.spec = world.wanted;
  state.ledger = world.ledger;
  return judge_wait(state, world.spec().name, what);
}

#define EXPECT_JUDGED(world, what, expected)                                              \
  do {                                                                                    \
    const WaitOutcome outcome = judge(world, what);                                       \
    EXPECT_EQ(wait_state_name(outcome.state), wait_state_name(expected)) << outcome.text; \
  } while (false)

void bring_up(FakeWorld& world, int count) {
  for (int index = 1; index <= count; ++index) world.bring_up("gpu-" + std::to_string(index));
}

TEST(WaitRule, AGroupIsInServiceWithItsMinCountAndAtItsTargetLater) {
  FakeWorld world(3, 2);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  EXPECT_JUDGED(world, WaitFor::in_service, State::waiting);
  world.bring_up("gpu-2");
  EXPECT_JUDGED(world, WaitFor::in_service, State::reached);
  EXPECT_JUDGED(world, WaitFor::target, State::waiting);
  world.bring_up("gpu-3");
  EXPECT_JUDGED(world, WaitFor::target, State::reached);
}

TEST(WaitRule, AGroupThatWasRolledBackIsNoSuccessThoughItIsInService) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  world.pass_time(hours{4});
  world.run_until_quiet();
  EXPECT_JUDGED(world, WaitFor::in_service, State::failed);
  EXPECT_JUDGED(world, WaitFor::target, State::failed);
  EXPECT_NE(judge(world, WaitFor::target).text.find("rolled back: 0 of 2 nodes ready"), std::string::npos);
}

TEST(WaitRule, ATargetThatWasRaisedAMomentAgoMayStillBeReached) {
  FakeWorld world(1, 0);
  world.run_until_quiet();
  bring_up(world, 1);
  ASSERT_TRUE(world.scale(5));
  EXPECT_JUDGED(world, WaitFor::target, State::waiting);
}

TEST(WaitRule, ALowerTargetIsReachedWhenTheMachinesOfTheOthersAreGone) {
  FakeWorld world(3, 0);
  world.run_until_quiet();
  bring_up(world, 3);
  world.node("gpu-3").base = NodeBase::allocated;
  ASSERT_TRUE(world.command(RemoveNodes{{NodeName{"gpu-3"}}}));
  world.run_until_quiet();
  EXPECT_JUDGED(world, WaitFor::target, State::waiting);
  world.node("gpu-3").base = NodeBase::idle;
  world.run_until_quiet();
  EXPECT_JUDGED(world, WaitFor::target, State::reached);
}

TEST(WaitRule, StoppedLaunchingIsNotWaitedOut) {
  FakeWorld world(1, 1);
  for (int attempt = 0; attempt < 3; ++attempt) {
    world.next_launch_fails = FailureClass::configuration;
    world.run_until_quiet();
    world.pass_time(minutes{40});
  }
  EXPECT_JUDGED(world, WaitFor::target, State::failed);
  EXPECT_NE(judge(world, WaitFor::target).text.find("launching is stopped"), std::string::npos);
}

TEST(WaitRule, MachinesThatAreThereAreWaitedForThoughLaunchingIsStopped) {
  FakeWorld world(2, 1);
  world.run_until_quiet();
  world.group().troubles[""].stopped = true;
  EXPECT_JUDGED(world, WaitFor::target, State::waiting);
}

TEST(WaitRule, ADeletionIsReachedWhenNothingIsLeftOrNeverWas) {
  FakeWorld world(1, 0);
  world.run_until_quiet();
  bring_up(world, 1);
  EXPECT_JUDGED(world, WaitFor::deleted, State::waiting);
  ASSERT_TRUE(world.command(DeleteGroup{world.spec().name}));
  EXPECT_JUDGED(world, WaitFor::in_service, State::failed);
  world.run_until_quiet();
  EXPECT_JUDGED(world, WaitFor::deleted, State::waiting);
  world.pass_time(hours{1});
  world.run_until_quiet();
  EXPECT_JUDGED(world, WaitFor::deleted, State::reached);
  EXPECT_JUDGED(world, WaitFor::target, State::failed);
  EXPECT_EQ(judge_wait(HeadState{}, GroupName{"other"}, WaitFor::deleted).state, State::reached);
}

}  // namespace
}  // namespace muster::logic
