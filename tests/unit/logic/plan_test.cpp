// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/plan.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/fake_world.hpp"

namespace muster::logic {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using tests::FakeWorld;

TEST(Plan, MakesAllRecordsOfAGroupInOneCallAndDrainsThemInASecond) {
  FakeWorld world(6, 4);
  const Plan first = world.decide();
  ASSERT_EQ(world.count<CreateRecords>(first), 1u);
  EXPECT_EQ(world.only<CreateRecords>(first).names.size(), 6u);
  EXPECT_EQ(world.count<DrainNodes>(first), 0u);
  world.act(first);
  const Plan second = world.decide();
  ASSERT_EQ(world.count<DrainNodes>(second), 1u);
  EXPECT_EQ(world.only<DrainNodes>(second).names.size(), 6u);
  EXPECT_EQ(world.count<CreateRecords>(second), 0u);
}

TEST(Plan, LaunchesNoMachineBeforeItsSlotIsReadBackAsFutureAndDrained) {
  FakeWorld world(2, 1);
  Plan plan = world.decide();
  EXPECT_EQ(world.count<LaunchMachine>(plan), 0u);
  world.act(plan);
  plan = world.decide();  // FUTURE, not drained yet
  EXPECT_EQ(world.count<LaunchMachine>(plan), 0u);
  world.act(plan);
  plan = world.decide();
  EXPECT_EQ(world.count<LaunchMachine>(plan), 2u);
}

TEST(Plan, DoesNothingToSlurmWhileItCannotBeRead) {
  FakeWorld world(3, 2);
  world.run_until_quiet();
  world.slurm_is_away = true;
  world.pass_time(minutes{1});
  EXPECT_TRUE(world.decide().actions.empty());
}

TEST(Plan, BeginsNoLaunchTwiceWhileItIsInFlight) {
  FakeWorld world(1, 1);
  world.hold_provider_calls = true;
  world.run_until_quiet();
  EXPECT_EQ(world.launch_calls, 1);
  world.pass_time(minutes{5});
  world.run_until_quiet();
  EXPECT_EQ(world.launch_calls, 1);
}

TEST(Plan, AsksAgainWithTheSameTokenAfterACrashBetweenLaunchAndAnswer) {
  FakeWorld world(1, 1);
  world.hold_provider_calls = true;
  world.run_until_quiet();
  const LaunchToken token = world.slot("gpu-1").token;
  world.crash();
  const Plan plan = world.decide();
  ASSERT_EQ(world.count<LaunchMachine>(plan), 1u);
  EXPECT_EQ(world.only<LaunchMachine>(plan).token, token);
}

TEST(Plan, TakesBackAMachineWhoseLaunchAnswerWasLost) {
  FakeWorld world(1, 1);
  world.hold_provider_calls = true;
  world.run_until_quiet();
  world.provider_has(world.slot("gpu-1").token, "i-lost");
  world.crash();
  world.list_machines();
  const Plan plan = world.decide();
  EXPECT_EQ(world.count<LaunchMachine>(plan), 0u);
  EXPECT_EQ(plan.ledger.groups.at(GroupName{"gpu"}).slots[0].instance, InstanceId{"i-lost"});
}

TEST(Plan, LetsSlurmdStartOnlyAfterChecksPassed) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").state, SlotState::booting);
  world.report("gpu-1", NodeStep::checking);
  world.run_until_quiet();
  EXPECT_EQ(world.node("gpu-1").address, world.slot("gpu-1").address) << "told to Slurm as soon as it is known";
  EXPECT_EQ(world.slot("gpu-1").slurmd_start, 0);
  world.report("gpu-1", NodeStep::ready);
  world.commit(world.decide());
  EXPECT_EQ(world.slot("gpu-1").slurmd_start, 1);
}

TEST(Plan, LetsSlurmdStartOnlyAfterTheAddressIsReadBack) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  world.report("gpu-1", NodeStep::ready);
  const Plan plan = world.decide();
  ASSERT_EQ(world.count<SetAddresses>(plan), 1u);
  EXPECT_EQ(world.slot("gpu-1").slurmd_start, 0) << "not before the address has been read back";
  world.act(plan);
  world.commit(world.decide());
  EXPECT_EQ(world.slot("gpu-1").slurmd_start, 1);
}

