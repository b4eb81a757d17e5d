// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/node_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace muster::logic {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const Time noon = time_from_milliseconds(1'000'000'000);
const NodeRule rule;

Assignment gpu_1(std::int64_t slurmd_start = 0) {
  Assignment wanted;
  wanted.generation = 3;
  wanted.assigned = true;
  wanted.node = NodeName{"gpu-1"};
  wanted.node_conf = "CPUs=2 RealMemory=1000 Gres=gpu:h100:4 Feature=h100";
  wanted.gres = {{"gpu", "h100", 4}};
  wanted.cpus = 2;
  wanted.memory_mib = 1000;
  wanted.slurmd_start = slurmd_start;
  return wanted;
}

MachineFacts good_machine() {
  return {"machine-1", 2, 1000, "/usr/sbin/slurmd", "", {{"gpu", "/dev/nvidia[0-9]*", 4, 4}}};
}

HeadProof good_proof() { return {true, "accepted by http://head:6820", milliseconds{3}, milliseconds{1}}; }

NodeView checked(Assignment wanted) {
  NodeView view;
  view.checks = judge_checks(wanted, good_proof(), good_machine(), seconds{30});
  view.checked_at = noon;
  view.assignment = std::move(wanted);
  return view;
}

NodeView running(Assignment wanted, const std::string& as, std::int64_t start) {
  NodeView view = checked(std::move(wanted));
  view.slurmd = {NodeName{as}, start, true, false, noon - minutes{5}, 0, no_time, ""};
  return view;
}

const NodeCheck& check_named(const std::vector<NodeCheck>& checks, const std::string& name) {
  return *std::find_if(checks.begin(), checks.end(), [&](const NodeCheck& check) { return check.name == name; });
}

TEST(NodeSteps, IntroducesItselfUntilItIsAssigned) {
  NodeView view;
  EXPECT_EQ(decide_node(view, rule, noon).step, NodeStep::introduced);
  view.assignment = Assignment{};
  view.assignment->message = "no slot is free";
  const NodeDecision decision = decide_node(view, rule, noon);
  EXPECT_EQ(decision.step, NodeStep::introduced);
  EXPECT_EQ(decision.message, "no slot is free");
}

TEST(NodeSteps, ChecksTheMachineOnceItIsAssigned) {
  NodeView view;
  view.assignment = gpu_1();
  const NodeDecision decision = decide_node(view, rule, noon);
  EXPECT_EQ(decision.step, NodeStep::checking);
  EXPECT_TRUE(decision.check_now);
}

TEST(NodeSteps, IsReadyWithGoodChecksButWaitsForMusterdsWord) {
  const NodeDecision decision = decide_node(checked(gpu_1(0)), rule, noon);
  EXPECT_EQ(decision.step, NodeStep::ready);
  EXPECT_EQ(decision.action, SlurmdAction::none);
}

TEST(NodeSteps, StartsSlurmdWhenMusterdAllowsIt) {
  EXPECT_EQ(decide_node(checked(gpu_1(1)), rule, noon).action, SlurmdAction::start);
}

TEST(NodeSteps, NeverStartsSlurmdWhileACheckFails) {
  NodeView view = checked(gpu_1(1));
  view.checks->front().ok = false;
  const NodeDecision decision = decide_node(view, rule, noon);
  EXPECT_EQ(decision.action, SlurmdAction::none);
  EXPECT_EQ(decision.step, NodeStep::checking);
}

TEST(NodeSteps, NeverStartsSlurmdOnOldChecks) {
  const NodeDecision decision = decide_node(checked(gpu_1(1)), rule, noon + rule.check_lifetime + seconds{1});
  EXPECT_EQ(decision.action, SlurmdAction::none);
  EXPECT_TRUE(decision.check_now);
}

TEST(NodeSteps, NeverStartsASecondSlurmdWhileOneIsBeingStarted) {
  NodeView view = checked(gpu_1(1));
  view.slurmd.changing = true;
  EXPECT_EQ(decide_node(view, rule, noon).action, SlurmdAction::none);
}

TEST(NodeSteps, LeavesARunningSlurmdAlone) {
  const NodeDecision decision = decide_node(running(gpu_1(1), "gpu-1", 1), rule, noon);
  EXPECT_EQ(decision.step, NodeStep::running);
  EXPECT_EQ(decision.action, SlurmdAction::none);
}

