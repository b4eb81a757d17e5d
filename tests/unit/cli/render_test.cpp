// SPDX-License-Identifier: GPL-2.0-or-later
//
// Answers of musterd as an operator sees them: golden texts.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "cli/render_apply.hpp"
#include "cli/render_events.hpp"
#include "cli/render_nodes.hpp"
#include "cli/render_release.hpp"
#include "cli/render_status.hpp"
#include "cli/render_why.hpp"

namespace muster::cli {
namespace {

using logic::Value;

constexpr double now = 1767225600;  // 2026-01-01 00:00:00 UTC

View plain_view() {
  View view;
  view.now = logic::time_from_seconds(now);
  view.user_name = [](std::int64_t uid) { return uid == 1000 ? std::string("alice") : std::to_string(uid); };
  view.clock_text = [](logic::Time time) {
    const std::int64_t seconds = logic::to_milliseconds(time) / 1000 - static_cast<std::int64_t>(now);
    return "clock" + std::string(seconds < 0 ? "" : "+") + std::to_string(seconds);
  };
  return view;
}

View view_of_width(std::size_t width) {
  View view = plain_view();
  view.style.width = width;
  return view;
}

Value gathering_group() {
  return Value::map(
      {{"Name", "gpu"},
       {"Status", "Creating"},
       {"StatusReason", "waits for 1 more ready node: 3 of 4"},
       {"GateOpen", false},
       {"Partition", "gpu"},
       {"Ready", 3},
       {"Open", 0},
       {"MinCount", 4},
       {"TargetCount", 6},
       {"Counts", Value::map({{"Pending", 0}, {"Booting", 2}, {"Ready", 3}, {"Retrying", 1}})},
       {"Deadline", now + 10261},
       {"DeadlineAction", "roll back to 0 nodes"},
       {"EstimatedOpen", now + 65},
       {"LastProblem", Value::map({{"Time", now - 41}, {"Text", "launch of gpu-5: capacity: none left"}})},
       {"Launches", 7}});
}

Value complete_group() {
  return Value::map({{"Name", "cpu"},
                     {"Status", "InService"},
                     {"StatusReason", "all there"},
                     {"GateOpen", true},
                     {"Partition", "batch"},
                     {"Ready", 12},
                     {"Open", 12},
                     {"MinCount", 0},
                     {"TargetCount", 12},
                     {"OpenedAt", now - 7260},
                     {"Deadline", Value()}});
}

Value status(Value::List groups) {
  return Value::map({{"Cluster", "quickstart"},
                     {"ClusterStatus", "Creating"},
                     {"Time", now},
                     {"Slurm", Value::map({{"State", "up"}, {"Version", "22.05.8"}})},
                     {"Groups", Value(std::move(groups))}});
}

TEST(RenderStatus, ShowsHowFarAGroupIsAndWhyItWaits) {
  EXPECT_EQ(render_status(status({gathering_group()}), plain_view()),
            "quickstart  Creating\n"
            "Slurm 22.05.8 is up\n"
            "\n"
            "GROUP  PARTITION  STATUS    READY                    GATE\n"
            "gpu    gpu        Creating  [#####-----] 3/6  min 4  closed\n"
            "  waits for 1 more ready node: 3 of 4\n"
            "  2 booting, 3 ready behind the gate, 1 waiting for another try\n"
            "  at this pace it opens in 1 min 5 s\n"
            "  deadline in 2 h 51 min (clock+10261): roll back to 0 nodes\n"
            "  last problem 41 s ago: launch of gpu-5: capacity: none left\n");
}

TEST(RenderStatus, SaysNothingMoreAboutACompleteGroup) {
  EXPECT_EQ(render_status(status({gathering_group(), complete_group()}), plain_view()).substr(42),
            "GROUP  PARTITION  STATUS     READY                      GATE\n"
            "gpu    gpu        Creating   [#####-----]   3/6  min 4  closed\n"
            "  waits for 1 more ready node: 3 of 4\n"
            "  2 booting, 3 ready behind the gate, 1 waiting for another try\n"
            "  at this pace it opens in 1 min 5 s\n"
            "  deadline in 2 h 51 min (clock+10261): roll back to 0 nodes\n"
            "  last problem 41 s ago: launch of gpu-5: capacity: none left\n"
            "cpu    batch      InService  [##########] 12/12  min 0  open for 2 h 1 min\n");
}

TEST(RenderStatus, ShowsHeldJobsWithWhatTheyWaitFor) {
  Value answer = status({});
  answer.set("HeldJobs",
             Value(Value::List{Value::map({{"JobId", 7},
                                           {"UserId", 1000},
                                           {"Partition", "gpu"},
                                           {"NodesNeeded", 4},
                                           {"HeldSince", now - 125},
                                           {"Text", "muster: held until group gpu opens: 3 of 4 nodes ready"}})}));
  EXPECT_EQ(render_status(answer, plain_view()),
            "quickstart  Creating\n"
            "Slurm 22.05.8 is up\n"
            "\n"
            "no instance groups yet; muster apply -f FILE makes them\n"
            "\n"
            "1 job held\n"
            "JOB  USER   PARTITION  NODES  HELD           WAITS UNTIL\n"
            "  7  alice  gpu            4  for 2 min 5 s  group gpu opens: 3 of 4 nodes ready\n");
}

TEST(RenderStatus, SaysThatSlurmIsDownAndSinceWhen) {
  Value answer = status({});
  answer.set("Slurm", Value::map({{"State", "down"}, {"Since", now - 41}, {"Message", "slurmctld does not answer"}}));
  EXPECT_NE(render_status(answer, plain_view()).find("Slurm has not answered for 41 s: slurmctld does not answer\n"),
            std::string::npos);
}

TEST(RenderStatus, SaysThatTheLedgerCannotBeWritten) {
  Value answer = status({});
  answer.set("LedgerProblem", "disk full");
  EXPECT_NE(render_status(answer, plain_view()).find("\nnothing new is done: disk full; it goes on by itself\n"),
            std::string::npos);
}

TEST(RenderStatus, SaysThatAnotherMusterdActs) {
  Value answer = status({});
  answer.set("RoleMessage", "musterd on head2 is on standby; musterd on head acts");
  EXPECT_NE(render_status(answer, plain_view()).find("\nmusterd on head2 is on standby; musterd on head acts\n"),
            std::string::npos);
}

TEST(RenderStatus, LetsNoEscapeSequenceOfAProviderThrough) {
  Value group = gathering_group();
  group.set("StatusReason", "bad\033[2Jthing");
  const std::string text = render_status(status({group}), plain_view());
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(text.find("bad [2Jthing"), std::string::npos);
}

TEST(RenderStatus, TakesAnEmptyAnswer) {
  EXPECT_NE(render_status(Value::map(), plain_view()).find("no instance groups yet"), std::string::npos);
}

TEST(LastingPart, IsTheSameWhenOnlyTheClockWentOn) {
  Value later = status({gathering_group()});
  later.set("Time", now + 1);
  const auto changed = [](const Value& a, const Value& b) {
    return render_status(lasting_part(a), plain_view()) != render_status(lasting_part(b), plain_view());
  };
  EXPECT_FALSE(changed(status({gathering_group()}), later));
  Value group = gathering_group();
  group.set("Ready", 4);
  EXPECT_TRUE(changed(status({gathering_group()}), status({group})));
}

TEST(WatchFrame, ClearsWhatWasThereAndFitsTheTerminal) {
  EXPECT_EQ(watch_frame("one\ntwo\n", 24, 80), "\033[Hone\033[K\ntwo\033[K\n\033[J");
  EXPECT_EQ(watch_frame("1\n2\n3\n4\n5\n", 4, 80),
            "\033[H1\033[K\n2\033[K\n... 3 more lines: make the window taller, or use muster status\033[K\n\033[J");
  EXPECT_EQ(watch_frame("too long\n", 24, 5), "\033[Htoo ~\033[K\n\033[J");
}

TEST(RenderNodes, ShowsALinePerNodeWithWhatItWaitsFor) {
  const Value answer = Value::map(
      {{"Nodes", Value(Value::List{
                     Value::map({{"Name", "gpu-1"},
                                 {"Group", "gpu"},
                                 {"Status", "Running"},
                                 {"Step", "InService"},
                                 {"StepSince", now - 180},
                                 {"InstanceId", "m-17"},
                                 {"Address", "10.0.0.11"},
                                 {"Attempt", 1},
                                 {"Slurm", "IDLE"},
                                 {"Message", "open to jobs, 3 min"}}),
                     Value::map({{"Name", "gpu-5"},
                                 {"Group", "gpu"},
                                 {"Status", "Pending"},
                                 {"Step", "Retrying"},
                                 {"StepSince", now - 41},
                                 {"Deadline", now + 20},
                                 {"Attempt", 2},
                                 {"Slurm", "FUTURE+DRAIN"},
                                 {"Reason", "gres/gpu count too low"},
                                 {"Message", "no capacity."},
                                 {"Checks", Value(Value::List{
                                                Value::map({{"Name", "munge"}, {"Ok", false}, {"Text", "no socket"}}),
                                                Value::map({{"Name", "clock"}, {"Ok", true}})})}})})}});
  EXPECT_EQ(
      render_nodes(answer, plain_view()),
      "NODE   GROUP  STATUS   STEP         FOR  LEFT  TRY  SLURM         INSTANCE  ADDRESS    WHY\n"
      "gpu-1  gpu    Running  InService  3 min             IDLE          m-17      10.0.0.11\n"
      "gpu-5  gpu    Pending  Retrying    41 s  20 s    2  FUTURE+DRAIN                       no capacity; check munge "
      "failed: no socket; Slurm: gres/gpu count too low\n");
}

TEST(RenderNodes, SaysWhenThereAreNone) { EXPECT_EQ(render_nodes(Value::map(), plain_view()), "no nodes\n"); }

Value events() {
  return Value::map(
      {{"Events",
        Value(Value::List{Value::map({{"EventTime", now - 2},
                                      {"EventLevel", "Info"},
                                      {"InstanceGroupName", "gpu"},
                                      {"Kind", "MinCountReached"},
                                      {"Description", "4 of 4"}}),
                          Value::map({{"EventTime", now - 1},
                                      {"EventLevel", "Warn"},
                                      {"InstanceGroupName", "gpu"},
                                      {"NodeName", "gpu-node-12"},
                                      {"Description", "launch failed:\nno capacity"}}),
                          Value::map({{"EventTime", now}, {"EventLevel", "Error"}, {"Description", "Slurm"}})})},
       {"LastSequence", 3}});
}

TEST(RenderEvents, ShowsALinePerEvent) {
  EXPECT_EQ(EventLines().text(events(), plain_view()),
            "clock-2  Info   gpu          MinCountReached: 4 of 4\n"
            "clock-1  Warn   gpu-node-12  launch failed: no capacity\n"
            "clock+0  Error  cluster      Slurm\n");
}

TEST(RenderEvents, KeepsItsColumnsFromBatchToBatch) {
  EventLines lines;
  lines.text(events(), plain_view());
  const Value more = Value::map(
      {{"Events", Value(Value::List{Value::map(
                      {{"EventTime", now}, {"EventLevel", "Info"}, {"NodeName", "gpu-1"}, {"Description", "up"}})})}});
  EXPECT_EQ(lines.text(more, plain_view()), "clock+0  Info   gpu-1        up\n");
}

TEST(RenderWhy, AlignsWhatIsKnown) {
  const Value answer = Value::map(
      {{"Title", "job 7 is held"},
       {"Lines", Value(Value::List{Value::map({{"Label", "waits for"},
                                               {"Text", "4 nodes of group gpu; 3 are ready and the fourth boots"}}),
                                   Value::map({{"Label", "since"}, {"Text", "2 min 5 s"}})})}});
  EXPECT_EQ(render_why(answer, view_of_width(46)),
            "job 7 is held\n"
            "  waits for  4 nodes of group gpu; 3 are ready\n"
            "             and the fourth boots\n"
            "  since      2 min 5 s\n");
}

TEST(RenderApply, SaysThatADryRunChangedNothing) {
  const Value answer =
      Value::map({{"Changes", Value(Value::List{Value::map({{"Group", "gpu"}, {"Text", "new: target 6, minimum 4"}})})},
                  {"Warnings", Value(Value::List{"no job_submit plugin"})},
                  {"Applied", false},
                  {"Plan", Value(Value::List{"make 6 node records gpu-[1-6]", "drain gpu-[1-6]"})}});
  EXPECT_EQ(render_apply(answer, plain_view()),
            "gpu  new: target 6, minimum 4\n"
            "warning: no job_submit plugin\n"
            "first steps:\n"
            "  make 6 node records gpu-[1-6]\n"
            "  drain gpu-[1-6]\n"
            "dry run: nothing was changed\n");
}

TEST(RenderApply, SaysWhenThereWasNothingToDo) {
  EXPECT_EQ(render_apply(Value::map({{"Applied", true}}), plain_view()), "applied: there was nothing to change\n");
}

TEST(JobsToRelease, AreOnlyThoseThatMusterHolds) {
  const auto job = [](int id, const char* state, std::int64_t priority, const char* comment) {
    return Value::map({{"id", id}, {"state", state}, {"priority", priority}, {"admin_comment", comment}});
  };
  const Value answer =
      Value::map({{"jobs", Value(Value::List{job(7, "PENDING", 0, "muster: held, 3 of 4 nodes ready min_count=4"),
                                             job(8, "PENDING", 0, ""), job(9, "PENDING", 4294901757, "muster: held"),
                                             job(10, "RUNNING", 0, "muster: held"),
                                             job(11, "PENDING", 0, "held by the admin")})}});
  const Value::List jobs = jobs_to_release(answer);
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].integer_or("id"), 7);
}

TEST(RenderRelease, NamesTheJobs) {
  const Value answer = Value::map(
      {{"results", Value(Value::List{Value::map({{"id", 7}, {"ok", true}}), Value::map({{"id", 9}, {"ok", true}}),
                                     Value::map({{"id", 10}, {"ok", false}, {"error", "gone"}})})}});
  const Value outcome = release_outcome(answer);
  EXPECT_EQ(render_release(outcome), "released 2 jobs: 7, 9\n");
  EXPECT_EQ(outcome.list_or_empty("Failed")[0].text_or("Message"), "gone");
  EXPECT_EQ(render_release(release_outcome({})), "no job is held by muster\n");
}

}  // namespace
}  // namespace muster::cli
