// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/hold_rule.hpp"

#include <gtest/gtest.h>

namespace muster::logic {
namespace {

using Verdict = HoldDecision::Verdict;

const Time now = time_from_seconds(1764576000);

GateGroup group_of_six(bool open, int open_nodes) {
  GateGroup group;
  group.partition = PartitionName("gpu");
  group.group = GroupName("gpu");
  group.open = open;
  group.ready = open_nodes;
  group.open_nodes = open_nodes;
  group.min_count = 4;
  group.target_count = 6;
  group.cpus = 2;
  group.features = {"h100", "muster_gpu"};
  group.gres = {"gpu:h100:4"};
  return group;
}

GateTable table_with(std::vector<GateGroup> groups, int foreign_nodes = 0) {
  GateTable table;
  table.time = now;
  table.default_partition = PartitionName("gpu");
  table.partitions = {{PartitionName("gpu"), foreign_nodes}};
  table.groups = std::move(groups);
  return table;
}

GateTable gathering() { return table_with({group_of_six(false, 0)}); }
GateTable open_with(int nodes) { return table_with({group_of_six(true, nodes)}); }

JobRequest job_of(int nodes) {
  JobRequest job;
  job.partitions = {PartitionName("gpu")};
  job.min_nodes = nodes;
  return job;
}

JobRequest with_min_count(JobRequest job, std::string_view text) {
  job.min_count = *parse_min_count(text);
  return job;
}

Verdict verdict(const GateTable& table, const JobRequest& job) { return decide_hold(table, job, now).verdict; }

TEST(HoldRule, HoldsWhileTheGroupGathersAndSaysWhatIsThere) {
  const auto decision = decide_hold(gathering(), job_of(4), now);
  EXPECT_EQ(decision.verdict, Verdict::hold);
  EXPECT_EQ(decision.text,
            "muster: held until group gpu opens: 0 of 4 nodes ready (MinCount 4, target 6), job 4 nodes; "
            "see 'muster why JOBID'");
}

TEST(HoldRule, HoldsAJobOfOneNodeToo) { EXPECT_EQ(verdict(gathering(), job_of(1)), Verdict::hold); }

TEST(HoldRule, CountsReadyNodesOfAGatheringGroupInTheTextButNotAsOpen) {
  auto group = group_of_six(false, 0);
  group.ready = 3;
  const auto decision = decide_hold(table_with({group}), job_of(2), now);
  EXPECT_EQ(decision.verdict, Verdict::hold);
  EXPECT_NE(decision.text.find("3 of 4 nodes ready"), std::string::npos) << decision.text;
}

TEST(HoldRule, AdmitsWhatTheOpenNodesCanServe) {
  EXPECT_EQ(verdict(open_with(4), job_of(4)), Verdict::admit);
  EXPECT_EQ(decide_hold(open_with(4), job_of(4), now).text, "");
}

TEST(HoldRule, HoldsAJobOfMoreNodesThanAreOpenUntilTheyCome) {
  const auto decision = decide_hold(open_with(4), job_of(6), now);
  EXPECT_EQ(decision.verdict, Verdict::hold);
  EXPECT_EQ(decision.text,
            "muster: held until 6 nodes of group gpu are open: 4 now (target 6); see 'muster why JOBID'");
}

TEST(HoldRule, RefusesWhatTheTargetCanNeverServe) {
  const auto decision = decide_hold(open_with(6), job_of(7), now);
  EXPECT_EQ(decision.verdict, Verdict::refuse);
  EXPECT_EQ(decision.text,
            "muster: refused: the job asks for 7 nodes, partition gpu will never have more than 6 that fit "
            "(target of group gpu)");
}

TEST(HoldRule, AdmitsJobsOfOtherPartitions) {
  auto job = job_of(100);
  job.partitions = {PartitionName("cpu")};
  EXPECT_EQ(verdict(gathering(), job), Verdict::admit);
}

TEST(HoldRule, JudgesAJobWithoutPartitionByTheDefaultOne) {
  auto job = job_of(4);
  job.partitions.clear();
  EXPECT_EQ(verdict(gathering(), job), Verdict::hold);
  auto table = gathering();
  table.default_partition = PartitionName();
  EXPECT_EQ(verdict(table, job), Verdict::admit);
}

TEST(HoldRule, AdmitsByATableThatWasNotRefreshedForFiveMinutes) {
  EXPECT_EQ(decide_hold(gathering(), job_of(4), now + std::chrono::minutes(5)).verdict, Verdict::hold);
  EXPECT_EQ(decide_hold(gathering(), job_of(4), now + std::chrono::minutes(5) + Duration(1)).verdict, Verdict::admit);
}

TEST(HoldRule, AdmitsByATableFromTheFuture) {
  EXPECT_EQ(decide_hold(gathering(), job_of(4), now - std::chrono::minutes(6)).verdict, Verdict::admit);
}

TEST(HoldRule, HoldsAJobOfSeveralPartitionsOnlyIfNoneOfThemAdmits) {
  auto other = group_of_six(true, 6);
  other.partition = PartitionName("spot");
  other.group = GroupName("spot");
  auto table = table_with({group_of_six(false, 0), other});
  table.partitions.push_back({PartitionName("spot"), 0});
  auto job = job_of(4);
  job.partitions = {PartitionName("gpu"), PartitionName("spot")};
  EXPECT_EQ(verdict(table, job), Verdict::admit);
  table.groups[1].open = false;
  EXPECT_EQ(verdict(table, job), Verdict::hold);
}

TEST(HoldRule, RefusesAJobOfSeveralPartitionsOnlyIfAllOfThemRefuse) {
  auto small = group_of_six(true, 2);
  small.partition = PartitionName("small");
  small.target_count = 2;
  auto table = table_with({small, group_of_six(false, 0)});
  table.partitions.push_back({PartitionName("small"), 0});
  auto job = job_of(4);
  job.partitions = {PartitionName("small"), PartitionName("gpu")};
  EXPECT_EQ(verdict(table, job), Verdict::hold);
  job.min_nodes = 7;
  EXPECT_EQ(verdict(table, job), Verdict::refuse);
}

TEST(HoldRule, AddsUpTheGroupsOfAPartition) {
  auto second = group_of_six(true, 2);
  second.group = GroupName("gpu2");
  const auto table = table_with({group_of_six(true, 4), second});
  EXPECT_EQ(verdict(table, job_of(6)), Verdict::admit);
  EXPECT_EQ(verdict(table, job_of(12)), Verdict::hold);
  EXPECT_EQ(verdict(table, job_of(13)), Verdict::refuse);
}

TEST(HoldRule, LetsAnOpenGroupServeWhileAnotherGathers) {
  auto second = group_of_six(false, 0);
  second.group = GroupName("gpu2");
  EXPECT_EQ(verdict(table_with({group_of_six(true, 4), second}), job_of(4)), Verdict::admit);
}

TEST(HoldRule, NeverRefusesWherePartitionHasForeignNodes) {
  const auto table = table_with({group_of_six(false, 0)}, 3);
  EXPECT_EQ(verdict(table, job_of(3)), Verdict::admit);
  EXPECT_EQ(verdict(table, job_of(9)), Verdict::hold);
  EXPECT_EQ(verdict(table, job_of(10)), Verdict::admit);
}

TEST(HoldRule, WaitsForTheJobsOwnMinCount) {
  const auto job = with_min_count(job_of(1), "5");
  EXPECT_EQ(verdict(open_with(4), job), Verdict::hold);
  EXPECT_EQ(verdict(open_with(5), job), Verdict::admit);
}

TEST(HoldRule, RefusesAMinCountAboveTheTargetAndNamesTheOption) {
  const auto decision = decide_hold(open_with(6), with_min_count(job_of(1), "7"), now);
  EXPECT_EQ(decision.verdict, Verdict::refuse);
  EXPECT_EQ(decision.text.find("muster: refused: --min-count asks for 7 nodes"), 0U) << decision.text;
}

TEST(HoldRule, WaitsForTheGroupsMinCountAgainWhenNodesWereLostOnlyIfAsked) {
  EXPECT_EQ(verdict(open_with(3), job_of(2)), Verdict::admit);
  EXPECT_EQ(verdict(open_with(3), with_min_count(job_of(2), "auto")), Verdict::hold);
  EXPECT_EQ(verdict(open_with(4), with_min_count(job_of(2), "auto")), Verdict::admit);
}

TEST(HoldRule, WithMinCountNoneHoldsOnlyWhileTheGroupGathers) {
  EXPECT_EQ(verdict(gathering(), with_min_count(job_of(6), "none")), Verdict::hold);
  EXPECT_EQ(verdict(open_with(4), with_min_count(job_of(6), "none")), Verdict::admit);
  EXPECT_EQ(verdict(open_with(4), with_min_count(job_of(7), "none")), Verdict::refuse);
}

TEST(HoldRule, WorksOutNodesOfAJobThatGivesOnlyTasks) {
  JobRequest job;
  job.partitions = {PartitionName("gpu")};
  job.num_tasks = 40;
  job.ntasks_per_node = 8;
  EXPECT_EQ(verdict(open_with(4), job), Verdict::hold);
  EXPECT_EQ(verdict(open_with(5), job), Verdict::admit);
}

TEST(HoldRule, WorksOutNodesOfAJobThatGivesOnlyCpus) {
  JobRequest job;
  job.partitions = {PartitionName("gpu")};
  job.min_cpus = 9;  // two on each node
  EXPECT_EQ(verdict(open_with(4), job), Verdict::hold);
  EXPECT_EQ(verdict(open_with(5), job), Verdict::admit);
  job.min_cpus = 13;
  EXPECT_EQ(verdict(open_with(6), job), Verdict::refuse);
}

TEST(HoldRule, TreatsAJobThatGivesNothingAsOneNode) {
  EXPECT_EQ(verdict(open_with(1), JobRequest{}), Verdict::admit);
  EXPECT_EQ(verdict(open_with(0), JobRequest{}), Verdict::hold);
}

TEST(HoldRule, SaysMinCountTheGroupHasEvenIfItIsAboveTheTarget) {
  auto group = group_of_six(true, 6);
  group.min_count = 8;
  EXPECT_EQ(verdict(table_with({group}), with_min_count(job_of(2), "auto")), Verdict::hold);
}

struct Fit {
  const char* name;
  const char* features;
  const char* gres;
  bool fits;  ///< held by the gathering group if it fits; otherwise Slurm judges alone
};

class HoldRuleFit : public testing::TestWithParam<Fit> {};

TEST_P(HoldRuleFit, HoldsOnlyJobsThatTheGroupCouldServe) {
  auto job = job_of(1);
  job.features = GetParam().features;
  job.gres = GetParam().gres;
  EXPECT_EQ(verdict(gathering(), job), GetParam().fits ? Verdict::hold : Verdict::admit);
}

INSTANTIATE_TEST_SUITE_P(
    , HoldRuleFit,
    testing::Values(Fit{"Feature", "h100", "", true}, Fit{"GroupFeature", "h100&muster_gpu", "", true},
                    Fit{"OtherFeature", "a100", "", false}, Fit{"OneFeatureTooMany", "h100&ib", "", false},
                    Fit{"AlternativesAreLeftToSlurm", "a100|v100", "", true},
                    Fit{"CountsAreLeftToSlurm", "[a100*2]", "", true}, Fit{"Gres2205", "", "gres:gpu:h100:4", true},
                    Fit{"Gres2411", "", "gres/gpu:4", true}, Fit{"GresWithEqualSign", "", "gres/gpu:h100=4", true},
                    Fit{"GresByName", "", "gpu", true}, Fit{"GresByType", "", "gpu:h100", true},
                    Fit{"OtherType", "", "gres:gpu:a100:1", false}, Fit{"MoreThanANodeHas", "", "gres:gpu:5", false},
                    Fit{"OtherGres", "", "gres:fpga:1", false}, Fit{"NoGres", "", "gres:none", true},
                    Fit{"Licence", "", "license/matlab:1", true}, Fit{"JustAPrefix", "", "gres", true},
                    Fit{"TwoGresOneMissing", "", "gres:gpu:1,gres:fpga:1", false}),
    [](const auto& row) { return row.param.name; });

TEST(MinCountOption, TakesANumberAutoOrNone) {
  EXPECT_EQ(parse_min_count("7")->number, 7);
  EXPECT_EQ(parse_min_count("auto")->kind, MinCountOption::Kind::automatic);
  EXPECT_EQ(parse_min_count("none")->kind, MinCountOption::Kind::none);
}

TEST(MinCountOption, RefusesAnythingElseInOneLine) {
  for (const char* text : {"", "0", "-1", "1.5", "4x", " 4", "AUTO", "1000001", "99999999999999999999"}) {
    const auto option = parse_min_count(text);
    ASSERT_FALSE(option) << text;
    EXPECT_EQ(option.error().message,
              "--min-count: expected a number from 1 to 1000000, auto or none, got '" + std::string(text) + "'");
  }
}

TEST(HeldComment, CarriesTheMinCountOfTheJob) {
  const auto decision = decide_hold(gathering(), job_of(4), now);
  for (const char* text : {"5", "auto", "none"}) {
    const auto option = *parse_min_count(text);
    const auto comment = held_comment(decision, option);
    EXPECT_EQ(comment.find(held_comment_prefix), 0U) << comment;
    EXPECT_EQ(min_count_in_comment(comment).kind, option.kind) << comment;
    EXPECT_EQ(min_count_in_comment(comment).number, option.number) << comment;
  }
  EXPECT_EQ(held_comment(decision, {}),
            "muster: held until group gpu opens: 0 of 4 nodes ready (MinCount 4, target 6), job 4 nodes");
  EXPECT_EQ(min_count_in_comment(held_comment(decision, {})).kind, MinCountOption::Kind::unset);
}

TEST(HeldComment, OfSomebodyElseHasNoMinCount) {
  EXPECT_EQ(min_count_in_comment("please: min_count=7").kind, MinCountOption::Kind::unset);
  EXPECT_EQ(min_count_in_comment("muster: held; min_count=seven").kind, MinCountOption::Kind::unset);
}

TEST(Partitions, AreSplitAtCommas) {
  EXPECT_EQ(split_partitions("gpu,,cpu,"), (std::vector{PartitionName("gpu"), PartitionName("cpu")}));
  EXPECT_TRUE(split_partitions("").empty());
}

}  // namespace
}  // namespace muster::logic