TEST(NodeSteps, RestartsSlurmdForAHigherNumber) {
  EXPECT_EQ(decide_node(running(gpu_1(2), "gpu-1", 1), rule, noon).action, SlurmdAction::restart);
}

TEST(NodeSteps, LeavesSlurmdAloneWhenTheNumberHasFallen) {
  EXPECT_EQ(decide_node(running(gpu_1(0), "gpu-1", 5), rule, noon).action, SlurmdAction::none);
}

TEST(NodeSteps, LeavesARunningSlurmdAloneWhenACheckFails) {
  NodeView view = running(gpu_1(1), "gpu-1", 1);
  view.checks->front() = {"munge", false, "refused"};
  const NodeDecision decision = decide_node(view, rule, noon);
  EXPECT_EQ(decision.step, NodeStep::running);
  EXPECT_EQ(decision.message, "slurmd runs as gpu-1, although munge: refused");
}

TEST(NodeSteps, LeavesARunningSlurmdAloneWhenMusterdIsAwayOrForgotTheMachine) {
  NodeView view = running(gpu_1(1), "gpu-1", 1);
  view.assignment->assigned = false;
  EXPECT_EQ(decide_node(view, rule, noon).step, NodeStep::running);
  view.assignment.reset();
  EXPECT_EQ(decide_node(view, rule, noon).action, SlurmdAction::none);
}

TEST(NodeSteps, ReplacesTheSlurmdOfAnotherNameOnlyWhenTheNewOneMayStart) {
  EXPECT_EQ(decide_node(running(gpu_1(0), "gpu-9", 7), rule, noon).action, SlurmdAction::none);
  EXPECT_EQ(decide_node(running(gpu_1(0), "gpu-9", 7), rule, noon).step, NodeStep::ready);
  EXPECT_EQ(decide_node(running(gpu_1(1), "gpu-9", 7), rule, noon).action, SlurmdAction::restart);
  EXPECT_EQ(reported_start(running(gpu_1(1), "gpu-9", 7)), 0);
}

TEST(NodeSteps, IsRunningOnlyAfterSlurmdHasLivedAMoment) {
  NodeView view = running(gpu_1(1), "gpu-1", 1);
  view.slurmd.since = noon;
  EXPECT_EQ(decide_node(view, rule, noon).step, NodeStep::starting);
  EXPECT_EQ(decide_node(view, rule, noon).look_again, noon + rule.slurmd.settle);
  EXPECT_EQ(decide_node(view, rule, noon + rule.slurmd.settle).step, NodeStep::running);
}

TEST(NodeSteps, StartsADeadSlurmdAgainAfterABackoff) {
  NodeView view = checked(gpu_1(1));
  note_slurmd_start(view.slurmd, NodeName{"gpu-1"}, 1, noon);
  note_slurmd_end(view.slurmd, rule.slurmd, "exit status 1", noon, 0.0);
  const NodeDecision waiting = decide_node(view, rule, noon);
  EXPECT_EQ(waiting.action, SlurmdAction::none);
  EXPECT_EQ(waiting.look_again, noon + seconds{1});
  EXPECT_EQ(decide_node(view, rule, noon + seconds{1}).action, SlurmdAction::start);
}

TEST(NodeSteps, ReportsFailedWhenSlurmdKeepsDyingAndTriesOn) {
  NodeView view = checked(gpu_1(1));
  for (int i = 0; i < rule.slurmd.failed_after; ++i) {
    note_slurmd_start(view.slurmd, NodeName{"gpu-1"}, 1, noon);
    note_slurmd_end(view.slurmd, rule.slurmd, "exit status 1", noon, 0.0);
  }
  EXPECT_EQ(decide_node(view, rule, noon).step, NodeStep::failed);
  view.checked_at = noon + seconds{8};
  EXPECT_EQ(decide_node(view, rule, noon + seconds{8}).action, SlurmdAction::start);
}

TEST(NodeSteps, DoesNotLetAnOldBackoffDelayANewNumber) {
  NodeView view = checked(gpu_1(2));
  note_slurmd_start(view.slurmd, NodeName{"gpu-1"}, 1, noon);
  note_slurmd_end(view.slurmd, rule.slurmd, "exit status 1", noon, 0.0);
  EXPECT_EQ(decide_node(view, rule, noon).action, SlurmdAction::start);
}

