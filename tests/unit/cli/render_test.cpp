// SPDX-License-Identifier: GPL-2.0-or-later
//
// Answers of musterd as an operator sees them: golden texts.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "cli/render_apply.hpp"
#include "cli/render_ending.hpp"
#include "cli/render_events.hpp"
#include "cli/render_nodes.hpp"
#include "cli/render_plan.hpp"
#include "cli/render_release.hpp"
#include "cli/render_status.hpp"
#include "cli/render_why.hpp"
#include "cli/time_limit.hpp"

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

/// The lines of one group: without the cluster's and Slurm's.
std::string group_lines(Value group, const View& view) {
  const std::string text = render_status(status({std::move(group)}), view);
  return text.substr(text.find("\n\n") + 2);
}

Value entries(std::initializer_list<Value> items) { return Value(Value::List(items)); }

TEST(RenderStatus, SaysThatAGroupWasRolledBackThoughItIsInService) {
  Value group = complete_group();
  group.set("TargetCount", 0);
  group.set("Ready", 0);
  group.set("Open", 0);
  group.set("RolledBack", "3 of 4 nodes ready at the deadline");
  EXPECT_EQ(group_lines(group, plain_view()),
            "GROUP  PARTITION  STATUS     READY                    GATE\n"
            "cpu    batch      InService  [----------] 0/0  min 0  open for 2 h 1 min, rolled back\n"
            "  ROLLED BACK: 3 of 4 nodes ready at the deadline; muster scale or muster apply tries again\n");
}

TEST(RenderStatus, NamesTheNodesThatCountAndAreNotUsable) {
  Value group = complete_group();
  group.set("Usable", 11);
  group.set("Unusable",
            entries({Value::map(
                {{"Nodes", "cpu-7"}, {"Count", 1}, {"Text", "DOWN (Not responding)"}, {"Since", now - 240}})}));
  EXPECT_EQ(group_lines(group, plain_view()),
            "GROUP  PARTITION  STATUS     READY                      GATE\n"
            "cpu    batch      InService  [##########] 12/12  min 0  open for 2 h 1 min\n"
            "  12 counted, 11 usable: cpu-7 DOWN (Not responding) for 4 min\n");
}

