// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/views.hpp"

#include <algorithm>
#include <charconv>

#include "logic/field_reader.hpp"
#include "logic/head_role.hpp"
#include "logic/release.hpp"

namespace muster::logic {
namespace {

Value time_or_null(Time time) { return time == no_time ? Value() : Value(to_seconds(time)); }

std::string plural(int count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

const SeenNode* find_seen(const HeadState& state, const NodeName& name) {
  if (!state.nodes) return nullptr;
  const auto node = state.nodes->find(name);
  return node == state.nodes->end() ? nullptr : &node->second;
}

const GroupRecord* find_record(const HeadState& state, const GroupName& name) {
  const auto record = state.ledger.groups.find(name);
  return record == state.ledger.groups.end() || record->second.deleted ? nullptr : &record->second;
}

/// Arrivals a minute, from the newest arrivals; none from fewer than two.
std::optional<double> arrivals_per_minute(const GroupRecord& group) {
  if (group.arrivals.size() < 2) return std::nullopt;
  const Duration span = group.arrivals.back() - group.arrivals.front();
  if (span.count() <= 0) return std::nullopt;
  return static_cast<double>(group.arrivals.size() - 1) * 60'000.0 / static_cast<double>(span.count());
}

std::optional<Time> estimated_open(const GroupRecord& group, Time now) {
  const auto rate = arrivals_per_minute(group);
  const int missing = group.counts.min - ready_count(group);
  if (group.gathering == Gathering::no || !rate || missing <= 0) return std::nullopt;
  return now + Duration{static_cast<std::int64_t>(missing * 60'000.0 / *rate)};
}

bool is_retrying(const SlotRecord& slot, Time now) {
  return (slot.state == SlotState::waiting && slot.attempt > 0) ||
         (slot.state == SlotState::launching && slot.retry_at > now);
}

struct SlotCounts {
  int pending = 0, launching = 0, booting = 0, registering = 0, ready = 0, in_service = 0, retrying = 0,
      terminating = 0, foreign = 0;
};

SlotCounts count_slots(const GroupRecord& group, Time now) {
  SlotCounts counts;
  for (const SlotRecord& slot : group.slots) {
    if (!slot.foreign_reason.empty()) {
      ++counts.foreign;
      continue;
    }
    if (is_retrying(slot, now)) {
      ++counts.retrying;
      continue;
    }
    switch (slot.state) {
      case SlotState::waiting: ++counts.pending; break;
      case SlotState::launching: ++counts.launching; break;
      case SlotState::booting: ++counts.booting; break;
      case SlotState::registering:
      case SlotState::settling: ++counts.registering; break;
      case SlotState::ready: ++counts.ready; break;
      case SlotState::in_service: ++counts.in_service; break;
      case SlotState::rebooting: ++counts.booting; break;
      case SlotState::terminating: ++counts.terminating; break;
    }
  }
  return counts;
}

const SlotRecord* newest_problem(const GroupRecord& group) {
  const SlotRecord* newest = nullptr;
  for (const SlotRecord& slot : group.slots) {
    if (!slot.last_problem.empty() && (!newest || slot.last_problem_at > newest->last_problem_at)) newest = &slot;
  }
  return newest;
}

std::string deadline_action(const GroupRecord& group) {
  if (group.deadline == no_time) return "";
  return "the group is rolled back to target " + std::to_string(group.restore.target) + ", MinCount " +
         std::to_string(group.restore.min) + (group.restore.target == 0 ? ": its machines are ended" : "");
}

Value group_view(const GroupSpec& spec, const GroupRecord& group, Time now) {
  const SlotCounts counts = count_slots(group, now);
  const auto rate = arrivals_per_minute(group);
  const auto estimate = estimated_open(group, now);
  const SlotRecord* problem = newest_problem(group);
  return Value::map(
      {{"Name", spec.name.str()},
       {"Status", group_status_name(group.status)},
       {"StatusReason", group.status_reason},
       {"GateOpen", group.gate_open},
       {"Partition", spec.partition.str()},
       {"Ready", ready_count(group)},
       {"Open", open_count(group)},
       {"MinCount", group.counts.min},
       {"TargetCount", group.counts.target},
       {"Counts", Value::map({{"Pending", counts.pending},
                              {"Launching", counts.launching},
                              {"Booting", counts.booting},
                              {"Registering", counts.registering},
                              {"Ready", counts.ready},
                              {"InService", counts.in_service},
                              {"Retrying", counts.retrying},
                              {"Terminating", counts.terminating},
                              {"Foreign", counts.foreign}})},
       {"Deadline", time_or_null(group.deadline)},
       {"DeadlineAction", deadline_action(group)},
       {"RolledBack", group.rolled_back},
       {"ArrivalsPerMinute", rate ? Value(*rate) : Value()},
       {"EstimatedOpen", estimate ? time_or_null(*estimate) : Value()},
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

Value checks_view(const SlotRecord& slot) {
  Value checks = Value::list();
  for (const NodeCheck& check : slot.checks)
    checks.push(Value::map({{"Name", check.name}, {"Ok", check.ok}, {"Text", check.text}}));
  return checks;
}

constexpr Duration silent_after = std::chrono::minutes{2};

/// When the slot's noded was last heard; none where it has no machine that spoke since musterd started.
std::optional<Time> heard_at(const HeadState& state, const SlotRecord& slot) {
  const auto heard = state.heard_at.find(slot.instance);
  if (slot.instance.empty() || heard == state.heard_at.end()) return std::nullopt;
  return heard->second;
}

class WhyLines {
 public:
  WhyLines(std::string kind, std::string title)
      : view_(Value::map({{"Kind", std::move(kind)}, {"Title", std::move(title)}})) {}
  void add(std::string label, std::string text) {
    if (!text.empty()) lines_.push(Value::map({{"Label", std::move(label)}, {"Text", std::move(text)}}));
  }
  Value view() && {
    view_.set("Lines", std::move(lines_));
    return std::move(view_);
  }

 private:
  Value view_;
  Value lines_ = Value::list();
};

std::string since_text(Time since, Time now) { return since == no_time ? "" : "for " + duration_text(now - since); }

Value why_group(const HeadState& state, const GroupSpec& spec, const GroupRecord& group, Time now) {
  WhyLines why("Group", "group " + spec.name.str());
  const int ready = ready_count(group);
  why.add("Status", std::string(group_status_name(group.status)) + ": " + group.status_reason);
  why.add("Nodes", std::to_string(ready) + " ready, MinCount " + std::to_string(group.counts.min) + ", target " +
                       std::to_string(group.counts.target));
  if (group.gate_open) why.add("Open since", duration_text(now - group.gate_opened_at) + " ago");
  if (group.gathering != Gathering::no) {
    why.add("Waits for",
            plural(group.counts.min - ready, "more ready node") + "; no job can run on its nodes before that");
    if (const auto estimate = estimated_open(group, now))
      why.add("Estimate", "opens in about " + duration_text(*estimate - now) + ", at the present rate");
    if (group.deadline != no_time)
      why.add("Deadline", group.deadline > now ? "in " + duration_text(group.deadline - now)
                                               : duration_text(now - group.deadline) + " ago");
    why.add("Then", deadline_action(group));
  }
  why.add("Role", standby_text(state.role));
  if (!state.slurm_is_up) why.add("Slurm", "slurmctld does not answer: " + state.slurm_trouble);
  if (!state.store_trouble.empty()) why.add("Ledger", "nothing new is done: " + state.store_trouble);
  for (const SlotRecord& slot : group.slots) {
    if (slot.state == SlotState::in_service && slot.foreign_reason.empty()) continue;
    why.add(slot.name.str(), slot_message(spec, slot, now));
  }
  return std::move(why).view();
}

Value why_node(const HeadState& state, const GroupSpec& spec, const SlotRecord& slot, Time now) {
  WhyLines why("Node", "node " + slot.name.str());
  why.add("Now", slot_message(spec, slot, now));
  why.add("Since", duration_text(now - slot.state_since) + " ago");
  if (slot.deadline != no_time) {
    why.add("Until", (slot.deadline > now ? "in " + duration_text(slot.deadline - now) : "now") +
                         std::string("; then the machine is ended and replaced"));
  }
  why.add("Group", spec.name.str() + ", " + std::string(group_status_name(state.ledger.groups.at(spec.name).status)));
  if (!slot.instance.empty())
    why.add("Machine", slot.instance.str() + (slot.address.empty() ? "" : " at " + slot.address) + ", attempt " +
                           std::to_string(slot.attempt));
  if (const SeenNode* node = find_seen(state, slot.name)) {
    why.add("Slurm", node->state_text() + (node->reason.empty() ? "" : " (" + node->reason + ")"));
  } else {
    why.add("Slurm", state.nodes ? "has no record of it" : "has not been read yet");
  }
  if (!slot.foreign_reason.empty())
    why.add("Drained", "by somebody else: \"" + slot.foreign_reason + "\"; muster leaves it alone");
  if (const auto heard = heard_at(state, slot); heard && now - *heard > silent_after) {
    why.add("Noded", "SILENT for " + duration_text(now - *heard) + "; what follows is as old");
  }
  for (const NodeCheck& check : slot.checks)
    why.add("Check " + check.name, (check.ok ? "good: " : "BAD: ") + check.text);
  if (!slot.last_problem.empty()) {
    why.add("Last problem", slot.last_problem + " (" + duration_text(now - slot.last_problem_at) + " ago, " +
                                plural(slot.failures, "failure") + " in a row)");
  }
  return std::move(why).view();
}

/// What the plugins read, as it is now. state.spec and state.nodes must be there.
GateTable present_gate_table(const HeadState& state, Time now) {
  Seen seen;
  seen.nodes = state.nodes;
  if (state.facts) seen.default_partition = state.facts->default_partition();
  return make_gate_table(*state.spec, state.ledger, seen, now);
}

/// "until group gpu opens: ...": what a decision says without the words that are for sbatch's user.
std::string waits_until(const HoldDecision& decision) {
  constexpr std::string_view opening = "muster: held ";
  constexpr std::string_view closing = "; see 'muster why JOBID'";
  std::string text = decision.text;
  if (text.compare(0, opening.size(), opening) == 0) text.erase(0, opening.size());
  if (const std::size_t at = text.find(closing); at != std::string::npos) text.erase(at, closing.size());
  return text;
}

Value why_job(const HeadState& state, const SeenJob& job, Time now) {
  WhyLines why("Job", "job " + std::to_string(job.id));
  why.add("Partition", job.partition);
  why.add("State", job.state + (job.reason.empty() || job.reason == "None" ? "" : " (" + job.reason + ")") +
                       (job.state == "PENDING" ? ", " + since_text(job.submitted_at, now) : ""));
  if (job.min_nodes)
    why.add("Asks for", plural(*job.min_nodes, "node") + (job.gres.empty() ? "" : " with " + job.gres) +
                            (job.features.empty() ? "" : ", constraint " + job.features));
  if (state.spec && state.nodes && job.state == "PENDING") {
    const HoldDecision decision = decide_hold(present_gate_table(state, now), request_of(job), now);
    if (is_held_by_us(job, state.ledger)) {
      why.add("Held", decision.verdict == HoldDecision::Verdict::admit
                          ? "its nodes are open; it is released with the next pass"
                          : waits_until(decision));
      const auto ahead = std::count_if(state.jobs.begin(), state.jobs.end(), [&](const SeenJob& other) {
        return is_held_by_us(other, state.ledger) && other.id < job.id;
      });
      if (ahead > 0) why.add("Before it", plural(static_cast<int>(ahead), "held job"));
    } else if (decision.verdict != HoldDecision::Verdict::admit) {
      why.add("Waits", "in Slurm's queue, not held by muster; cannot start " + waits_until(decision));
    } else {
      why.add("Waits", "in Slurm's queue for Slurm's own reasons; muster does not hold it");
    }
    for (const GroupSpec& spec : state.spec->groups) {
      const auto wanted = split_partitions(job.partition);
      const GroupRecord* group = find_record(state, spec.name);
      if (!group || std::find(wanted.begin(), wanted.end(), spec.partition) == wanted.end()) continue;
      why.add("Group " + spec.name.str(), std::string(group_status_name(group->status)) + ", " +
                                              std::to_string(ready_count(*group)) + " ready, MinCount " +
                                              std::to_string(group->counts.min) + ", target " +
                                              std::to_string(group->counts.target));
      if (group->gathering == Gathering::no) continue;
      if (const auto estimate = estimated_open(*group, now))
        why.add("Estimate", "opens in about " + duration_text(*estimate - now));
      if (group->deadline > now)
        why.add("Deadline", "in " + duration_text(group->deadline - now) + "; then " + deadline_action(*group));
    }
  }
  return std::move(why).view();
}

}  // namespace

std::string_view instance_status(const SlotRecord& slot, Time now) {
  if (slot.state == SlotState::terminating) return "ShuttingDown";
  if (slot.state == SlotState::in_service) return "Running";
  return is_retrying(slot, now) ? "Failure" : "Pending";
}

std::string_view cluster_status(const HeadState& state) {
  // A slurmctld that is away for a while is told beside the status, not by it.
  const ClusterRecord& cluster = state.ledger.cluster;
  if (!cluster.deleting.empty()) return "Deleting";
  if (cluster.in_service_at != no_time) return "InService";
  return cluster.failure.empty() ? "Creating" : "Failed";
}

std::string slot_message(const GroupSpec& spec, const SlotRecord& slot, Time now) {
  const std::string since = duration_text(now - slot.state_since);
  if (slot.wish != Wish::keep && slot.state != SlotState::rebooting && slot.state != SlotState::terminating) {
    return slot.state == SlotState::waiting ? "gone; its record is deleted before long"
                                            : "closed, to be " +
                                                  std::string(slot.wish == Wish::remove    ? "removed"
                                                              : slot.wish == Wish::replace ? "replaced"
                                                                                           : "rebooted") +
                                                  " when free of jobs (" + slot.wish_reason + ")";
  }
  if (!slot.foreign_reason.empty())
    return "drained by somebody else (\"" + slot.foreign_reason + "\"); muster leaves it alone";
  switch (slot.state) {
    case SlotState::waiting:
      if (slot.retry_at > now) {
        return "next attempt in " + duration_text(slot.retry_at - now) + " (" +
               std::string(failure_class_name(slot.last_failure)) + ": " + slot.last_problem + ")";
      }
      return "waits until Slurm has its record, hidden and drained; then it is launched";
    case SlotState::launching:
      if (slot.retry_at > now)
        return "the launch is asked for again in " + duration_text(slot.retry_at - now) + " (" + slot.last_problem +
               ")";
      return "launch asked of provider " + spec.provider + " " + since + " ago (attempt " +
             std::to_string(slot.attempt) + ")";
    case SlotState::booting:
      if (slot.node_step.empty()) return "launched " + since + " ago; not heard of yet";
      return "booting, " + since + "; noded: " + (slot.node_message.empty() ? slot.node_step : slot.node_message);
    case SlotState::registering:
      return "slurmd may start; waits for Slurm to have it in shape, " + since +
             (slot.node_message.empty() ? "" : "; noded: " + slot.node_message);
    case SlotState::settling: return "in Slurm; counts after " + duration_text(spec.settle_time) + " without trouble";
    case SlotState::ready: return "ready, closed until the group opens";
    case SlotState::in_service: return (spec.joins_slurm() ? "open to jobs, " : "in service, ") + since;
    case SlotState::rebooting: return "its machine restarts, " + since + " (" + slot.wish_reason + ")";
    case SlotState::terminating: return "its machine is being ended (" + slot.last_problem + ")";
  }
  return "";
}

Value status_view(const HeadState& state, Time now) {
  Value groups = Value::list();
  if (state.spec) {
    for (const GroupSpec& spec : state.spec->groups) {
      if (const GroupRecord* group = find_record(state, spec.name)) groups.push(group_view(spec, *group, now));
    }
  }
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
  return Value::map({{"Cluster", state.spec ? state.spec->name : ""},
                     {"ClusterStatus", state.spec ? Value(cluster_status(state)) : Value()},
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
                     {"ForeignNodes", foreign_nodes(state)},
                     {"Groups", std::move(groups)},
                     {"HeldJobs", std::move(held)}});
}

Value nodes_view(const HeadState& state, const GroupName& group, Time now) {
  Value nodes = Value::list();
  if (state.spec) {
    for (const GroupSpec& spec : state.spec->groups) {
      const GroupRecord* record = find_record(state, spec.name);
      if (!record || (!group.empty() && spec.name != group)) continue;
      for (const SlotRecord& slot : record->slots) {
        const auto heard = heard_at(state, slot);
        const bool is_silent = heard && now - *heard > silent_after;
        const std::string silence = is_silent ? "noded SILENT for " + duration_text(now - *heard) + "; " : "";
        const SeenNode* node = find_seen(state, slot.name);
        nodes.push(Value::map({{"Name", slot.name.str()},
                               {"Group", spec.name.str()},
                               {"Status", instance_status(slot, now)},
                               {"Step", slot_state_name(slot.state)},
                               {"StepSince", time_or_null(slot.state_since)},
                               {"Deadline", time_or_null(slot.deadline)},
                               {"InstanceId", slot.instance.str()},
                               {"Address", slot.address},
                               {"Attempt", slot.attempt},
                               {"Slurm", node          ? node->state_text()
                                         : state.nodes ? "no record"
                                                       : "unknown"},
                               {"Reason", node ? node->reason : ""},
                               {"HeardAt", heard ? time_or_null(*heard) : Value()},
                               {"Message", silence + slot_message(spec, slot, now)},
                               {"Checks", checks_view(slot)}}));
      }
    }
  }
  return Value::map({{"Nodes", std::move(nodes)}});
}

Result<Value> why_view(const HeadState& state, std::string_view name, Time now) {
  JobId job_id = 0;
  const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), job_id);
  if (!name.empty() && error == std::errc{} && rest == name.data() + name.size()) {
    for (const SeenJob& job : state.jobs)
      if (job.id == job_id) return why_job(state, job, now);
    return reject_error("no job " + std::to_string(job_id) + " is pending or running in Slurm");
  }
  if (state.spec) {
    for (const GroupSpec& spec : state.spec->groups) {
      const GroupRecord* group = find_record(state, spec.name);
      if (!group) continue;
      if (spec.name.str() == name) return why_group(state, spec, *group, now);
      for (const SlotRecord& slot : group->slots) {
        if (slot.name.str() == name) return why_node(state, spec, slot, now);
      }
    }
  }
  return reject_error("expected a job id, a node or a group of this cluster, found \"" +
                      std::string(name.substr(0, 64)) + "\"");
}

Value event_view(const StoredEvent& event) {
  return Value::map({{"Sequence", event.sequence},
                     {"EventId", event.id},
                     {"EventTime", to_seconds(event.time)},
                     {"EventLevel", event_level_name(event.event.level)},
                     {"ResourceType", !event.event.node.empty()    ? "Instance"
                                      : !event.event.group.empty() ? "InstanceGroup"
                                                                   : "Cluster"},
                     {"InstanceGroupName", event.event.group.str()},
                     {"NodeName", event.event.node.str()},
                     {"InstanceId", event.event.instance.str()},
                     {"Kind", event.event.kind},
                     {"Description", event.event.text}});
}

// ---- HyperPod's documents ----

std::string cluster_arn(const ClusterSpec& spec) {
  // The form of an ARN, with an id made from the name, so that it is the same on every head.
  constexpr std::string_view digits = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : spec.name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  std::string id;
  for (int i = 0; i < 12; ++i, hash /= digits.size()) id += digits[hash % digits.size()];
  return "arn:aws:sagemaker:local:000000000000:cluster/" + id;
}

Value cluster_summary_view(const HeadState& state) {
  return Value::map({{"ClusterArn", cluster_arn(*state.spec)},
                     {"ClusterName", state.spec->name},
                     {"CreationTime", to_seconds(state.created_at)},
                     {"ClusterStatus", cluster_status(state)}});
}

Value describe_cluster_view(const HeadState& state) {
  Value groups = Value::list();
  for (const GroupSpec& spec : state.spec->groups) {
    const GroupRecord* group = find_record(state, spec.name);
    if (!group) continue;
    Value view = Value::map({{"InstanceGroupName", spec.name.str()},
                             {"Status", group_status_name(group->status)},
                             {"CurrentCount", ready_count(*group)},
                             {"TargetCount", group->counts.target},
                             {"MinCount", group->counts.min}});
    if (!spec.instance_types.empty()) view.set("InstanceType", spec.instance_types.front());
    Value slurm = Value::map({{"NodeType", spec.node_type == NodeType::compute ? "Compute"
                                           : spec.node_type == NodeType::login ? "Login"
                                                                               : "Controller"}});
    if (spec.joins_slurm()) {
      Value partitions = Value::list();
      partitions.push(spec.partition.str());
      slurm.set("PartitionNames", std::move(partitions));
    }
    view.set("SlurmConfig", std::move(slurm));
    if (ready_count(*group) != group->counts.target) view.set("ActiveOperations", Value::map({{"Scaling", 1}}));
    groups.push(std::move(view));
  }
  Value view = cluster_summary_view(state);
  view.set("InstanceGroups", std::move(groups));
  view.set("NodeProvisioningMode", "Continuous");
  view.set("Orchestrator", Value::map({{"Slurm", Value::map()}}));
  return view;
}

Value node_summary_view(const HeadState&, const GroupSpec& spec, const SlotRecord& slot, bool with_logical_id,
                        Time now) {
  Value view =
      Value::map({{"InstanceGroupName", spec.name.str()},
                  {"InstanceId", slot.instance.str()},
                  {"InstanceType", slot.instance_type},
                  {"LaunchTime", to_seconds(slot.launched_at)},
                  {"InstanceStatus",
                   Value::map({{"Status", instance_status(slot, now)}, {"Message", slot_message(spec, slot, now)}})}});
  if (with_logical_id) view.set("NodeLogicalId", slot.name.str());
  return view;
}

Value node_details_view(const HeadState& state, const GroupSpec& spec, const SlotRecord& slot, Time now) {
  Value view = node_summary_view(state, spec, slot, true, now);
  view.set("PrivatePrimaryIp", slot.address);
  view.set("PrivateDnsHostname", slot.name.str());
  return view;
}

Value event_summary_view(const HeadState& state, const StoredEvent& event) {
  Value view = event_view(event);
  Value summary = Value::map({{"ClusterArn", cluster_arn(*state.spec)}, {"ClusterName", state.spec->name}});
  for (const char* key : {"EventId", "EventTime", "EventLevel", "ResourceType", "Description"})
    summary.set(key, *view.find(key));
  for (const char* key : {"InstanceGroupName", "InstanceId"}) {
    if (!view.text_or(key).empty()) summary.set(key, *view.find(key));
  }
  return summary;
}

}  // namespace muster::logic