TEST(Plan, OpensTheGateWithOneCallWhenMinCountNodesAreReady) {
  FakeWorld world(6, 4);
  world.run_until_quiet();
  for (const char* name : {"gpu-1", "gpu-2", "gpu-3"}) world.bring_up(name);
  EXPECT_FALSE(world.group().gate_open);
  EXPECT_EQ(world.undrain_calls, 0);
  for (const char* name : {"gpu-1", "gpu-2", "gpu-3"}) EXPECT_TRUE(world.node(name).drained);
  world.bring_up("gpu-5");
  EXPECT_TRUE(world.group().gate_open);
  EXPECT_EQ(world.group().status, GroupStatus::in_service);
  EXPECT_EQ(world.undrain_calls, 1);
  for (const char* name : {"gpu-1", "gpu-2", "gpu-3", "gpu-5"}) EXPECT_FALSE(world.node(name).drained);
  EXPECT_TRUE(world.node("gpu-4").drained);
}

TEST(Plan, CountsANodeOnlyAfterItsSettleTime) {
  FakeWorld world(2, 1);
  world.spec().settle_time = seconds{5};
  world.run_until_quiet();
  world.bring_up("gpu-1");
  EXPECT_FALSE(world.group().gate_open);
  world.pass_time(seconds{4});
  world.run_until_quiet();
  EXPECT_FALSE(world.group().gate_open);
  world.pass_time(seconds{1});
  world.run_until_quiet();
  EXPECT_TRUE(world.group().gate_open);
}

TEST(Plan, OpensLaterArrivalsOfAnOpenGroup) {
  FakeWorld world(3, 1);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.bring_up("gpu-3");
  EXPECT_FALSE(world.node("gpu-3").drained);
  EXPECT_EQ(open_count(world.group()), 2);
}

TEST(Plan, AGroupWithMinCountZeroIsInServiceAtOnce) {
  FakeWorld world(3, 0);
  world.run_until_quiet();
  EXPECT_EQ(world.group().status, GroupStatus::in_service);
}

TEST(Plan, RetriesALaunchThatFailedForLackOfCapacityWithANewAttempt) {
  FakeWorld world(1, 1);
  world.next_launch_fails = FailureClass::capacity;
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").state, SlotState::waiting);
  EXPECT_EQ(world.slot("gpu-1").last_failure, FailureClass::capacity);
  world.pass_time(minutes{3});
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").state, SlotState::booting);
  EXPECT_EQ(world.slot("gpu-1").attempt, 2);
}

TEST(Plan, ReplacesAMachineThatNeverComesUp) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  const InstanceId first = world.slot("gpu-1").instance;
  world.pass_time(world.spec().boot_timeout + seconds{1});
  world.run_until_quiet();
  EXPECT_EQ(world.terminated.count(first), 1u);
  world.pass_time(minutes{1});
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").attempt, 2);
  EXPECT_NE(world.slot("gpu-1").instance, first);
}

TEST(Plan, KeepsAnAdminsDrainAndDoesNotCountThatNode) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.node("gpu-1").reason = "bad fan";
  world.bring_up("gpu-2");
  EXPECT_EQ(ready_count(world.group()), 1);
  EXPECT_FALSE(world.group().gate_open);
  EXPECT_EQ(world.node("gpu-1").reason, "bad fan");
  world.node("gpu-1").drained = false;  // the admin lifts it
  world.node("gpu-1").reason.clear();
  world.run_until_quiet();
  EXPECT_TRUE(world.group().gate_open);
}

TEST(Plan, PutsAnAdminsReasonBackThatSlurmDroppedAtRegistration) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  world.node("gpu-1").reason = "do not use";
  world.run_until_quiet();
  world.slurm_drops_reasons_at_registration = true;
  world.bring_up("gpu-1");
  EXPECT_EQ(world.node("gpu-1").reason, "do not use");
  EXPECT_TRUE(world.node("gpu-1").drained);
  EXPECT_FALSE(world.group().gate_open);
}

TEST(Plan, ClosesAGatheringNodeAgainThatSomebodyOpened) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.node("gpu-1").drained = false;
  const Plan plan = world.decide();
  ASSERT_EQ(world.count<DrainNodes>(plan), 1u);
  ASSERT_FALSE(plan.events.empty());
  EXPECT_EQ(plan.events.back().kind, "NodesClosedAgain");
  world.act(plan);
  world.run_until_quiet();
  EXPECT_TRUE(world.node("gpu-1").drained);
}

