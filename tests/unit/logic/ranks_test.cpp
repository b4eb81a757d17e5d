// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/ranks.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace muster::logic {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

Environment with(Variables variables) {
  return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

/// The third of four nodes of step 2 of job 71, as srun tells it.
Variables third_of_four() {
  return {{"SLURM_JOB_ID", "71"},
          {"SLURM_STEP_ID", "2"},
          {"SLURM_STEP_NUM_NODES", "4"},
          {"SLURM_NODEID", "2"},
          {"SLURM_STEP_NODELIST", "gpu-[3,1,4-5]"},
          {"SLURM_STEP_TASKS_PER_NODE", "1(x4)"}};
}

std::map<std::string, std::string> as_map(const std::vector<std::pair<std::string, std::string>>& pairs) {
  return {pairs.begin(), pairs.end()};
}

TEST(FindPlace, TakesItsPlaceFromTheSlurmStep) {
  const auto place = find_place({}, with(third_of_four()));
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_TRUE(place->in_slurm_step);
  EXPECT_EQ(place->node_rank, 2);
  EXPECT_EQ(place->node_count, 4);
  EXPECT_EQ(place->master_address, "gpu-3") << "first of the list as Slurm orders it";
  EXPECT_EQ(place->run_id, "71.2");
}

TEST(FindPlace, AcceptsTheUsualTorchrunLineInAStep) {
  PlaceOptions options;
  options.nodes = NodeRange{4, 4};
  options.run_id = "my-run";
  const auto place = find_place(options, with(third_of_four()));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->run_id, "my-run");
  EXPECT_TRUE(place->warnings.empty());
}

TEST(FindPlace, RefusesANodeCountThatTheStepDoesNotHave) {
  PlaceOptions options;
  options.nodes = NodeRange{2, 2};
  const auto place = find_place(options, with(third_of_four()));
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error().message, "--nnodes=2, but the Slurm step has 4; leave --nnodes out or set srun --nodes");
}

TEST(FindPlace, RunsAnElasticRangeWithTheStepsNodesAndSaysSo) {
  PlaceOptions options;
  options.nodes = NodeRange{2, 8};
  const auto place = find_place(options, with(third_of_four()));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->node_count, 4);
  EXPECT_EQ(place->warnings.size(), 1U);
}

TEST(FindPlace, TrustsSlurmMoreThanANodeRankThatTheBatchScriptFilledIn) {
  PlaceOptions options;
  options.node_rank = 0;
  const auto place = find_place(options, with(third_of_four()));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->node_rank, 2);
}

TEST(FindPlace, RefusesSeveralTasksPerNode) {
  for (const char* tasks : {"2(x4)", "2,1", "8", "1,2(x3)"}) {
    Variables variables = third_of_four();
    variables["SLURM_STEP_TASKS_PER_NODE"] = tasks;
    EXPECT_FALSE(find_place({}, with(variables))) << tasks;
  }
}

TEST(FindPlace, TakesABatchScriptForNoStep) {
  Variables variables = third_of_four();
  variables["SLURM_STEP_ID"] = "4294967291";
  const auto place = find_place({}, with(variables));
  ASSERT_TRUE(place);
  EXPECT_FALSE(place->in_slurm_step);
  EXPECT_EQ(place->node_count, 1);
}

TEST(FindPlace, RefusesVariablesThatContradictThemselves) {
  for (const auto& [name, value] : {std::pair{"SLURM_NODEID", "4"},
                                    {"SLURM_NODEID", "x"},
                                    {"SLURM_STEP_NUM_NODES", "0"},
                                    {"SLURM_STEP_NODELIST", "gpu-[1-2]"},
                                    {"SLURM_STEP_NODELIST", "gpu-["},
                                    {"SLURM_JOB_ID", "-1"}}) {
    Variables variables = third_of_four();
    variables[name] = value;
    EXPECT_FALSE(find_place({}, with(variables))) << name << "=" << value;
  }
}

TEST(FindPlace, StandsAloneOutsideSlurmLikeTorchrun) {
  const auto place = find_place({}, with({}));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->node_count, 1);
  EXPECT_EQ(place->master_address, "127.0.0.1");
  EXPECT_EQ(place->master_port, 29500);
  EXPECT_EQ(place->run_id, "none");
}

TEST(FindPlace, NeedsRankAndAddressForSeveralNodesOutsideSlurm) {
  PlaceOptions options;
  options.nodes = NodeRange{2, 2};
  EXPECT_FALSE(find_place(options, with({})));
  options.node_rank = 1;
  options.master_address = "head";
  const auto place = find_place(options, with({}));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->node_rank, 1);
  EXPECT_EQ(place->master_address, "head");
  options.node_rank = 2;
  EXPECT_FALSE(find_place(options, with({})));
}

TEST(FindPlace, LeavesThePortToTheCallerWhenStandalone) {
  PlaceOptions options;
  options.standalone = true;
  const auto place = find_place(options, with(third_of_four()));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->node_count, 1);
  EXPECT_EQ(place->master_port, 0);
}

TEST(StepPort, DiffersBetweenStepsAndStaysBelowLinuxOutgoingPorts) {
  std::set<int> ports;
  for (std::uint32_t step = 0; step < 30; ++step) ports.insert(step_port(71, step));
  EXPECT_EQ(ports.size(), 30U);
  for (const std::uint32_t job : {0U, 1U, 71U, 4294967295U}) {
    EXPECT_GE(step_port(job, 0), 15000);
    EXPECT_LT(step_port(job, 0), 30000);
  }
}

