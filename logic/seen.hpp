// SPDX-License-Identifier: GPL-2.0-or-later
//
// What was observed: Slurm's node records, the provider's machines, the answers of calls, the nodes' reports. An absent
// observation is null, never an empty list: unknown is not empty.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "logic/ledger.hpp"
#include "logic/names.hpp"
#include "logic/node_messages.hpp"
#include "logic/time.hpp"

namespace muster::logic {

/// Slurm's base node states as far as they matter here (slurm.h, enum node_states).
enum class NodeBase { unknown, down, idle, allocated, mixed, error, future };

struct SeenNode {
  NodeBase base = NodeBase::unknown;
  std::string base_text;  ///< as Slurm names it
  bool drained = false;   ///< flag DRAIN
  bool not_responding = false;
  bool invalid_registration = false;
  bool completing = false;
  bool failing = false;    ///< flag FAIL
  bool rebooting = false;  ///< REBOOT_REQUESTED or REBOOT_ISSUED
  std::string reason;
  std::int64_t reason_uid = -1;  ///< who set it; -1: there is none
  Time reason_time = no_time;
  std::string address;
  std::int64_t cpus = 0;
  std::int64_t memory_mib = 0;
  std::string gres;
  std::string features;
  std::string partitions;            ///< comma list
  Time boot_time = no_time;          ///< of the machine, as its slurmd told
  std::string version;               ///< of its slurmd
  Time slurmd_start_time = no_time;  ///< no_time: no slurmd has registered under this record

  /// A slurmd has registered and the record is no FUTURE one.
  bool is_registered() const { return base != NodeBase::future && slurmd_start_time != no_time; }
  bool has_jobs() const { return base == NodeBase::allocated || base == NodeBase::mixed || completing; }
  /// "IDLE+DRAIN": for people.
  std::string state_text() const;
};

using SeenNodes = std::unordered_map<NodeName, SeenNode>;

/// A machine as the provider lists it.
struct SeenMachine {
  InstanceId instance;
  LaunchToken token;
  std::string state;  ///< pending, running, stopping, terminated
  std::string address;
};

/// A pending or running job of which we may have to know.
struct SeenJob {
  JobId id = 0;
  std::int64_t user_id = -1;
  std::string partition;
  std::string state;  ///< PENDING, RUNNING, ...
  std::int64_t priority = 0;
  std::string reason;
  std::optional<int> min_nodes;
  std::optional<int> num_tasks;
  std::string features;
  std::string gres;  ///< tres_per_node
  std::string admin_comment;
  Time submitted_at = no_time;
  std::vector<NodeName> nodes;           ///< those it has, also while it is completing
  std::vector<NodeName> required_nodes;  ///< those it asks for by name
};

struct SeenReservation {
  std::string name;
  std::vector<NodeName> nodes;
  Time start = no_time;
  Time end = no_time;  ///< no_time: without end
};

/// The outcome of a launch call.
struct LaunchResult {
  LaunchToken token;
  FailureClass failure = FailureClass::none;
  bool outcome_unknown = false;  ///< timed out, died or answered rubbish: the machine may exist
  std::string message;
  InstanceId instance;
  std::string address;
};

struct TerminateResult {
  InstanceId instance;
  bool ok = false;
  std::string message;
};

/// The outcome of a reboot call: the provider took it or refused it. That the machine restarted shows in its boot id.
struct RebootResult {
  InstanceId instance;
  bool ok = false;
  std::string message;
};

/// registration: slurm_conf. The include file that musterd writes, and the slurm.conf around it, as they are on disk.
struct SeenNodeFile {
  std::string path;
  std::string slurm_conf;        ///< the path of the file that is to include it
  std::string text;              ///< what stands in it; empty: there is none yet
  std::string trouble;           ///< why nothing may be written to it; empty = all is well
  std::string write_trouble;     ///< why the last writing failed
  bool is_included = false;      ///< slurm.conf has its Include line
  std::set<NodeName> others;     ///< nodes with a line elsewhere in slurm.conf
  std::optional<int> max_nodes;  ///< MaxNodeCount, where slurm.conf says one
};

struct Seen {
  /// A complete, fresh read of all records, FUTURE ones too; null = unknown. Shared, so that an unchanged read costs
  /// nothing.
  std::shared_ptr<const SeenNodes> nodes;
  /// By group: the machines of the last good list, and when it was asked for. A group that is absent was not listed.
  struct Machines {
    Time listed_at = no_time;
    std::vector<SeenMachine> machines;
  };
  std::map<GroupName, Machines> machines;
  std::optional<std::vector<SeenJob>> jobs;
  std::optional<std::vector<SeenReservation>> reservations;
  PartitionName default_partition;   ///< empty = not known
  bool slurm_rereads_nodes = false;  ///< "reconfigure" takes new node lines in (23.11 and later)
  std::optional<SeenNodeFile> node_file;
  bool slurm_takes_topology = false;  ///< node lines may have Topology= (25.05 and later)

  /// Calls that are under way or queued: not to be begun again.
  std::set<LaunchToken> launches_in_flight;
  std::set<InstanceId> terminations_in_flight;
  std::set<InstanceId> reboots_in_flight;

  /// What came in since the last pass.
  std::vector<LaunchResult> launch_results;
  std::vector<TerminateResult> terminate_results;
  std::vector<RebootResult> reboot_results;
  std::vector<NodeReport> reports;
  bool slurm_was_reconfigured = false;  ///< it took our last ReconfigureSlurm

  /// When machines were last heard, since listening_since: a machine that is not in it has been silent for so long.
  /// Null = nobody listens.
  const std::unordered_map<InstanceId, Time>* heard_at = nullptr;
  Time listening_since = no_time;
};

}  // namespace muster::logic
