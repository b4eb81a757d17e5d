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
  terminating,  ///< the machine is being ended; afterwards waiting
};
std::string_view slot_state_name(SlotState state);
SlotState slot_state_from_name(std::string_view name);

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
  SlotState state = SlotState::waiting;
  Time state_since = no_time;
  Time deadline = no_time;  ///< absolute; what happens then depends on the state
  Time retry_at = no_time;  ///< waiting, launching, terminating: not before this

  int attempt = 0;    ///< launches begun for this slot so far; part of the token
  LaunchToken token;  ///< of the present attempt
  InstanceId instance;
  std::string address;  ///< numeric, as the machine's reports come from it or the provider says
  Time launched_at = no_time;
  Time missing_since = no_time;  ///< the first list in a row that lacked the machine

  int failures = 0;  ///< failed attempts in a row, of whatever class
  FailureClass last_failure = FailureClass::none;
  std::string last_problem;  ///< one sentence; cleared when the slot is ready
  Time last_problem_at = no_time;

  int slurmd_start = 0;         ///< how many slurmd starts were allowed on this machine; noded starts up to this number
  std::int64_t generation = 0;  ///< grows when what noded is to be told has changed

  std::string boot_id;    ///< of the machine that reports
  std::string node_step;  ///< as reported: introduced, checking, ready, starting, running, failed
  std::string node_message;
  int node_slurmd_start = 0;  ///< the start number that its slurmd was started for
  bool node_slurmd_alive = false;
  std::vector<NodeCheck> checks;

  std::string our_reason;      ///< the drain reason that we set last; empty = none of ours stands
  std::string foreign_reason;  ///< somebody else's drain reason; the node is theirs until they lift it

  friend bool operator==(const SlotRecord& a, const SlotRecord& b);
};

/// HyperPod's InstanceGroupStatus.
enum class GroupStatus { creating, updating, in_service, degraded, failed, deleting };
std::string_view group_status_name(GroupStatus status);
GroupStatus group_status_from_name(std::string_view name);

struct GroupRecord {
  GroupName name;
  GroupStatus status = GroupStatus::creating;
  std::string status_reason;
  bool gate_open = false;  ///< jobs may run on its nodes; opens once (HyperPod: MinCount is a one-time gate)
  Time created_at = no_time;
  Time gate_opened_at = no_time;
  Time deadline = no_time;     ///< while gathering; absolute, survives restarts
  bool deadline_told = false;  ///< the event about the missed deadline was written
  int launches = 0;
  int retries = 0;
  std::vector<Time> arrivals;          ///< when nodes became ready, the newest 16
  std::map<InstanceId, Time> orphans;  ///< machines of attempts that are over, and the list that first showed them
  std::vector<SlotRecord> slots;       ///< in the order of their index

  friend bool operator==(const GroupRecord& a, const GroupRecord& b);
};
/// Equal in all but their slots.
bool is_same_group_state(const GroupRecord& a, const GroupRecord& b);

struct Ledger {
  std::map<GroupName, GroupRecord> groups;
  /// Held jobs that somebody released before we did; told once.
  std::set<JobId> released_by_others;
};

}  // namespace muster::logic
