// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the Slurm helper answers, as facts. The helper is ours, but an answer that lacks what it must have is an error,
// not an empty list: unknown is not empty.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "logic/cluster_spec.hpp"
#include "logic/result.hpp"
#include "logic/seen.hpp"
#include "logic/value.hpp"

namespace muster::logic {

Result<SeenNodes> read_seen_nodes(const Value& answer);
Result<std::vector<SeenJob>> read_seen_jobs(const Value& answer);

/// What slurm.conf says, as far as it bears on us.
struct SlurmFacts {
  std::string version;
  std::string cluster_name;
  std::int64_t slurm_user_uid = 0;
  int max_node_count = 0;
  std::vector<std::string> controller_hosts;
  int controller_port = 6817;
  bool is_configless = false;  ///< SlurmctldParameters has enable_configless
  std::string gres_types;
  struct Partition {
    PartitionName name;
    std::string nodes_spec;
    std::string state;
    bool is_default = false;
  };
  std::vector<Partition> partitions;
  std::vector<std::string> node_sets;  ///< names, where the helper can tell them

  PartitionName default_partition() const;  ///< empty if there is none
  /// What slurmd needs as --conf-server: "HOST:PORT"; empty where slurmctld serves no configuration.
  std::string conf_server() const;
};
Result<SlurmFacts> read_slurm_facts(const Value& config_answer, const Value& partitions_answer);

/// What of the specification Slurm cannot take: a partition that it lacks, names that exist already and are not in the
/// ledger, names that equal a NodeSet or partition, MaxNodeCount too small, GRES that
/// GresTypes lacks. One sentence a line, with FILE:LINE:COLUMN.
Status check_against_slurm(const ClusterSpec& spec, const Ledger& ledger, const SlurmFacts& facts,
                           const SeenNodes& nodes);

/// What looks wrong but may be meant.
std::vector<std::string> warnings_against_slurm(const ClusterSpec& spec, const SlurmFacts& facts);

}  // namespace muster::logic
