// SPDX-License-Identifier: GPL-2.0-or-later
#include "spank_plugin/job_request.hpp"

#include <limits>
#include <optional>
#include <string_view>

namespace muster::spank_plugin {
namespace {

// How Slurm carries the SPANK option --min-count of the plugin "muster" to slurmctld.
constexpr std::string_view min_count_variable = "_SLURM_SPANK_OPTION_muster_min_count=";

/// Slurm writes "not given" as NO_VAL or, in some clients, as 0.
std::optional<int> given(std::uint32_t number) {
  if (number == 0 || number >= static_cast<std::uint32_t>(std::numeric_limits<int>::max())) { return std::nullopt; }
  return static_cast<int>(number);
}

std::optional<int> given(std::uint16_t number) {
  if (number == 0 || number == NO_VAL16 || number == INFINITE16) { return std::nullopt; }
  return number;
}

std::string text_of(const char* text) { return text == nullptr ? std::string{} : std::string(text); }

logic::MinCountOption min_count_of(const job_desc_msg_t& job) {
  if (job.spank_job_env == nullptr) { return {}; }
  for (std::uint32_t index = 0; index < job.spank_job_env_size; ++index) {
    if (job.spank_job_env[index] == nullptr) { continue; }
    const std::string_view entry = job.spank_job_env[index];
    if (entry.substr(0, min_count_variable.size()) != min_count_variable) { continue; }
    // The client has refused what is no number, auto or none. Whoever came past it waits like everybody else.
    const auto option = logic::parse_min_count(entry.substr(min_count_variable.size()));
    return option ? *option : logic::MinCountOption{};
  }
  return {};
}

}  // namespace

logic::JobRequest job_request_of(const job_desc_msg_t& job) {
  logic::JobRequest request;
  request.partitions = logic::split_partitions(text_of(job.partition));
  request.min_nodes = given(job.min_nodes);
  request.num_tasks = given(job.num_tasks);
  request.ntasks_per_node = given(job.ntasks_per_node);
  request.min_cpus = given(job.min_cpus);
  request.features = text_of(job.features);
  request.gres = text_of(job.tres_per_node);
  request.min_count = min_count_of(job);
  return request;
}

}  // namespace muster::spank_plugin