TEST(Plan, TakesADrainWithOurWordsForTheAdminsOnceTheNodeIsOpen) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.run_until_quiet();
  ASSERT_FALSE(world.node("gpu-1").drained);
  world.node("gpu-1").drained = true;
  world.node("gpu-1").reason = gathering_reason(GroupName{"gpu"});  // ownership is in the ledger, not in the text
  world.run_until_quiet();
  EXPECT_TRUE(world.node("gpu-1").drained);
  EXPECT_EQ(ready_count(world.group()), 0);
}

TEST(Plan, OpensIdleNodesForUseAtOnceButNotThoseWithJobs) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.node("gpu-1").base = NodeBase::mixed;  // a job got in while somebody had opened it
  world.report("gpu-2", NodeStep::ready);
  world.run_until_quiet();
  world.slurmd_registers("gpu-2");
  world.report("gpu-2", NodeStep::running);
  const Plan plan = world.decide();
  std::map<std::string, bool> idle;
  for (const Action& action : plan.actions) {
    if (const auto* undrain = std::get_if<UndrainNodes>(&action)) idle[names_text(undrain->names)] = undrain->are_idle;
  }
  EXPECT_EQ(idle, (std::map<std::string, bool>{{"gpu-1", false}, {"gpu-2", true}}));
}

TEST(Plan, LooksAgainSoonWhileASlurmdRegistersAndEverLessOften) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  world.report("gpu-1", NodeStep::ready);
  world.run_until_quiet();
  world.report("gpu-1", NodeStep::running);
  world.run_until_quiet();
  EXPECT_EQ(world.decide().next_deadline, world.now + std::chrono::milliseconds{100});
  world.pass_time(std::chrono::seconds{2});
  EXPECT_EQ(world.decide().next_deadline, world.now + std::chrono::seconds{1});
}

TEST(Plan, PutsItsReasonBackThatSlurmDroppedButNotOnNodesThatItOpens) {
  FakeWorld world(2, 2);
  world.slurm_drops_reasons_at_registration = true;
  world.run_until_quiet();
  world.bring_up("gpu-1");
  EXPECT_EQ(world.node("gpu-1").reason, gathering_reason(world.spec().name));
  world.report("gpu-2", NodeStep::ready);
  world.run_until_quiet();
  world.slurmd_registers("gpu-2");
  world.report("gpu-2", NodeStep::running);
  const Plan plan = world.decide();
  EXPECT_EQ(world.count<UndrainNodes>(plan), 1u);
  EXPECT_EQ(world.count<DrainNodes>(plan), 0u);
}

TEST(Plan, OpensANodeAgainThatTheFirstOpeningDidNotReach) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.undrain_misses = "gpu-2";  // one bad node makes a batch half done
  world.bring_up("gpu-2");
  EXPECT_FALSE(world.node("gpu-1").drained);
  EXPECT_FALSE(world.node("gpu-2").drained);
  EXPECT_EQ(world.undrain_calls, 2);
}

TEST(Plan, DoesNotLiftTheDrainOfANodeWhoseRegistrationSlurmRejects) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.run_until_quiet();
  world.node("gpu-1").drained = true;
  world.node("gpu-1").invalid_registration = true;
  world.node("gpu-1").reason = "gres/gpu count reported lower than configured (3 < 4)";
  world.run_until_quiet();
  EXPECT_TRUE(world.node("gpu-1").drained);
  world.node("gpu-1").invalid_registration = false;  // a good registration since
  world.run_until_quiet();
  EXPECT_FALSE(world.node("gpu-1").drained);
}

TEST(Plan, HidesASlotWithoutAMachineAgainAfterResumeAll) {
  FakeWorld world(2, 2);
  world.hold_provider_calls = true;
  world.run_until_quiet();
  world.node("gpu-2").base = NodeBase::idle;
  world.node("gpu-2").drained = false;
  world.node("gpu-2").not_responding = true;
  world.run_until_quiet();
  EXPECT_EQ(world.node("gpu-2").base, NodeBase::future);
  EXPECT_TRUE(world.node("gpu-2").drained);
}

