// SPDX-License-Identifier: GPL-2.0-or-later
//
// muster status, muster nodes, muster plan: what is there and how far it is.
#include <algorithm>
#include <map>

#include "logic/field_reader.hpp"
#include "logic/head_role.hpp"
#include "logic/launch_trouble.hpp"
#include "logic/release.hpp"
#include "logic/view_parts.hpp"
#include "logic/views.hpp"

namespace muster::logic {
namespace {

struct SlotCounts {
  int pending = 0, launching = 0, booting = 0, registering = 0, ready = 0, in_service = 0, retrying = 0, rebooting = 0,
      terminating = 0, leaving = 0, departed = 0, given_up = 0, foreign = 0;

  void add(const SlotRecord& slot, Time now) {
    if (is_departed(slot)) {
      ++departed;
    } else if (slot.state == SlotState::terminating) {
      ++terminating;
    } else if (slot.state == SlotState::rebooting) {
      ++rebooting;
    } else if (is_leaving(slot)) {
      ++leaving;
    } else if (!slot.foreign_reason.empty()) {
      ++foreign;
    } else if (slot.given_up) {
      ++given_up;
    } else if (is_retrying(slot, now)) {
      ++retrying;
    } else {
      add_by_state(slot.state);
    }
  }

  Value view() const {
    return Value::map({{"Pending", pending},
                       {"Launching", launching},
                       {"Booting", booting},
                       {"Registering", registering},
                       {"Ready", ready},
                       {"InService", in_service},
                       {"Retrying", retrying},
                       {"GivenUp", given_up},
                       {"Rebooting", rebooting},
                       {"Leaving", leaving},
                       {"Terminating", terminating},
                       {"Departed", departed},
                       {"Foreign", foreign}});
  }

 private:
  void add_by_state(SlotState state) {
    switch (state) {
      case SlotState::waiting: ++pending; break;
      case SlotState::launching: ++launching; break;
      case SlotState::booting: ++booting; break;
      case SlotState::registering:
      case SlotState::settling: ++registering; break;
      case SlotState::ready: ++ready; break;
      case SlotState::in_service: ++in_service; break;
      case SlotState::rebooting: ++rebooting; break;
      case SlotState::terminating: ++terminating; break;
    }
  }
};

/// Nodes of which the same is to be said, as one entry: a group may have thousands.
class NodeEntries {
 public:
  /// key tells entries apart; the first node's members are the entry's.
  void add(const std::string& key, const NodeName& name, const std::function<Value()>& members) {
    auto [entry, is_new] = entries_.try_emplace(key);
    if (is_new) entry->second.members = members();
    entry->second.names.push_back(name);
  }
  Value view() && {
    Value list = Value::list();
    for (auto& [key, entry] : entries_) {
      Value item = Value::map({{"Nodes", names_text(entry.names)}, {"Count", entry.names.size()}});
      for (const auto& [name, member] : entry.members.members()) item.set(name, member);
      list.push(std::move(item));
    }
    return list;
  }

