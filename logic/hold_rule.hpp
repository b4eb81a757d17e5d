// SPDX-License-Identifier: GPL-2.0-or-later
//
// The hold rule: may a job go to Slurm's queue now, must it wait for nodes that are still to come, or can it never fit?
// The job_submit module asks at submission, the SPANK module in the client, musterd when it decides what to release, so
// all three answer alike. Where anything is unclear the job is admitted: the gate on the nodes is what enforces.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logic/gate_table.hpp"
#include "logic/names.hpp"
#include "logic/result.hpp"
#include "logic/time.hpp"

namespace muster::logic {

/// The option --min-count.
struct MinCountOption {
  enum class Kind {
    unset,      ///< wait for the nodes that the job itself needs
    automatic,  ///< "auto": and for the group's MinCount, if nodes were lost since it opened
    none,       ///< "none": wait only while the group is gathering
    number,     ///< and for this many open nodes
  };
  Kind kind = Kind::unset;
  int number = 0;
};

/// "auto", "none", or a number from 1 to 1000000.
Result<MinCountOption> parse_min_count(std::string_view text);

/// What a job asks for, in Slurm's own words; "not given" is an empty optional, list or text.
struct JobRequest {
  std::vector<PartitionName> partitions;  ///< empty: the table's default partition
  std::optional<int> min_nodes;
  std::optional<int> num_tasks;
  std::optional<int> ntasks_per_node;
  std::optional<int> min_cpus;  ///< of the whole job
  std::string features;         ///< --constraint
  std::string gres;             ///< of one node: "gres:gpu:h100:4", "gres/gpu:4", "gpu:4"
  MinCountOption min_count;
};

struct HoldDecision {
  enum class Verdict { admit, hold, refuse };
  Verdict verdict = Verdict::admit;
  std::string text;  ///< for the user, one line; empty when admitted
};

/// A table older than this admits everybody, so that a dead or removed musterd holds nobody.
inline constexpr Duration gate_table_lifetime = std::chrono::minutes{5};

/// Decides; does not act. Same input, same decision.
HoldDecision decide_hold(const GateTable& table, const JobRequest& job, Time now);

/// "gpu,cpu" as a list; empty parts are left out.
std::vector<PartitionName> split_partitions(std::string_view text);

/// The AdminComment of a held job. It begins with held_comment_prefix, for people, and carries the job's own
/// --min-count for musterd, which has to decide again when nodes arrive.
std::string held_comment(const HoldDecision& decision, const MinCountOption& min_count);
inline constexpr std::string_view held_comment_prefix = "muster: held";
/// The --min-count in such a comment; unset if it has none.
MinCountOption min_count_in_comment(std::string_view comment);

}  // namespace muster::logic