TEST(Plan, MakesLostRecordsAgainAndHasTheRunningSlurmdRegisterAgain) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.lose_records();
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").slurmd_start, 2) << "its slurmd is to be started again";
  EXPECT_TRUE(world.node("gpu-1").drained);
  world.bring_up("gpu-1");
  world.bring_up("gpu-2");
  EXPECT_TRUE(world.group().gate_open);
}

TEST(Plan, MakesAgainTheRecordsWhoseGresARestartOfSlurmctldDamaged) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  world.restart_slurmctld();
  const Plan plan = world.decide();
  EXPECT_EQ(world.count<DeleteRecords>(plan), 1u);
  EXPECT_EQ(world.count<CreateRecords>(plan), 1u);
  world.act(plan);
  world.run_until_quiet();
  EXPECT_EQ(world.node("gpu-1").gres, "gpu:h100:4");
  EXPECT_TRUE(world.node("gpu-1").drained);
  world.bring_up("gpu-1");
  world.bring_up("gpu-2");
  EXPECT_TRUE(world.group().gate_open);
}

TEST(Plan, HasASlurmdRegisterAgainThatSlurmDidNotHear) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  world.report("gpu-1", NodeStep::ready);
  world.run_until_quiet();
  world.report("gpu-1", NodeStep::running);  // slurmctld was killed before it had written the registration down
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").slurmd_start, 1);
  world.pass_time(world.spec().register_timeout / 3);
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").slurmd_start, 2);
}

TEST(Plan, PutsAnAdminsDrainOnARecordThatHadToBeMadeAnew) {
  FakeWorld world(1, 1);
  world.hold_provider_calls = true;
  world.run_until_quiet();
  world.node("gpu-1").reason = "do not use";
  world.run_until_quiet();
  world.restart_slurmctld();
  world.run_until_quiet();
  EXPECT_EQ(world.node("gpu-1").gres, "gpu:h100:4");
  EXPECT_EQ(world.node("gpu-1").reason, "do not use");
  world.node("gpu-1").drained = false;  // and they may lift it
  world.node("gpu-1").reason.clear();
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").foreign_reason, "");
  EXPECT_EQ(world.node("gpu-1").reason, gathering_reason(GroupName{"gpu"}));
}

TEST(Plan, RegistersANodeAgainThatRegisteredUnderADamagedRecord) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  world.report("gpu-1", NodeStep::ready);
  world.run_until_quiet();
  world.restart_slurmctld();
  world.slurmd_registers("gpu-1");  // before we have seen the damage
  world.report("gpu-1", NodeStep::running);
  world.run_until_quiet();
  EXPECT_FALSE(world.group().gate_open);
  EXPECT_EQ(world.slot("gpu-1").slurmd_start, 2);
  world.slurmd_registers("gpu-1");
  world.report("gpu-1", NodeStep::running);
  world.run_until_quiet();
  EXPECT_EQ(world.node("gpu-1").gres, "gpu:h100:4");
  EXPECT_TRUE(world.group().gate_open);
}

TEST(Plan, KeepsTheDeadlineAcrossRestartsAndRollsANewGroupBackToNothing) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  const Time deadline = world.group().deadline;
  world.crash();
  world.run_until_quiet();
  EXPECT_EQ(world.group().deadline, deadline);
  world.pass_time(std::chrono::hours{4});
  world.run_until_quiet();
  world.run_until_quiet();
  EXPECT_EQ(world.events_of_kind("RollbackStarted"), 1);
  EXPECT_EQ(world.group().counts, (Counts{0, 0}));
  EXPECT_EQ(world.group().status, GroupStatus::in_service);
}

TEST(Plan, AGroupHasToBeListedFromItsFirstLaunchUntilItIsGoneWhateverItsSlotsKnow) {
  FakeWorld world(1, 0);
  world.act(world.decide());
  EXPECT_FALSE(may_have_machines(world.group()));
  world.next_launch_fails = FailureClass::capacity;  // or so it said
  world.run_until_quiet();
  ASSERT_EQ(world.slot("gpu-1").state, SlotState::waiting);
  EXPECT_TRUE(may_have_machines(world.group()));
  ASSERT_TRUE(world.command(DeleteGroup{world.spec().name}));
  world.run_until_quiet();
  world.pass_time(std::chrono::hours{24});
  world.run_until_quiet();
  EXPECT_FALSE(may_have_machines(world.group()));
}

