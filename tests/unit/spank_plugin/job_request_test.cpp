// SPDX-License-Identifier: GPL-2.0-or-later
#include "spank_plugin/job_request.hpp"

#include <gtest/gtest.h>

#include <array>

namespace muster::spank_plugin {
namespace {

/// As slurm_init_job_desc_msg leaves it: nothing given.
job_desc_msg_t empty_job() {
  job_desc_msg_t job{};
  job.min_nodes = NO_VAL;
  job.num_tasks = NO_VAL;
  job.ntasks_per_node = NO_VAL16;
  job.min_cpus = NO_VAL;
  return job;
}

TEST(JobRequest, OfAJobThatAsksForNothingIsEmpty) {
  const auto request = job_request_of(empty_job());
  EXPECT_TRUE(request.partitions.empty());
  EXPECT_FALSE(request.min_nodes);
  EXPECT_FALSE(request.num_tasks);
  EXPECT_FALSE(request.ntasks_per_node);
  EXPECT_FALSE(request.min_cpus);
  EXPECT_EQ(request.features, "");
  EXPECT_EQ(request.gres, "");
  EXPECT_EQ(request.min_count.kind, logic::MinCountOption::Kind::unset);
}

TEST(JobRequest, TakesWhatTheJobGives) {
  auto job = empty_job();
  std::string partitions = "gpu,cpu";
  std::string features = "h100";
  std::string gres = "gres:gpu:4";
  job.partition = partitions.data();
  job.features = features.data();
  job.tres_per_node = gres.data();
  job.min_nodes = 4;
  job.num_tasks = 32;
  job.ntasks_per_node = 8;
  job.min_cpus = 64;
  const auto request = job_request_of(job);
  EXPECT_EQ(request.partitions, (std::vector{logic::PartitionName("gpu"), logic::PartitionName("cpu")}));
  EXPECT_EQ(request.features, "h100");
  EXPECT_EQ(request.gres, "gres:gpu:4");
  EXPECT_EQ(request.min_nodes, 4);
  EXPECT_EQ(request.num_tasks, 32);
  EXPECT_EQ(request.ntasks_per_node, 8);
  EXPECT_EQ(request.min_cpus, 64);
}

logic::MinCountOption min_count_from(std::string entry) {
  auto job = empty_job();
  std::string other = "SPANK_OTHER=1";
  std::array<char*, 3> environment = {other.data(), nullptr, entry.data()};
  job.spank_job_env = environment.data();
  job.spank_job_env_size = environment.size();
  return job_request_of(job).min_count;
}

TEST(JobRequest, FindsMinCountInTheSpankEnvironment) {
  EXPECT_EQ(min_count_from("_SLURM_SPANK_OPTION_muster_min_count=7").number, 7);
  EXPECT_EQ(min_count_from("_SLURM_SPANK_OPTION_muster_min_count=auto").kind, logic::MinCountOption::Kind::automatic);
}

TEST(JobRequest, IgnoresAMinCountThatTheClientCannotHaveSent) {
  EXPECT_EQ(min_count_from("_SLURM_SPANK_OPTION_muster_min_count=many").kind, logic::MinCountOption::Kind::unset);
  EXPECT_EQ(min_count_from("_SLURM_SPANK_OPTION_other_min_count=7").kind, logic::MinCountOption::Kind::unset);
}

}  // namespace
}  // namespace muster::spank_plugin
