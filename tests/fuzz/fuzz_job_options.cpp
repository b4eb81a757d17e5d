// SPDX-License-Identifier: GPL-2.0-or-later
//
// What users write: --min-count, --constraint, --gres and -p, as they reach slurmctld; and AdminComments.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "logic/gate_table.hpp"
#include "logic/hold_rule.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace logic = muster::logic;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto cut = text.find('\n');
  const auto first = text.substr(0, cut);
  const auto second = cut == std::string_view::npos ? std::string_view{} : text.substr(cut + 1);

  logic::GateTable table;
  table.partitions = {{logic::PartitionName("gpu"), 0}};
  logic::GateGroup group;
  group.partition = logic::PartitionName("gpu");
  group.group = logic::GroupName("gpu");
  group.target_count = 4;
  group.features = {"h100"};
  group.gres = {std::string(second), "gpu:h100:4"};
  table.groups = {group};

  logic::JobRequest job;
  job.partitions = logic::split_partitions(second);
  job.partitions.emplace_back("gpu");
  job.features = first;
  job.gres = first;
  if (const auto option = logic::parse_min_count(first)) { job.min_count = *option; }
  const auto decision = logic::decide_hold(table, job, table.time);
  const auto comment = logic::held_comment(decision, job.min_count);
  if (decision.verdict == logic::HoldDecision::Verdict::hold &&
      logic::min_count_in_comment(comment).kind != job.min_count.kind) {
    std::abort();
  }
  (void)logic::min_count_in_comment(text);
  return 0;
}