TEST(Plan, EndsAMachineOfAnEarlierAttemptThatTwoListsShow) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  const InstanceId own = world.slot("gpu-1").instance;
  world.provider_has(LaunchToken{"lab.gpu-1." + std::to_string(to_milliseconds(world.now) + 1)}, "i-orphan");
  world.provider_has(LaunchToken{"other.gpu-1.7"}, "i-of-another-cluster");
  world.list_machines();
  world.run_until_quiet();
  EXPECT_TRUE(world.terminated.empty()) << "not on one list";
  world.pass_time(seconds{30});
  world.list_machines();
  world.run_until_quiet();
  EXPECT_EQ(world.terminated, std::set<InstanceId>{InstanceId{"i-orphan"}});
  EXPECT_EQ(world.slot("gpu-1").instance, own);
}

TEST(Plan, DoesNotTakeAMachineThatStandsBehindAnotherNode) {
  FakeWorld world(2, 1);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  const InstanceId taken = world.slot("gpu-1").instance;
  world.pass_time(world.spec().boot_timeout + seconds{1});  // gpu-2's machine never came up
  world.run_until_quiet();
  world.next_launch_answers = taken.str();
  world.pass_time(minutes{1});
  world.run_until_quiet();
  EXPECT_NE(world.slot("gpu-2").instance, taken);
  EXPECT_EQ(world.slot("gpu-2").last_failure, FailureClass::configuration);
  EXPECT_EQ(world.terminated.count(taken), 0u);
  EXPECT_EQ(world.slot("gpu-1").state, SlotState::in_service);
}

TEST(Plan, DoesNotHurryASlurmThatDamagesItsRecordsAgainAndAgain) {
  FakeWorld world(1, 1);
  world.hold_provider_calls = true;
  world.run_until_quiet();
  int mended = 0;
  for (int second = 0; second < 60; ++second) {
    world.restart_slurmctld();
    const Plan plan = world.decide();
    mended += static_cast<int>(world.count<DeleteRecords>(plan));
    world.act(plan);
    world.pass_time(seconds{1});
  }
  EXPECT_LE(mended, 6);
  EXPECT_EQ(world.events_of_kind("RecordsDamaged"), mended);
}

TEST(Plan, LeavesAnAdminsDrainThatBeginsLikeOneOfSlurms) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  for (const char* reason : {"Low on coolant, do not touch", "gres/gpu is smoking"}) {
    world.node("gpu-1").drained = true;
    world.node("gpu-1").reason = reason;
    world.run_until_quiet();
    EXPECT_TRUE(world.node("gpu-1").drained) << reason;
  }
}

TEST(Plan, OpensAGroupDeliberatelyWithWhatIsReady) {
  FakeWorld world(3, 3);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.open_group();
  world.run_until_quiet();
  EXPECT_TRUE(world.group().gate_open);
  EXPECT_FALSE(world.node("gpu-1").drained);
  EXPECT_EQ(world.events_of_kind("OpenedByOperator"), 1);
}

TEST(Plan, BelievesAMachineGoneOnlyAfterTwoListsAndWhenSlurmDoesNotReachItEither) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.provider_loses_machines();
  for (int list = 0; list < 3; ++list) {
    world.pass_time(seconds{30});
    world.list_machines();
    world.run_until_quiet();
    EXPECT_EQ(world.slot("gpu-1").state, SlotState::in_service) << "it answers: the list lies";
  }
  EXPECT_EQ(world.events_of_kind("ListContradicted"), 1);
  world.node("gpu-1").not_responding = true;
  world.pass_time(seconds{30});
  world.list_machines();
  world.run_until_quiet();
  EXPECT_NE(world.slot("gpu-1").state, SlotState::in_service);
}

TEST(Plan, SamePlanFromSameInput) {
  FakeWorld world(6, 4);
  const Plan a = world.decide();
  const Plan b = world.decide();
  EXPECT_EQ(a.actions.size(), b.actions.size());
  EXPECT_TRUE(a.ledger.groups.at(GroupName{"gpu"}) == b.ledger.groups.at(GroupName{"gpu"}));
}

}  // namespace
}  // namespace muster::logic