TEST(NodeSteps, CountsFailuresAnewAfterASlurmdThatLasted) {
  SlurmdView slurmd;
  for (int i = 0; i < 3; ++i) note_slurmd_end(slurmd, rule.slurmd, "exit status 1", noon, 0.0);
  slurmd.alive = true;
  note_slurmd_end(slurmd, rule.slurmd, "signal 9", noon + minutes{2}, 0.0);
  EXPECT_EQ(slurmd.failures, 1);
}

TEST(NodeSteps, ReportsFailedWhenChecksFailForTooLongAndGoesOnChecking) {
  NodeView view = checked(gpu_1(0));
  view.checks->front() = {"munge", false, "refused"};
  view.bad_since = noon;
  EXPECT_EQ(decide_node(view, rule, noon).step, NodeStep::checking);
  EXPECT_EQ(decide_node(view, rule, noon).look_again, noon + rule.check_patience);
  const NodeDecision late = decide_node(view, rule, noon + rule.check_patience);
  EXPECT_EQ(late.step, NodeStep::failed);
  EXPECT_EQ(late.message, "munge: refused");
}

TEST(NodeChecks, PassOnAGoodMachine) {
  EXPECT_TRUE(all_good(judge_checks(gpu_1(), good_proof(), good_machine(), seconds{30})));
}

TEST(NodeChecks, SayWhatIsMissing) {
  struct Row {
    const char* name;
    void (*spoil)(HeadProof&, MachineFacts&);
    const char* text;
  };
  const Row rows[] = {
      {"munge", [](HeadProof& proof, MachineFacts&) { proof.accepted = false, proof.text = "refused"; }, "refused"},
      {"clock", [](HeadProof& proof, MachineFacts&) { proof.skew = minutes{10}; },
       "10 min ahead of the head's, allowed are 30 s: is the time service running?"},
      {"clock", [](HeadProof& proof, MachineFacts&) { proof.skew = -minutes{10}; },
       "10 min behind the head's, allowed are 30 s: is the time service running?"},
      {"clock", [](HeadProof& proof, MachineFacts&) { proof.skew.reset(); }, "not compared with the head's yet"},
      {"hostname", [](HeadProof&, MachineFacts& facts) { facts.host_name = "localhost"; },
       "the host name is \"localhost\": not set yet"},
      {"cpus", [](HeadProof&, MachineFacts& facts) { facts.cpus = 1; }, "1, wanted are 2"},
      {"memory", [](HeadProof&, MachineFacts& facts) { facts.memory_mib = 999; }, "999 MiB, wanted are 1000 MiB"},
      {"gpu", [](HeadProof&, MachineFacts& facts) { facts.devices[0].first = facts.devices[0].second = 3; },
       "3 of 4 devices (/dev/nvidia[0-9]*)"},
      {"gpu", [](HeadProof&, MachineFacts& facts) { facts.devices[0].first = 3; },
       "the count of /dev/nvidia[0-9]* is still changing, 4 wanted"},
      {"slurmd", [](HeadProof&, MachineFacts& facts) { facts.slurmd_problem = "no such file"; }, "no such file"},
  };
  for (const Row& row : rows) {
    HeadProof proof = good_proof();
    MachineFacts facts = good_machine();
    row.spoil(proof, facts);
    const auto checks = judge_checks(gpu_1(), proof, facts, seconds{30});
    EXPECT_FALSE(check_named(checks, row.name).ok) << row.text;
    EXPECT_EQ(check_named(checks, row.name).text, row.text);
    EXPECT_EQ(std::count_if(checks.begin(), checks.end(), [](const auto& check) { return !check.ok; }), 1);
  }
}

TEST(NodeChecks, AddUpTheTypesOfOneGres) {
  Assignment wanted = gpu_1();
  wanted.gres.push_back({"gpu", "a100", 4});
  EXPECT_EQ(check_named(judge_checks(wanted, good_proof(), good_machine(), seconds{30}), "gpu").text,
            "4 of 8 devices (/dev/nvidia[0-9]*)");
}

TEST(NodeChecks, LetAGresWithoutAPatternPass) {
  Assignment wanted = gpu_1();
  wanted.gres.push_back({"licence", "", 2});
  EXPECT_TRUE(check_named(judge_checks(wanted, good_proof(), good_machine(), seconds{30}), "licence").ok);
}

TEST(NodeChecks, DoNotBlameTheClockForASlowLink) {
  HeadProof proof = good_proof();
  proof.skew = seconds{33};
  proof.skew_error = seconds{4};
  EXPECT_TRUE(check_named(judge_checks(gpu_1(), proof, good_machine(), seconds{30}), "clock").ok);
}