TEST(WorkerCount, ReadsNumbersAndWords) {
  EXPECT_EQ(*worker_count("4", 64, 8), 4);
  EXPECT_EQ(*worker_count("cpu", 64, 8), 64);
  EXPECT_EQ(*worker_count("gpu", 64, 8), 8);
  EXPECT_EQ(*worker_count("auto", 64, 8), 8);
  EXPECT_EQ(*worker_count("auto", 64, 0), 64);
  for (const char* wrong : {"0", "-1", "", "four", "4x", "99999999999"})
    EXPECT_FALSE(worker_count(wrong, 64, 8)) << wrong;
  EXPECT_FALSE(worker_count("gpu", 64, 0));
}

TEST(GpusInEnvironment, CountsWhatSlurmGave) {
  EXPECT_EQ(gpus_in_environment(with({{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}})), 4);
  EXPECT_EQ(gpus_in_environment(with({{"CUDA_VISIBLE_DEVICES", "GPU-8f3a,MIG-1"}})), 2);
  EXPECT_EQ(gpus_in_environment(with({{"CUDA_VISIBLE_DEVICES", ""}})), 0);
  EXPECT_EQ(gpus_in_environment(with({{"CUDA_VISIBLE_DEVICES", "0,-1,2"}})), 1) << "CUDA stops at -1";
  EXPECT_EQ(gpus_in_environment(with({{"SLURM_GPUS_ON_NODE", "8"}})), 8);
  EXPECT_EQ(gpus_in_environment(with({})), std::nullopt);
}

TEST(WorkerEnvironment, CarriesEverythingThatTorchrunPromises) {
  LaunchPlace place;
  place.node_rank = 2;
  place.node_count = 4;
  place.master_address = "gpu-3";
  place.master_port = 17000;
  place.run_id = "71.2";
  const auto variables = as_map(worker_environment(place, {8, "default"}, 3, "/logs/3/error.json", with({})));
  const std::map<std::string, std::string> expected{{"LOCAL_RANK", "3"},
                                                    {"RANK", "19"},
                                                    {"GROUP_RANK", "2"},
                                                    {"ROLE_RANK", "19"},
                                                    {"ROLE_NAME", "default"},
                                                    {"LOCAL_WORLD_SIZE", "8"},
                                                    {"WORLD_SIZE", "32"},
                                                    {"GROUP_WORLD_SIZE", "4"},
                                                    {"ROLE_WORLD_SIZE", "32"},
                                                    {"MASTER_ADDR", "gpu-3"},
                                                    {"MASTER_PORT", "17000"},
                                                    {"TORCHELASTIC_RESTART_COUNT", "0"},
                                                    {"TORCHELASTIC_MAX_RESTARTS", "0"},
                                                    {"TORCHELASTIC_RUN_ID", "71.2"},
                                                    {"TORCHELASTIC_USE_AGENT_STORE", "False"},
                                                    {"TORCHELASTIC_ERROR_FILE", "/logs/3/error.json"},
                                                    {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"},
                                                    {"OMP_NUM_THREADS", "1"}};
  EXPECT_EQ(variables, expected);
}

TEST(WorkerEnvironment, LeavesAloneWhatTheUserSet) {
  const auto variables = as_map(worker_environment(
      {}, {2, "default"}, 0, "", with({{"OMP_NUM_THREADS", "6"}, {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "0"}})));
  EXPECT_EQ(variables.count("OMP_NUM_THREADS"), 0U);
  EXPECT_EQ(variables.count("TORCH_NCCL_ASYNC_ERROR_HANDLING"), 0U);
}

TEST(WorkerEnvironment, GivesOneWorkerAllThreads) {
  EXPECT_EQ(as_map(worker_environment({}, {1, "default"}, 0, "", with({}))).count("OMP_NUM_THREADS"), 0U);
}

TEST(NodeRange, ReadsANumberOrARange) {
  EXPECT_EQ(parse_node_range("4")->low, 4);
  EXPECT_EQ(parse_node_range("2:4")->high, 4);
  for (const char* wrong : {"", "0", "4:2", "a", "1:", ":2", "1:2:3", "4 "})
    EXPECT_FALSE(parse_node_range(wrong)) << wrong;
}

TEST(StreamChoice, ReadsOneNumberForAllOrAMap) {
  EXPECT_TRUE(StreamChoice::parse("3")->of(5).err);
  const auto some = StreamChoice::parse("0:1,11:3");
  ASSERT_TRUE(some);
  EXPECT_TRUE(some->of(0).out);
  EXPECT_FALSE(some->of(0).err);
  EXPECT_FALSE(some->of(1).out);
  EXPECT_TRUE(some->of(11).err) << "ranks of two digits too";
  EXPECT_FALSE(StreamChoice::parse("0")->any());
  for (const char* wrong : {"", "4", "0:", "0:4", "0:1,", "a:1", "0:1,2"})
    EXPECT_FALSE(StreamChoice::parse(wrong)) << wrong;
}

TEST(RankList, ReadsRanks) {
  EXPECT_EQ(*parse_rank_list("0,2"), (std::vector<int>{0, 2}));
  EXPECT_TRUE(parse_rank_list("")->empty());
  EXPECT_FALSE(parse_rank_list("a"));
}

TEST(FillInRank, ReplacesEachMacro) {
  EXPECT_EQ(fill_in_rank("--out=${local_rank}/x${local_rank}", 3), "--out=3/x3");
  EXPECT_EQ(fill_in_rank("$local_rank", 3), "$local_rank");
}

}  // namespace
}  // namespace muster::logic
