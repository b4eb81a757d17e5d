// SPDX-License-Identifier: GPL-2.0-or-later
//
// The ledger: what musterd has decided and must not forget. Plain data; musterd writes every change to disk before it
// acts on it. Ownership lives here: a drain, an address or a machine is ours only if the ledger says so.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "logic/names.hpp"
#include "logic/time.hpp"

namespace muster::logic {

/// What kind of failure an attempt met; it decides when, and how often, there is another one (see retry_policy.hpp).
enum class FailureClass {
  none,
  capacity,
  quota,
  configuration,
  transient,
  boot_timeout,
  never_registered,
  lost,
  unhealthy
};
std::string_view failure_class_name(FailureClass failure);
FailureClass failure_class_from_name(std::string_view name);

/// Where a slot's machine is on its way. booting and registering have a deadline of their own; launching and
/// terminating are calls of the provider, which its call_timeout ends.
enum class SlotState {
  waiting,      ///< no machine; the next attempt comes at retry_at, once the record is seen FUTURE+DRAIN
  launching,    ///< the launch is written down under its token; its outcome is not known yet
  booting,      ///< the machine exists; its noded has not yet passed the checks
  registering,  ///< noded may start slurmd; Slurm does not have the node yet, or not in shape
  settling,     ///< in Slurm, responding, in shape; stays so for settle_time before it counts
  ready,        ///< counts towards MinCount; closed to jobs
  in_service,   ///< open to jobs
  rebooting,    ///< the provider was asked to restart the machine; afterwards booting
  terminating,  ///< the machine is being ended; afterwards waiting
};
std::string_view slot_state_name(SlotState state);
SlotState slot_state_from_name(std::string_view name);

/// What an operator, or a lower target, wants of a slot. Its node is closed at once, its jobs may end until
/// drain_deadline.
enum class Wish {
  keep,
  remove,   ///< end the machine; the record is deleted after the group's prune_after
  replace,  ///< end the machine and launch another one
  reboot,   ///< restart the machine
};
std::string_view wish_name(Wish wish);
Wish wish_from_name(std::string_view name);

/// TargetCount and MinCount.
struct Counts {
  int target = 0;
  int min = 0;
  friend bool operator==(const Counts& a, const Counts& b) { return a.target == b.target && a.min == b.min; }
  friend bool operator!=(const Counts& a, const Counts& b) { return !(a == b); }
};

/// One check of noded, with its evidence.
struct NodeCheck {
  std::string name;
  bool ok = false;
  std::string text;
  friend bool operator==(const NodeCheck& a, const NodeCheck& b) {
    return a.name == b.name && a.ok == b.ok && a.text == b.text;
  }
};

/// A slot: one NodeName of a group, kept through all machines that ever stand behind it (HyperPod: NodeLogicalId).
struct SlotRecord {
  NodeName name;
  int index = 0;  ///< counts from 1; the number in the name
  SlotState state = SlotState::waiting;
  Time state_since = no_time;
  Time deadline = no_time;  ///< absolute; what happens then depends on the state
  Time retry_at = no_time;  ///< waiting, launching, terminating: not before this

  Wish wish = Wish::keep;
  bool by_name = false;     ///< the wish names this slot; else the planner chose it and may choose again
  std::string wish_reason;  ///< who wants it and why, for people
  Time wish_since = no_time;
  Time drain_deadline = no_time;  ///< absolute; then its jobs are not waited for any longer

  int attempt = 0;            ///< launches begun for this slot so far; part of the token
  std::string instance_type;  ///< of the present attempt
  LaunchToken token;          ///< of the present attempt
  InstanceId instance;
  std::string address;  ///< numeric, as the machine's reports come from it or the provider says
  Time launched_at = no_time;
  Time missing_since = no_time;  ///< the first list in a row that lacked the machine

  int failures = 0;  ///< failed attempts in a row, of whatever class
  FailureClass last_failure = FailureClass::none;
  std::string last_problem;  ///< one sentence; cleared when the slot is ready
  Time last_problem_at = no_time;
  bool given_up = false;  ///< failed the same way too often; tried again when an operator asks

  int slurmd_start = 0;         ///< how many slurmd starts were allowed on this machine; noded starts up to this number
  std::int64_t generation = 0;  ///< grows when what noded is to be told has changed

  std::string boot_id;          ///< of the machine that reports
  std::string earlier_boot_id;  ///< the one before; a boot that is over does not report again
  std::string refused_boot_id;  ///< of another machine that reports under this one's instance id
  std::string node_step;        ///< as reported: introduced, checking, ready, starting, running, failed
  std::string node_message;
  int node_slurmd_start = 0;  ///< the start number that its slurmd was started for
  bool node_slurmd_alive = false;
  std::vector<NodeCheck> checks;

