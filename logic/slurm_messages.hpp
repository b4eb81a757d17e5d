// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the Slurm helper answers, as facts. The helper is ours, but an answer that lacks what it must have is an error,
// not an empty list: unknown is not empty.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "logic/cluster_spec.hpp"
#include "logic/head_role.hpp"
#include "logic/result.hpp"
#include "logic/seen.hpp"
#include "logic/value.hpp"

namespace muster::logic {

Result<SeenNodes> read_seen_nodes(const Value& answer);
Result<std::vector<SeenJob>> read_seen_jobs(const Value& answer);
Result<std::vector<SeenReservation>> read_seen_reservations(const Value& answer);
Result<std::vector<Controller>> read_controllers(const Value& ping_answer);

/// What slurm.conf says, as far as it bears on us.
struct SlurmFacts {
  std::string version;         ///< of slurmctld
  std::string helper_version;  ///< the Slurm that our helper was built for
  std::string slurm_conf;      ///< the path that slurmctld reads
  std::string cluster_name;
  std::int64_t slurm_user_uid = 0;
  int max_node_count = 0;
  std::vector<std::string> controller_hosts;
  int controller_port = 6817;
  std::string gres_types;
  int return_to_service = 0;
  std::string job_submit_plugins;  ///< comma list, as plugin_dir is a colon list
  std::string plugin_dir;
  std::string plugstack;  ///< path of plugstack.conf
  std::string slurmctld_parameters;
  std::string scheduler_parameters;
  std::string select_type;
  std::string auth_type;
  std::string topology_plugin;
  std::string topology_param;
  std::string suspend_program;
  std::optional<int> suspend_time;  ///< seconds; nothing: nodes are never suspended
  std::string suspend_exc_nodes;
  std::string suspend_exc_parts;
  std::string suspend_exc_states;
  std::vector<std::string> reconfig_flags;  ///< KeepPartInfo, KeepPartState
  std::string enforce_part_limits;          ///< NO, ANY, ALL
  std::optional<int> slurmctld_timeout;     ///< seconds
  std::optional<int> slurmd_timeout;        ///< seconds
  std::optional<int> tree_width;
  struct Partition {
    PartitionName name;
    std::string nodes_spec;
    std::string nodes;  ///< those it has, as a host list
    std::string state;
    bool is_default = false;
    std::optional<int> suspend_time;  ///< its own, in seconds; nothing: the cluster's, unless it is never suspended
    bool is_never_suspended = false;
  };
  std::vector<Partition> partitions;
  std::vector<std::string> node_sets;  ///< names, where the helper can tell them

  PartitionName default_partition() const;  ///< empty if there is none
  bool is_configless() const;               ///< SlurmctldParameters has enable_configless
  bool rereads_nodes() const;  ///< "reconfigure" takes new node lines in (23.11 and later; 22.05 refuses, tried)
  /// Node lines may have Topology= (25.05 and later).
  bool takes_topology() const;
  /// What slurmd needs as --conf-server: "HOST:PORT" of each controller; empty where slurmctld serves no configuration.
  std::string conf_server() const;
};
Result<SlurmFacts> read_slurm_facts(const Value& config_answer, const Value& partitions_answer);

/// What of the specification Slurm cannot take: a partition that it lacks, names that exist already and are not in the
/// ledger, names that equal a NodeSet or partition, MaxNodeCount too small, GRES that
/// GresTypes lacks. One sentence a line, with FILE:LINE:COLUMN.
Status check_against_slurm(const ClusterSpec& spec, const Ledger& ledger, const SlurmFacts& facts,
                           const SeenNodes& nodes);
/// Whether MaxNodeCount has room for what a command adds; none is refused that adds nothing.
Status check_room(const ClusterSpec& spec, const Ledger& before, const Ledger& after, const SlurmFacts& facts,
                  const SeenNodes& nodes);

/// What looks wrong but may be meant.
std::vector<std::string> warnings_against_slurm(const ClusterSpec& spec, const SlurmFacts& facts);

}  // namespace muster::logic
