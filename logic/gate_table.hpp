// SPDX-License-Identifier: GPL-2.0-or-later
//
// The gate table: what musterd tells both Slurm plugins, in one small text file. This file owns the format; who writes
// it to disk and who reads it back does so elsewhere. A torn, oversized or foreign text is an Error, never a guess.
//
//   muster-gate 1
//   time 1764576000
//   cluster quickstart
//   default gpu
//   partition gpu 0
//   group gpu gpu gathering 3 0 4 6 2 1000 h100,muster_gpu gpu:h100:4 1764586800
//   end 6 8c1f6b5a9d3e0f42
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "logic/names.hpp"
#include "logic/result.hpp"
#include "logic/time.hpp"

namespace muster::logic {

/// A partition that has at least one group of ours.
struct GatePartition {
  PartitionName name;
  int foreign_nodes = 0;  ///< nodes of the partition that no group of ours made
};

/// One group as seen through one partition.
struct GateGroup {
  PartitionName partition;
  GroupName group;
  bool open = false;  ///< false: gathering
  int ready = 0;      ///< nodes that are ready, opened or not
  int open_nodes = 0;
  int min_count = 0;
  int target_count = 0;
  int cpus = 0;                       ///< of one node
  std::int64_t memory_mib = 0;        ///< of one node
  std::vector<std::string> features;  ///< including muster_<group>
  std::vector<std::string> gres;      ///< "gpu:h100:4"
  Time deadline = no_time;
};

struct GateTable {
  Time time = no_time;  ///< when it was written, to the second
  std::string cluster;
  PartitionName default_partition;  ///< Slurm's default partition; empty = none, or not known
  std::vector<GatePartition> partitions;
  std::vector<GateGroup> groups;
};

/// What a reader accepts at most.
inline constexpr std::size_t gate_table_size_limit = std::size_t{4} * 1024 * 1024;
inline constexpr std::size_t gate_table_line_limit = 20000;
inline constexpr std::size_t gate_table_word_limit = 4096;

/// The text of a table. A byte that would break a line apart (white space, control characters) is written as '?'.
std::string write_gate_table(const GateTable& table);

/// Reads what write_gate_table wrote. Throws nothing but std::bad_alloc.
Result<GateTable> read_gate_table(std::string_view text);

}  // namespace muster::logic