  bool has_record = false;     ///< its record in Slurm was made by us; another one of that name is somebody else's node
  int mends = 0;               ///< of its record in a row that did not make it as it was to be
  Time mended_at = no_time;    ///< when its record, which was not as it had been made, was last made again
  std::string our_reason;      ///< the drain reason that we set last; empty = none of ours stands
  std::string lifted_reason;   ///< our last drain that we lifted; a slurmctld that lost its newest state brings it back
  std::string foreign_reason;  ///< somebody else's drain reason; the node is theirs until they lift it
  bool record_is_over = false;  ///< departed for so long that its record is to be deleted
  std::string refused_action;   ///< an "Action:" reason that was not understood and has been told

  friend bool operator==(const SlotRecord& a, const SlotRecord& b);
};

/// HyperPod's InstanceGroupStatus.
enum class GroupStatus { creating, updating, in_service, degraded, failed, deleting };
std::string_view group_status_name(GroupStatus status);
GroupStatus group_status_from_name(std::string_view name);

/// Why nodes that become ready are kept closed.
enum class Gathering {
  no,        ///< they are opened as they come
  creating,  ///< a new group whose MinCount is not ready yet (status Creating)
  updating,  ///< MinCount was raised above what is ready (status Updating)
  floor,     ///< gate: floor, and too many were lost (status Degraded)
};
std::string_view gathering_name(Gathering gathering);
Gathering gathering_from_name(std::string_view name);

/// Trouble with getting machines of one instance type, in one group. A type without trouble has no record.
struct LaunchTrouble {
  FailureClass failure = FailureClass::none;
  int failures = 0;          ///< in a row; launches that were under way together count once
  Time failed_at = no_time;  ///< the last failure; only a launch that began later proves that the trouble is over
  Time retry_at = no_time;   ///< until then none is launched, and then one, the probe
  NodeName probe;            ///< the slot that tries; empty = none at the moment
  bool stopped = false;      ///< will not go well before somebody changes something: no more tries
  std::string problem;       ///< the last one, for people
  friend bool operator==(const LaunchTrouble& a, const LaunchTrouble& b);
};

/// A machine of an attempt that is over.
struct Orphan {
  Time since = no_time;     ///< the list that showed it first
  int tries = 0;            ///< to end it
  Time retry_at = no_time;  ///< the next one, should it still be listed
  friend bool operator==(const Orphan& a, const Orphan& b) {
    return a.since == b.since && a.tries == b.tries && a.retry_at == b.retry_at;
  }
};

struct GroupRecord {
  GroupName name;
  GroupStatus status = GroupStatus::creating;
  std::string status_reason;
  Counts counts;   ///< what is wanted now: the newest of file, command and rollback
  Counts restore;  ///< while gathering: the counts of the last InService, to which a missed deadline returns
  Gathering gathering = Gathering::creating;
  bool gate_open = false;  ///< it has been InService: jobs may run on those of its nodes that are open
  Time created_at = no_time;
  Time gate_opened_at = no_time;
  Time gathering_since = no_time;
  Time deadline = no_time;       ///< while creating or updating; absolute, survives restarts
  Duration idle_spent{0};        ///< node time, in this gathering, of machines that are gone again
  bool floor_is_waived = false;  ///< gate: floor, opened by an operator: it counts again when it has been reached
  std::string rolled_back;       ///< why it was rolled back; empty = it was not, or the counts were changed since
  std::string deleting;          ///< who wants it gone; empty = nobody
  bool deleted = false;          ///< nothing of it is left; stays until a cluster file names it no more, or anew
  int launches = 0;
  int retries = 0;
  std::vector<Time> arrivals;  ///< when nodes became ready, the newest 16
  std::map<InstanceId, Orphan> orphans;
  std::map<std::string, LaunchTrouble> troubles;  ///< by instance type
  std::vector<SlotRecord> slots;                  ///< in the order of their index

  friend bool operator==(const GroupRecord& a, const GroupRecord& b);
};
/// Equal in all but their slots.
bool is_same_group_state(const GroupRecord& a, const GroupRecord& b);

/// The cluster as a whole.
struct ClusterRecord {
  Time in_service_at = no_time;  ///< first InService: one controller, and one login node where there are any
  std::string failure;           ///< why it could not be created; empty = it was, or still may be
  std::string deleting;          ///< who wants it gone; empty = nobody
  /// registration: slurm_conf. The file has changed and Slurm was not yet told, with success, to read its files again;
  /// when it was last told, and how often since; what an operator was told to do where that is not enough.
  bool reconfigure_owed = false;
  Time reconfigured_at = no_time;
  int reconfigures = 0;
  std::string node_file_needs;
  friend bool operator==(const ClusterRecord& a, const ClusterRecord& b);
};

struct Ledger {
  std::map<GroupName, GroupRecord> groups;
  /// Held jobs that somebody released before we did; told once.
  std::set<JobId> released_by_others;
  ClusterRecord cluster;
  friend bool operator==(const Ledger& a, const Ledger& b) {
    return a.groups == b.groups && a.released_by_others == b.released_by_others && a.cluster == b.cluster;
  }
};

}  // namespace muster::logic