TEST(RenderStatus, SaysOfTypesInTroubleWhenTheyAreTriedAgainOrWhatToDo) {
  Value group = gathering_group();
  group.set("Troubles",
            entries({Value::map({{"Text", "instance type p5: capacity, 3 failures in a row: none left"},
                                 {"RetryAt", now + 80},
                                 {"Stopped", false}}),
                     Value::map({{"Text", "instance type p4: capacity, 1 failure in a row: none left"},
                                 {"Probe", "gpu-3"},
                                 {"RetryAt", now - 1}}),
                     Value::map({{"Text", "instance type p3: configuration, 3 failures in a row: no such type"},
                                 {"Stopped", true},
                                 {"Advice", "stopped: mend the cluster file"}})}));
  group.set("GivenUp", entries({Value::map({{"Nodes", "gpu-9"}, {"Text", "5 machines in a row, unhealthy: no GPU"}})}));
  const std::string text = group_lines(group, plain_view());
  for (const char* line : {"  instance type p5: capacity, 3 failures in a row: none left; tried again in 1 min 20 s\n",
                           "  instance type p4: capacity, 1 failure in a row: none left; gpu-3 tries it now\n",
                           "no such type; stopped: mend the cluster file\n",
                           "  given up: gpu-9 (5 machines in a row, unhealthy: no GPU); muster replace tries again\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  EXPECT_EQ(text.find("last problem"), std::string::npos) << "it says no more than the lines before";
}

TEST(RenderStatus, SaysOfNodesThatLeaveForWhatTheyWaitAndUntilWhen) {
  Value group = complete_group();
  group.set("Leaving", entries({Value::map({{"Nodes", "cpu-[1-2]"},
                                            {"Count", 2},
                                            {"Text", "to be removed (asked for by uid 0)"},
                                            {"JobsEach", 1},
                                            {"Until", now + 7200}}),
                                Value::map({{"Nodes", "cpu-3"}, {"Count", 1}, {"Text", "to be rebooted (x)"}})}));
  group.set("Drained", entries({Value::map({{"Nodes", "cpu-4"}, {"Count", 1}, {"Text", "bad fan"}})}));
  const std::string text = group_lines(group, plain_view());
  for (const char* line :
       {"  cpu-[1-2] to be removed (asked for by uid 0): waits for 1 job each, which ends with it in 2 h\n",
        "  cpu-3 to be rebooted (x)\n", "  drained by somebody else and left alone: cpu-4 (bad fan)\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST(RenderStatus, SaysHowMuchOfTheBoundOnWaitingIsSpent) {
  Value group = gathering_group();
  group.set("IdleNodeHours", Value::map({{"Spent", 0.25}, {"Limit", 64.0}, {"ReachedAt", now + 3600}}));
  EXPECT_NE(group_lines(group, plain_view())
                .find("  0.2 of 64.0 node hours are spent on waiting, all of them in 1 h: then "
                      "the same\n"),
            std::string::npos);
}

TEST(RenderStatus, ShowsTheTypesOfGroupsWhereNotAllRunJobs) {
  Value login = complete_group();
  login.set("Name", "front");
  login.set("NodeType", "login");
  login.set("Partition", "");
  const std::string text = render_status(status({complete_group(), login}), plain_view());
  EXPECT_NE(text.find("cpu    compute  batch      InService"), std::string::npos) << text;
  EXPECT_NE(text.find("front  login               InService"), std::string::npos) << text;
}

TEST(RenderStatus, SaysWhyAClusterFailedAndWhatOfSlurmDoesNotFit) {
  Value answer = status({complete_group()});
  answer.set("ClusterStatus", "Failed");
  answer.set("ClusterStatusReason", "controller group ctl: no capacity");
  answer.set("Warnings", entries({"partition gpu is DOWN"}));
  EXPECT_EQ(render_status(answer, plain_view())
                .find("quickstart  Failed\ncontroller group ctl: no capacity\nSlurm 22.05.8 is up\nwarning: partition "
                      "gpu is DOWN\n"),
            0U);
}

TEST(RenderStatus, FitsNarrowTerminalsInColourToo) {
  Value group = gathering_group();
  group.set("RolledBack", std::string(100, 'x') + " y " + std::string(100, 'z'));
  View view = view_of_width(80);
  view.style.colour = true;
  std::string line;
  for (const char c : render_status(status({group}), view)) {
    if (c != '\n') {
      line += c;
      continue;
    }
    for (std::size_t at = line.find('\033'); at != std::string::npos; at = line.find('\033'))
      line.erase(at, line.find('m', at) - at + 1);
    EXPECT_LE(line.size(), 80U) << line;
    line.clear();
  }
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

TEST(RenderPlan, SaysWhatIsDoneAndWhenTheNextThingFallsDue) {
  const Value answer = Value::map({{"Actions", entries({"launch a machine for gpu-2 (attempt 3)"})},
                                   {"Events", entries({Value::map({{"EventLevel", "Warn"},
                                                                   {"NodeName", "gpu-1"},
                                                                   {"Kind", "MachineFailed"},
                                                                   {"Description", "attempt 1: boot-timeout"}})})},
                                   {"NextDeadline", now + 60}});
  EXPECT_EQ(render_plan(answer, plain_view()),
            "to do with the next pass:\n"
            "  launch a machine for gpu-2 (attempt 3)\n"
            "and told as events:\n"
            "  Warn gpu-1 MachineFailed: attempt 1: boot-timeout\n"
            "the next thing falls due by itself in 1 min (clock+60)\n");
  EXPECT_EQ(render_plan(Value::map(), plain_view()), "nothing to do now\n");
}

TEST(RenderResync, NamesTheGroupsThatCouldNotBeListed) {
  const Value answer = Value::map(
      {{"DryRun", true},
       {"Failed", entries({Value::map({{"InstanceGroupName", "gpu"}, {"Message", "no answer within 5 s"}})})}});
  EXPECT_EQ(render_resync(answer, plain_view()),
            "group gpu: its machines could not be listed: no answer within 5 s\n"
            "nothing to do now\n"
            "dry run: nothing was changed\n");
}

Value ending_nodes() {
  const auto node = [](const char* name, int jobs, const char* drained, const char* instance, const char* step) {
    return Value::map({{"Name", name},
                       {"Group", "gpu"},
                       {"Jobs", jobs},
                       {"DrainedByOther", drained},
                       {"InstanceId", instance},
                       {"Step", step}});
  };
  return Value::map(
      {{"Nodes", entries({node("gpu-1", 2, "", "i-1", "in-service"), node("gpu-2", 0, "bad fan", "i-2", "ready"),
                          node("gpu-3", 0, "", "", "waiting"), node("gpu-4", 0, "", "", "departed")})}});
}

TEST(RenderEnding, NamesBusyNodesAndThoseThatSomebodyElseHasDrained) {
  const Value status_answer =
      Value::map({{"Groups", entries({Value::map({{"Name", "gpu"}, {"DrainTimeout", 7200.0}})})}});
  EXPECT_EQ(render_ending(Ending::deletion, ending_nodes(), {}, status_answer, plain_view()),
            "2 nodes (gpu-[1-2]): closed to new jobs now; their machines are ended when free of jobs, after 2 h at the "
            "latest\n"
            "1 node (gpu-3) without a machine\n"
            "jobs run on 1 node (gpu-1)\n"
            "drained by somebody else, and ended all the same: 1 node (gpu-2), \"bad fan\"\n");
  EXPECT_EQ(render_ending(Ending::replacement, ending_nodes(), {"gpu-1"}, status_answer, plain_view()),
            "1 node (gpu-1): closed to new jobs now; its machine is ended, with what is on its disks, and another one "
            "launched when free of jobs, after 2 h at the latest\n"
            "jobs run on 1 node (gpu-1)\n");
}

TEST(TimeLimit, IsReadAsOtherCommandsAndAsOurFilesHaveIt) {
  using std::chrono::minutes;
  using std::chrono::seconds;
  EXPECT_EQ(read_time_limit("30m"), logic::Duration{minutes{30}});
  EXPECT_EQ(read_time_limit("90s"), logic::Duration{seconds{90}});
  EXPECT_EQ(read_time_limit("2h"), logic::Duration{minutes{120}});
  EXPECT_EQ(read_time_limit("15 min"), logic::Duration{minutes{15}});
  for (const char* wrong : {"", "soon", "30", "-1s", "5 weeks", "30m 5s"})
    EXPECT_FALSE(read_time_limit(wrong)) << wrong;
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
  const auto jobs = jobs_to_release(answer);
  ASSERT_TRUE(jobs);
  ASSERT_EQ(jobs->size(), 1U);
  EXPECT_EQ((*jobs)[0].integer_or("id"), 7);
  EXPECT_FALSE(jobs_to_release(Value::map())) << "unknown is not none";
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
