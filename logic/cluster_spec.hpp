// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the admin wants: the content of cluster.yaml as plain data, and the one table of its keys. Parsing checks
// everything that needs no look at the world; what does (partitions, node names in Slurm, MaxNodeCount, the provider's
// program) is checked by check_against_slurm with what was seen.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logic/gres.hpp"
#include "logic/names.hpp"
#include "logic/result.hpp"
#include "logic/time.hpp"
#include "logic/value.hpp"

namespace muster::logic {

/// Where machines come from.
struct ProviderSpec {
  std::string name;
  std::string program;                 ///< absolute path
  std::vector<std::string> arguments;  ///< before the operation
  Duration list_lag{0};                ///< how long a launched machine may be missing from list
  Duration call_timeout{std::chrono::seconds{30}};
  Duration list_interval{std::chrono::seconds{30}};
  int max_launches = 8;           ///< launch calls at once, per group
  bool idempotent_launch = true;  ///< asked again with the same token it makes no second machine
  Place place;
  Place program_place;
};

/// HyperPod's SlurmConfig.NodeType. Controllers and login nodes are machines of the cluster that run no job: they have
/// no record in Slurm.
enum class NodeType { compute, login, controller };
std::string_view node_type_name(NodeType type);

/// What becomes of an open group that falls below its MinCount.
enum class GatePolicy {
  once,   ///< nothing: it opens once (HyperPod: MinCount is a one-time gate)
  floor,  ///< it is closed to new jobs until MinCount are ready again
};

/// How nodes come into Slurm.
enum class Registration {
  dynamic,     ///< records made as FUTURE, slurmd -Z
  slurm_conf,  ///< lines in an include file of slurm.conf that musterd writes
};

/// An instance group: HyperPod's ClusterInstanceGroupSpecification as far as Slurm is concerned.
struct GroupSpec {
  GroupName name;
  NodeType node_type = NodeType::compute;
  PartitionName partition;  ///< empty unless node_type is compute
  /// The counts as the file has them. What holds now is GroupRecord::counts: commands and rollbacks change it.
  int target_count = 0;  ///< InstanceCount
  int min_count = 0;     ///< MinInstanceCount, 0..target_count
  std::string provider;
  std::vector<std::string> instance_types;  ///< in the order of preference; empty = the provider knows
  std::string node_prefix;
  int cpus = 1;
  std::int64_t memory_mib = 1;
  std::vector<GresWant> gres;
  std::vector<std::string> features;  ///< the user's; the group's own (group_feature) comes on top
  Duration deadline{std::chrono::hours{3}};
  Duration boot_timeout{std::chrono::minutes{15}};
  Duration register_timeout{std::chrono::minutes{5}};
  Duration settle_time{std::chrono::seconds{5}};
  Duration drain_timeout{std::chrono::hours{24}};  ///< how long a node that is to go may finish its jobs
  Duration prune_after{std::chrono::minutes{10}};  ///< how long the record of a departed node is kept
  double max_idle_node_hours = 0;                  ///< bound on the cost of gathering; 0 = none
  GatePolicy gate = GatePolicy::once;
  Registration registration = Registration::dynamic;
  std::vector<std::string> node_addresses;  ///< with slurm_conf: of the nodes 1, 2, ...
  std::string topology;                     ///< Slurm's Topology= of its nodes; empty = none
  Place place;
  Place partition_place;
  Place target_place;
  Place prefix_place;

  /// NodeName of a slot; index counts from 1.
  NodeName node_name(int index) const { return NodeName{node_prefix + std::to_string(index)}; }
  /// The node feature, and so the NodeSet, that all nodes of the group carry.
  std::string group_feature() const { return "muster_" + name.str(); }
  /// Its nodes have records in Slurm and take jobs.
  bool joins_slurm() const { return node_type == NodeType::compute; }
};

struct ClusterSpec {
  std::string name;
  std::string file_name;  ///< as given, for sentences
  std::map<std::string, ProviderSpec> providers;
  std::vector<GroupSpec> groups;  ///< in the order of the file

  const GroupSpec* find_group(const GroupName& group) const;
};

/// One key of a YAML file: the man page and its test read this table too.
struct KeyInfo {
  std::string_view section;  ///< "cluster", "provider", "group", "node"
  std::string_view key;
  std::string_view type;      ///< "text", "count", "duration", "size", "list", "map", "path", "flag", "port"
  std::string_view fallback;  ///< default as written, or "required"
  std::string_view meaning;
};
const std::vector<KeyInfo>& cluster_file_keys();

/// The specification, or all that is wrong with it: one sentence a line, each with FILE:LINE:COLUMN, what was expected
/// and what was found. base_directory resolves relative provider programs.
Result<ClusterSpec> parse_cluster_spec(const Value& document, const std::string& file_name,
                                       const std::string& base_directory);

/// "gpu:h100:4,shard:8" as Slurm's Gres= wants it; empty for none.
std::string gres_text(const std::vector<GresWant>& gres);
/// Slurm's Feature= of a group's nodes.
std::string feature_text(const GroupSpec& group);
/// The part of a node line that slurmd -Z repeats in --conf: "CPUs=2 RealMemory=1000 Gres=... Feature=...".
std::string node_conf(const GroupSpec& group);
/// The lines that slurm.conf needs for this cluster.
std::string slurm_conf_lines(const ClusterSpec& spec);

}  // namespace muster::logic
