// SPDX-License-Identifier: GPL-2.0-or-later
//
// The planner: what to do now, given what is wanted, what was decided before and what is seen. It decides and does not
// act: same input, same plan, so that dry runs print it and tests drive it with a clock turned by hand.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "logic/cluster_spec.hpp"
#include "logic/ledger.hpp"
#include "logic/seen.hpp"

namespace muster::logic {

// ---- Actions. Those on Slurm carry host lists: one call each, whatever the number of nodes. ----

/// Makes node records as State=FUTURE: hidden, but their features and GRES already count for sbatch.
struct CreateRecords {
  GroupName group;
  std::vector<NodeName> names;
  std::string line;  ///< the rest of the node line
};
/// Deletes hidden records of ours: of departed nodes, or damaged ones that are made again in the same pass.
struct DeleteRecords {
  GroupName group;
  std::vector<NodeName> names;
};
/// Closes nodes to jobs.
struct DrainNodes {
  GroupName group;
  std::vector<NodeName> names;
  std::string reason;
};
/// Opens nodes to jobs.
struct UndrainNodes {
  GroupName group;
  std::vector<NodeName> names;
  /// Slurm uses idle nodes at once; those that have jobs it asks to register again before they get more.
  bool are_idle = false;
};
/// Brings opened nodes back that Slurm itself has set DOWN and that respond again.
struct ResumeNodes {
  GroupName group;
  std::vector<NodeName> names;
};
/// Puts records without a machine back to FUTURE. That clears DRAIN (a FUTURE node takes no job); they are drained
/// next.
struct ReturnToFuture {
  GroupName group;
  std::vector<NodeName> names;
};
/// Tells Slurm where nodes are; names and addresses pair up one to one.
struct SetAddresses {
  GroupName group;
  std::vector<NodeName> names;
  std::vector<std::string> addresses;
};
struct LaunchMachine {
  GroupName group;
  NodeName name;
  LaunchToken token;
  int attempt = 0;
  std::string instance_type;
};
/// Restarts a machine; its disks stay.
struct RebootMachine {
  GroupName group;
  NodeName name;
  InstanceId instance;
  LaunchToken token;
};
struct TerminateMachine {
  GroupName group;
  NodeName name;
  InstanceId instance;
  LaunchToken token;
};
/// registration: slurm_conf. Replaces musterd's include file of slurm.conf, whole.
struct WriteNodeFile {
  std::string text;
};
/// Tells slurmctld to read its files again.
struct ReconfigureSlurm {};
struct ReleaseJobs {
  struct Item {
    JobId job = 0;
    std::string admin_comment;
  };
  std::vector<Item> jobs;
};

using Action =
    std::variant<CreateRecords, DeleteRecords, DrainNodes, UndrainNodes, ResumeNodes, ReturnToFuture, SetAddresses,
                 LaunchMachine, RebootMachine, TerminateMachine, WriteNodeFile, ReconfigureSlurm, ReleaseJobs>;

// ---- Events: one fact each, with its reason. ----

enum class EventLevel { info, warn, error };
std::string_view event_level_name(EventLevel level);

struct Event {
  EventLevel level = EventLevel::info;
  std::string kind;  ///< "NodeReady"
  GroupName group;
  NodeName node;
  InstanceId instance;
  std::string text;
};

struct Plan {
  std::vector<Action> actions;
  Ledger ledger;
  std::vector<Event> events;
  Time next_deadline = no_time;  ///< the next time at which something falls due by itself; no_time if nothing does
};

/// Decides; does not act. Same input, same plan. Groups are planned one by one and do not see each other.
Plan plan(const ClusterSpec& wanted, const Ledger& ledger, const Seen& seen, Time now);

// ---- The rules that others ask too ----

/// The NodeAddr of a slot without a machine: numeric, and answers nothing (RFC 5737), so that Slurm never resolves a
/// name or reaches a host by accident. One for all slots: slurmctld (22.05 to 26.05) ends with "fatal: NodeAddr count
/// must equal that of NodeName" when a line has neither one address nor as many as names.
inline constexpr const char* placeholder_address = "192.0.2.1";
/// The reason on nodes of a group that gathers.
std::string gathering_reason(const GroupName& group);
/// Slurm has the node in the wanted shape and it answers; drained or not does not matter here. If not, says why.
bool is_in_shape(const GroupSpec& spec, const SeenNode& node, std::string* why_not = nullptr);
/// The drain on this node was set by somebody else.
bool is_foreign_drain(const SlotRecord& slot, const SeenNode& node);
/// The reason without what Slurm (24.11, 26.05) appends to whatever stands there when a node goes down.
std::string_view reason_as_set(std::string_view reason);
/// A reason that Slurm itself sets at a registration it does not like; it says nothing about somebody's will.
bool is_slurm_fault(std::string_view reason);
/// "gpu-[1-4]": for people.
std::string names_text(const std::vector<NodeName>& names);
/// Machines of this group may be launched: controllers come first.
bool may_launch(const ClusterSpec& wanted, const Ledger& ledger, const GroupSpec& group);
/// Nodes that count towards MinCount: ready or open, not drained by somebody else, and not about to go.
int ready_count(const GroupRecord& group);
/// The provider may have machines of this group, whether its slots know of them or not: it is to be listed.
bool may_have_machines(const GroupRecord& group);
/// Nodes that are open to jobs.
int open_count(const GroupRecord& group);
/// One line for people: "launch gpu-2 (attempt 3)".
std::string describe(const Action& action);

}  // namespace muster::logic