TEST(NodeChecks, TakeHalfTheRoundTripOffTheSkew) {
  EXPECT_EQ(clock_skew(noon, noon + seconds{2}, noon + seconds{1}), Duration{0});
  EXPECT_EQ(clock_skew(noon, noon + seconds{2}, noon - seconds{4}), seconds{5});
}

TEST(SlurmdArguments, AlwaysCloseANodeWhoseRecordWasLost) {
  const std::vector<std::string> expected = {
      "-f",
      "/etc/slurm.conf",
      "-Z",
      "-N",
      "gpu-1",
      "--conf",
      "CPUs=2 RealMemory=1000 Gres=gpu:h100:4 Feature=h100 State=DRAIN Reason=muster:unregistered"};
  EXPECT_EQ(slurmd_arguments(gpu_1(), "", {"-f", "/etc/slurm.conf"}), expected);
  Assignment bare = gpu_1();
  bare.node_conf.clear();
  EXPECT_EQ(slurmd_arguments(bare, "", {}).back(), "State=DRAIN Reason=muster:unregistered");
}

TEST(SlurmdArguments, NameTheConfigurationServerWhereThereIsOne) {
  Assignment wanted = gpu_1();
  wanted.conf_server = "head:6817";
  EXPECT_EQ(slurmd_arguments(wanted, "", {}).back(), "head:6817");
  EXPECT_EQ(slurmd_arguments(wanted, "other:6817", {}).back(), "other:6817");
}

TEST(SlurmdArguments, AreQuotedForSystemd) {
  EXPECT_EQ(*systemd_options({"-Z", "--conf", "CPUs=2 State=DRAIN"}), "-Z --conf \"CPUs=2 State=DRAIN\"");
  EXPECT_FALSE(systemd_options({"a\"b"}));
  EXPECT_FALSE(systemd_options({"$HOME"}));
}

Value answer() {
  return Value::map({{"Generation", 4},
                     {"Assigned", true},
                     {"NodeName", "gpu-1"},
                     {"NodeConf", "CPUs=2"},
                     {"ConfServer", "head:6817"},
                     {"Gres", Value::List{Value::map({{"Name", "gpu"}, {"Type", "h100"}, {"Count", 4}})}},
                     {"SlurmdStart", 1},
                     {"HeadTime", 1000.5}});
}

TEST(ReadAssignment, TakesWhatMusterdSays) {
  const Assignment wanted = *read_assignment(answer());
  EXPECT_EQ(wanted.node, NodeName{"gpu-1"});
  EXPECT_EQ(wanted.slurmd_start, 1);
  EXPECT_EQ(wanted.gres, (std::vector<GresWant>{{"gpu", "h100", 4}}));
  EXPECT_EQ(wanted.head_time, time_from_milliseconds(1000500));
}

TEST(ReadAssignment, RefusesTextsThatDoNotBelongOnACommandLine) {
  EXPECT_FALSE(read_assignment(Value{}));
  EXPECT_FALSE(read_assignment(answer().set("NodeName", "")));
  EXPECT_FALSE(read_assignment(answer().set("NodeName", "-D")));
  EXPECT_FALSE(read_assignment(answer().set("NodeName", "gpu 1")));
  EXPECT_FALSE(read_assignment(answer().set("NodeConf", "CPUs=2\nState=IDLE")));
  EXPECT_FALSE(read_assignment(answer().set("NodeConf", "CPUs=\"2")));
  EXPECT_FALSE(read_assignment(answer().set("ConfServer", "head;reboot")));
  EXPECT_FALSE(read_assignment(answer().set("ConfServer", "--help")));
}

TEST(NodeReport, IsNoNewsWhenOnlyTheEvidenceMoves) {
  NodeReport a;
  a.checks = {{"clock", true, "3 ms ahead"}};
  NodeReport b = a;
  b.checks[0].text = "2 ms ahead";
  EXPECT_FALSE(is_news(a, b));
  b.checks[0].ok = false;
  EXPECT_TRUE(is_news(a, b));
}

TEST(NodeReport, LeavesOutWhatIsNotSet) {
  const Value body = report_body(NodeReport{}, 7, seconds{50}, noon);
  EXPECT_EQ(body.integer_or("KnownGeneration"), 7);
  EXPECT_EQ(body.text_or("Step"), "introduced");
  EXPECT_EQ(body.find("NodeName"), nullptr);
}

}  // namespace
}  // namespace muster::logic