 private:
  struct Entry {
    Value members;
    std::vector<NodeName> names;
  };
  std::map<std::string, Entry> entries_;
};

Value unusable_view(const HeadState& state, const GroupSpec& spec, const GroupRecord& group, Time now) {
  NodeEntries entries;
  for (const SlotRecord& slot : group.slots) {
    const auto unusable = find_unusable(state, spec, slot, now);
    if (!unusable) continue;
    // Nodes of one switch fall within a minute of each other.
    const auto minute = to_milliseconds(unusable->since) / 60'000;
    entries.add(unusable->why + "\n" + std::to_string(minute), slot.name, [&] {
      return Value::map({{"Text", unusable->why}, {"Since", time_or_null(unusable->since)}});
    });
  }
  return std::move(entries).view();
}

Value leaving_view(const GroupRecord& group, const SlotWords& words, Time now) {
  NodeEntries entries;
  for (const SlotRecord& slot : group.slots) {
    if (!is_leaving(slot) || slot.state == SlotState::rebooting || slot.state == SlotState::terminating) continue;
    const int jobs = words.jobs_on(slot.name);
    const auto until = to_milliseconds(slot.drain_deadline) / 1000;
    const std::string text = "to be " + std::string(done_word(slot.wish)) + " (" + slot.wish_reason + ")";
    entries.add(text + "\n" + std::to_string(jobs) + "\n" + std::to_string(until), slot.name, [&] {
      const bool has_deadline = jobs > 0 && slot.drain_deadline > now;
      return Value::map({{"Text", text},
                         {"Wish", wish_name(slot.wish)},
                         {"JobsEach", jobs},
                         {"Until", has_deadline ? time_or_null(slot.drain_deadline) : Value()}});
    });
  }
  return std::move(entries).view();
}

Value drained_view(const GroupRecord& group) {
  NodeEntries entries;
  for (const SlotRecord& slot : group.slots) {
    if (slot.foreign_reason.empty()) continue;
    entries.add(slot.foreign_reason, slot.name, [&] { return Value::map({{"Text", slot.foreign_reason}}); });
  }
  return std::move(entries).view();
}

Value given_up_view(const GroupRecord& group) {
  NodeEntries entries;
  for (const SlotRecord& slot : group.slots) {
    if (!slot.given_up) continue;
    const std::string text = plural(slot.failures, "machine") + " in a row, " +
                             std::string(failure_class_name(slot.last_failure)) + ": " + slot.last_problem;
    entries.add(text, slot.name, [&] { return Value::map({{"Text", text}}); });
  }
  return std::move(entries).view();
}

Value troubles_view(const GroupRecord& group) {
  Value list = Value::list();
  for (const auto& [type, trouble] : group.troubles) {
    if (!holds_up_the_type(trouble)) continue;
    list.push(Value::map({{"InstanceType", type},
                          {"Class", failure_class_name(trouble.failure)},
                          {"Failures", trouble.failures},
                          {"Problem", trouble.problem},
                          {"FailedAt", time_or_null(trouble.failed_at)},
                          {"Stopped", trouble.stopped},
                          {"Probe", trouble.probe.str()},
                          {"RetryAt", trouble.stopped ? Value() : time_or_null(trouble.retry_at)},
                          {"Text", trouble_text(type, trouble)},
                          {"Advice", trouble.stopped ? trouble_next(trouble, no_time) : ""}}));
  }
  return list;
}

const SlotRecord* newest_problem(const GroupRecord& group) {
  const SlotRecord* newest = nullptr;
  for (const SlotRecord& slot : group.slots) {
    if (slot.last_problem.empty() || slot.last_failure == FailureClass::none) continue;
    if (!newest || slot.last_problem_at > newest->last_problem_at) newest = &slot;
  }
  return newest;
}

Value idle_view(const GroupSpec& spec, const GroupRecord& group, Time now) {
  const auto bound = idle_bound(spec, group, now);
  if (!bound) return {};
  return Value::map({{"Spent", bound->spent}, {"Limit", bound->limit}, {"ReachedAt", time_or_null(bound->reached_at)}});
}

Value group_view(const HeadState& state, const GroupSpec& spec, const GroupRecord& group, const SlotWords& words,
                 Time now) {
  SlotCounts counts;
  for (const SlotRecord& slot : group.slots) counts.add(slot, now);
  const auto rate = arrivals_per_minute(group, now);
  const auto estimate = estimated_open(group, now);
  const SlotRecord* problem = newest_problem(group);
  const bool waits_for_controller = group.deleting.empty() && !may_launch(*state.spec, state.ledger, spec);
  return Value::map(
      {{"Name", spec.name.str()},
       {"NodeType", node_type_name(spec.node_type)},
       {"Status", group_status_name(group.status)},
       {"StatusReason", group.status_reason},
       {"Gathering", gathering_name(group.gathering)},
       {"GateOpen", group.gate_open && group.gathering != Gathering::floor},
       {"Partition", spec.partition.str()},
       {"Ready", ready_count(group)},
       {"Usable", usable_count(state, spec, group, now)},
       {"Open", open_count(group)},
       {"MinCount", group.counts.min},
       {"TargetCount", group.counts.target},
       {"Counts", counts.view()},
       {"WaitsForController", waits_for_controller},
       {"Deadline", deadline_action(group).empty() ? Value() : time_or_null(group.deadline)},
       {"DeadlineAction", deadline_action(group)},
       {"IdleNodeHours", idle_view(spec, group, now)},
       {"RolledBack", group.rolled_back},
       {"Deleting", group.deleting},
       {"DrainTimeout", to_seconds(Time{} + spec.drain_timeout)},
       {"ArrivalsPerMinute", rate ? Value(*rate) : Value()},
       {"EstimatedOpen", estimate ? time_or_null(*estimate) : Value()},
       {"Troubles", troubles_view(group)},
       {"GivenUp", given_up_view(group)},
       {"Unusable", unusable_view(state, spec, group, now)},
       {"Leaving", leaving_view(group, words, now)},
       {"Drained", drained_view(group)},
       {"LastProblem", problem ? Value::map({{"Time", to_seconds(problem->last_problem_at)},
                                             {"Text", problem->name.str() + ": " + problem->last_problem}})
                               : Value()},
       {"Launches", group.launches},
       {"Retries", group.retries},
       {"OpenedAt", time_or_null(group.gate_opened_at)}});
}

int foreign_nodes(const HeadState& state) {
  if (!state.nodes) return 0;
  int ours = 0;
  for (const auto& [name, group] : state.ledger.groups) {
    for (const SlotRecord& slot : group.slots) ours += state.nodes->count(slot.name) > 0 ? 1 : 0;
  }
  return static_cast<int>(state.nodes->size()) - ours;
}

/// What of Slurm is not as the groups need it, or not known to us.
Value warnings_view(const HeadState& state) {
  Value warnings = Value::list();
  if (!state.spec) return warnings;
  std::set<PartitionName> told;
  for (const GroupSpec& spec : state.spec->groups) {
    if (!state.facts || !spec.joins_slurm() || !find_record(state, spec.name) || !told.insert(spec.partition).second)
      continue;
    const auto& partitions = state.facts->partitions;
    const auto partition = std::find_if(partitions.begin(), partitions.end(),
                                        [&](const auto& known) { return known.name == spec.partition; });
    if (partition == partitions.end()) {
      warnings.push("partition " + spec.partition.str() + " of group " + spec.name.str() +
                    " is not in Slurm any more: no job reaches its nodes");
    } else if (partition->state != "UP") {
      warnings.push("partition " + spec.partition.str() + " is " + partition->state +
                    ": whatever muster opens, no job starts there (scontrol update PartitionName=" +
                    spec.partition.str() + " State=UP)");
    }
  }
  if (const std::string& needed = state.ledger.cluster.node_file_needs; !needed.empty()) warnings.push(needed);
  std::map<std::string, std::vector<NodeName>> strange;
  for (const auto& [name, group] : state.ledger.groups) {
    for (const SlotRecord& slot : group.slots) {
      const SeenNode* node = find_seen(state, slot.name);
      if (node && node->base == NodeBase::unknown) strange[node->base_text].push_back(slot.name);
    }
  }
  for (const auto& [text, names] : strange) {
    warnings.push("Slurm has " + names_text(names) + " in state " + (text.empty() ? "UNKNOWN" : text) +
                  ", which muster does not know: taken for not usable");
  }
  return warnings;
}

Value held_jobs_view(const HeadState& state, Time now) {
  Value held = Value::list();
  std::optional<GateTable> table;
  for (const SeenJob& job : state.jobs) {
    if (!is_held_by_us(job, state.ledger)) continue;
    if (!table && state.spec && state.nodes) table = present_gate_table(state, now);
    const HoldDecision decision = table ? decide_hold(*table, request_of(job), now) : HoldDecision{};
    const bool may_go = table && decision.verdict == HoldDecision::Verdict::admit;
    held.push(Value::map({{"JobId", std::int64_t{job.id}},
                          {"UserId", job.user_id},
                          {"Partition", job.partition},
                          {"NodesNeeded", job.min_nodes ? Value(*job.min_nodes) : Value()},
                          {"HeldSince", time_or_null(job.submitted_at)},
                          {"Text", may_go                  ? "its nodes are open; it is released with the next pass"
                                   : decision.text.empty() ? job.admin_comment
                                                           : waits_until(decision)}}));
  }
  return held;
}

Value checks_view(const SlotRecord& slot) {
  Value checks = Value::list();
  for (const NodeCheck& check : slot.checks)
    checks.push(Value::map({{"Name", check.name}, {"Ok", check.ok}, {"Text", check.text}}));
  return checks;
}

Value node_view(const HeadState& state, const GroupSpec& spec, const GroupRecord& group, const SlotRecord& slot,
                const SlotWords& words, Time now) {
  const auto heard = heard_at(state, slot);
  const auto silence = silent_for(state, slot, now);
  const SeenNode* node = find_seen(state, slot.name);
  const auto unusable = find_unusable(state, spec, slot, now);
  const bool is_well = slot.state == SlotState::in_service && slot.wish == Wish::keep && slot.foreign_reason.empty() &&
                       !unusable && !silence;
  std::string message = words.message(spec, group, slot);
  if (unusable) message += "; not usable: " + unusable->why;
  if (silence) message.insert(0, "noded SILENT for " + duration_text(*silence) + "; ");
  return Value::map({{"Name", slot.name.str()},
                     {"Group", spec.name.str()},
                     {"Status", instance_status(slot, now)},
                     {"Step", is_departed(slot) ? "departed" : slot_state_name(slot.state)},
                     {"StepSince", time_or_null(slot.state_since)},
                     {"Deadline", time_or_null(slot.deadline)},
                     {"Wish", wish_name(slot.wish)},
                     {"Jobs", words.jobs_on(slot.name)},
                     {"AllWell", is_well},
                     {"InstanceId", slot.instance.str()},
                     {"InstanceType", slot.instance_type},
                     {"Address", slot.address},
                     {"Attempt", slot.attempt},
                     {"Slurm", !spec.joins_slurm() ? ""
                               : node              ? node->state_text()
                               : state.nodes       ? "no record"
                                                   : "unknown"},
                     {"Reason", node ? node->reason : ""},
                     {"DrainedByOther", slot.foreign_reason},
                     {"HeardAt", heard ? time_or_null(*heard) : Value()},
                     {"Message", message},
                     {"Checks", checks_view(slot)}});
}

std::string cluster_reason(const HeadState& state) {
  const ClusterRecord& cluster = state.ledger.cluster;
  if (!cluster.deleting.empty()) return "being deleted by " + cluster.deleting;
  if (cluster.in_service_at != no_time) return "";
  if (!cluster.failure.empty()) return cluster.failure;
  const bool has_controllers =
      std::any_of(state.spec->groups.begin(), state.spec->groups.end(),
                  [](const GroupSpec& spec) { return spec.node_type == NodeType::controller; });
  const bool has_logins = std::any_of(state.spec->groups.begin(), state.spec->groups.end(),
                                      [](const GroupSpec& spec) { return spec.node_type == NodeType::login; });
  if (!has_controllers && !has_logins) return "";
  return std::string("waits for ") + (has_controllers ? "its first controller" : "") +
         (has_controllers && has_logins ? " and " : "") + (has_logins ? "its first login node" : "");
}

}  // namespace

std::string_view cluster_status(const HeadState& state) {
  // A slurmctld that is away for a while is told beside the status, not by it.
  const ClusterRecord& cluster = state.ledger.cluster;
  if (!cluster.deleting.empty()) return "Deleting";
  if (cluster.in_service_at != no_time) return "InService";
  return cluster.failure.empty() ? "Creating" : "Failed";
}

Value status_view(const HeadState& state, Time now) {
  Value groups = Value::list();
  if (state.spec) {
    const SlotWords words(state, now);
    for (const GroupSpec& spec : state.spec->groups) {
      if (const GroupRecord* group = find_record(state, spec.name))
        groups.push(group_view(state, spec, *group, words, now));
    }
  }
  return Value::map({{"Cluster", state.spec ? state.spec->name : ""},
                     {"ClusterStatus", state.spec ? Value(cluster_status(state)) : Value()},
                     {"ClusterStatusReason", state.spec ? cluster_reason(state) : ""},
                     {"Time", to_seconds(now)},
                     {"Slurm", Value::map({{"State", state.slurm_since == no_time ? "unknown"
                                                     : state.slurm_is_up          ? "up"
                                                                                  : "down"},
                                           {"Version", state.facts ? state.facts->version : ""},
                                           {"Since", time_or_null(state.slurm_since)},
                                           {"Message", state.slurm_trouble}})},
                     {"Role", role_name(state.role)},
                     {"ActingHost", state.role.acting_host},
                     {"RoleMessage", standby_text(state.role)},
                     {"LedgerProblem", state.store_trouble},
                     {"Warnings", warnings_view(state)},
                     {"ForeignNodes", foreign_nodes(state)},
                     {"Groups", std::move(groups)},
                     {"HeldJobs", held_jobs_view(state, now)}});
}

Value nodes_view(const HeadState& state, const GroupName& group, Time now) {
  Value nodes = Value::list();
  if (state.spec) {
    const SlotWords words(state, now);
    for (const GroupSpec& spec : state.spec->groups) {
      const GroupRecord* record = find_record(state, spec.name);
      if (!record || (!group.empty() && spec.name != group)) continue;
      for (const SlotRecord& slot : record->slots) nodes.push(node_view(state, spec, *record, slot, words, now));
    }
  }
  return Value::map({{"Nodes", std::move(nodes)}});
}

Value plan_view(const Plan& plan) {
  Value actions = Value::list();
  for (const Action& action : plan.actions) actions.push(describe(action));
  Value events = Value::list();
  for (const Event& event : plan.events) {
    events.push(Value::map({{"EventLevel", event_level_name(event.level)},
                            {"InstanceGroupName", event.group.str()},
                            {"NodeName", event.node.str()},
                            {"Kind", event.kind},
                            {"Description", event.text}}));
  }
  return Value::map({{"Actions", std::move(actions)},
                     {"Events", std::move(events)},
                     {"NextDeadline", time_or_null(plan.next_deadline)}});
}

}  // namespace muster::logic
