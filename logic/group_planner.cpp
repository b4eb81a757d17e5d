// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/group_planner.hpp"

#include <algorithm>

#include "logic/field_reader.hpp"
#include "logic/retry_policy.hpp"

namespace muster::logic {
namespace {

/// What two more starts of slurmd do not mend, a third will not: the attempt then fails by its deadline.
constexpr int slurmd_starts_at_most = 3;
constexpr std::size_t arrivals_kept = 16;
/// A machine that the provider does not list is gone only if a later list, so much later, lacks it too.
constexpr Duration second_look_after = std::chrono::seconds{5};

/// States in which the machine may have a registered record.
bool may_be_registered(const SlotRecord& slot) {
  switch (slot.state) {
    case SlotState::registering:
    case SlotState::settling:
    case SlotState::ready:
    case SlotState::in_service:
    case SlotState::terminating: return true;
    case SlotState::booting: return slot.slurmd_start > 0;
    case SlotState::waiting:
    case SlotState::launching: return false;
  }
  return false;
}

bool was_registered(const SlotRecord& slot) {
  return slot.state == SlotState::settling || slot.state == SlotState::ready || slot.state == SlotState::in_service;
}

bool node_may_start_slurmd(const SlotRecord& slot) {
  return slot.node_step == step_name(NodeStep::ready) || slot.node_step == step_name(NodeStep::starting) ||
         slot.node_step == step_name(NodeStep::running);
}

}  // namespace

// ---- The pass ----

GroupPlanner::GroupPlanner(const GroupSpec& spec, const ProviderSpec& provider, const std::string& cluster,
                           const Seen& seen, const GroupMail& mail, Time now, GroupRecord& group, Plan& plan)
    : spec_(spec),
      provider_(provider),
      cluster_(cluster),
      wanted_gres_(gres_text(spec.gres)),
      seen_(seen),
      mail_(mail),
      now_(now),
      group_(group),
      plan_(plan) {}

void GroupPlanner::run() {
  const int ready_before = ready_count(group_);
  begin_group();
  take_mail();
  take_list();
  for (SlotRecord& slot : group_.slots) plan_record(slot);
  for (SlotRecord& slot : group_.slots) plan_machine(slot);
  plan_gate();
  emit_batches();
  if (const int ready = ready_count(group_); ready == spec_.target_count && ready_before < ready) {
    event(EventLevel::info, "TargetReached", nullptr, "all " + std::to_string(ready) + " nodes are ready");
  }
}

void GroupPlanner::begin_group() {
  if (group_.name.empty()) {
    group_.name = spec_.name;
    group_.created_at = now_;
    group_.deadline = now_ + spec_.deadline;
    event(EventLevel::info, "GroupCreating", nullptr,
          "target " + std::to_string(spec_.target_count) + ", MinCount " + std::to_string(spec_.min_count) +
              ", deadline in " + duration_text(spec_.deadline));
  }
  while (static_cast<int>(group_.slots.size()) < spec_.target_count) {
    SlotRecord slot;
    slot.name = spec_.node_name(static_cast<int>(group_.slots.size()) + 1);
    slot.state_since = now_;
    group_.slots.push_back(std::move(slot));
  }
}

void GroupPlanner::take_mail() {
  if (mail_.launch_results.empty() && mail_.terminate_results.empty() && mail_.reports.empty()) return;
  std::unordered_map<LaunchToken, SlotRecord*> by_token;
  for (SlotRecord& slot : group_.slots) {
    if (!slot.token.empty()) by_token.emplace(slot.token, &slot);
  }
  for (const LaunchResult* result : mail_.launch_results) {
    if (const auto slot = by_token.find(result->token); slot != by_token.end())
      take_launch_result(*slot->second, *result);
  }
  std::unordered_map<InstanceId, SlotRecord*> by_instance;
  for (SlotRecord& slot : group_.slots) {
    if (!slot.instance.empty()) by_instance.emplace(slot.instance, &slot);
  }
  for (const TerminateResult* result : mail_.terminate_results) {
    if (const auto slot = by_instance.find(result->instance); slot != by_instance.end())
      take_terminate_result(*slot->second, *result);
  }
  for (const NodeReport* report : mail_.reports) {
    if (const auto slot = by_instance.find(report->instance); slot != by_instance.end())
      take_report(*slot->second, *report);
  }
}

void GroupPlanner::take_launch_result(SlotRecord& slot, const LaunchResult& result) {
  if (slot.state != SlotState::launching || slot.token != result.token) return;  // an answer that came too late
  if (result.failure == FailureClass::none) {
    if (const std::string holder = holder_of(result.instance, slot); !holder.empty()) {
      // To take it would be to end that node's machine some day.
      fail_attempt(slot, FailureClass::configuration,
                   "the provider answered with machine " + result.instance.str() + ", which stands behind " + holder,
                   false);
      return;
    }
    slot.instance = result.instance;
    slot.address = result.address;
    slot.launched_at = now_;
    slot.missing_since = no_time;
    ++slot.generation;
    move_to(slot, SlotState::booting, spec_.boot_timeout);
    event(EventLevel::info, "MachineLaunched", &slot,
          "attempt " + std::to_string(slot.attempt) + " accepted by provider " + spec_.provider);
    return;
  }
  if (result.outcome_unknown) {
    // The machine may exist: the same token again, which the provider answers with the same machine.
    note_problem(slot, result.failure, result.message);
    slot.retry_at = now_ + retry_delay(result.failure, slot.failures, slot.name.str());
    event(EventLevel::warn, "LaunchUnknown", &slot,
          "attempt " + std::to_string(slot.attempt) + ": " + result.message + "; asked again with the same token in " +
              duration_text(slot.retry_at - now_));
    return;
  }
  fail_attempt(slot, result.failure, result.message, false);
}

std::string GroupPlanner::holder_of(const InstanceId& instance, const SlotRecord& slot) const {
  if (const auto taken = mail_.taken_instances.find(instance); taken != mail_.taken_instances.end()) {
    if (taken->second != slot.name) return taken->second.str();
  }
  for (const SlotRecord& other : group_.slots) {
    if (other.instance == instance && other.name != slot.name) return other.name.str();
  }
  return "";
}

void GroupPlanner::take_terminate_result(SlotRecord& slot, const TerminateResult& result) {
  if (slot.state != SlotState::terminating || slot.instance != result.instance) return;
  if (!result.ok) {
    slot.retry_at = now_ + retry_delay(FailureClass::transient, ++slot.failures, slot.name.str());
    event(EventLevel::warn, "TerminateFailed", &slot,
          result.message + "; tried again in " + duration_text(slot.retry_at - now_));
    return;
  }
  event(EventLevel::info, "MachineTerminated", &slot, "the machine is gone");
  forget_machine(slot);
  move_to(slot, SlotState::waiting);
}

void GroupPlanner::take_report(SlotRecord& slot, const NodeReport& report) {
  if (slot.state == SlotState::waiting || slot.state == SlotState::launching || slot.state == SlotState::terminating)
    return;
  if (!slot.boot_id.empty() && !report.boot_id.empty() && slot.boot_id != report.boot_id && slot.slurmd_start > 0) {
    event(EventLevel::warn, "MachineRebooted", &slot, "its boot id changed; it is checked and registered again");
    slot.node_slurmd_start = 0;
    slot.node_slurmd_alive = false;
    if (slot.state != SlotState::booting) move_to(slot, SlotState::booting, spec_.boot_timeout);
  }
  if (!report.boot_id.empty()) slot.boot_id = report.boot_id;
  if (!report.address.empty()) slot.address = report.address;
  if (report.step == NodeStep::failed && slot.node_step != step_name(NodeStep::failed))
    event(EventLevel::warn, "NodeNotReady", &slot, report.message);
  slot.node_step = step_name(report.step);
  slot.node_message = report.message;
  slot.node_slurmd_start = static_cast<int>(report.slurmd_start);
  slot.node_slurmd_alive = report.slurmd_alive;
  slot.checks = report.checks;
}

// A machine that carries a token of one of our slots, but of an attempt that is over: its launch was taken for failed,
// or its answer was lost in a crash. Seen in two lists, it is ended.
void GroupPlanner::end_orphans(const Seen::Machines& list) {
  std::unordered_map<std::string, const SlotRecord*> by_name;
  for (const SlotRecord& slot : group_.slots) by_name.emplace(cluster_ + "." + slot.name.str(), &slot);
  std::map<InstanceId, Time> orphans;
  for (const SeenMachine& machine : list.machines) {
    if (machine.state == "terminated" || machine.state == "stopping") continue;
    const std::string& token = machine.token.str();
    const auto found = by_name.find(token.substr(0, token.rfind('.')));
    if (found == by_name.end() || found->second->token == machine.token || found->second->instance == machine.instance)
      continue;
    const SlotRecord& slot = *found->second;
    if (!holder_of(machine.instance, slot).empty()) continue;
    const auto known = group_.orphans.find(machine.instance);
    const Time since = known == group_.orphans.end() ? list.listed_at : known->second;
    orphans.emplace(machine.instance, since);
    if (list.listed_at < since + second_look_after || seen_.terminations_in_flight.count(machine.instance) > 0)
      continue;
    Event told;
    told.level = EventLevel::warn;
    told.kind = "OrphanEnded";
    told.group = spec_.name;
    told.node = slot.name;
    told.instance = machine.instance;
    told.text = "machine " + machine.instance.str() + " is of an earlier attempt (" + token + ") and is ended";
    plan_.events.push_back(std::move(told));
    machine_actions_.emplace_back(TerminateMachine{spec_.name, slot.name, machine.instance, machine.token});
  }
  group_.orphans = std::move(orphans);
}

void GroupPlanner::take_list() {
  const auto found = seen_.machines.find(spec_.name);
  if (found == seen_.machines.end()) return;
  const Seen::Machines& list = found->second;
  end_orphans(list);
  std::unordered_map<LaunchToken, const SeenMachine*> by_token;
  for (const SeenMachine& machine : list.machines) by_token.emplace(machine.token, &machine);
  for (SlotRecord& slot : group_.slots) {
    if (slot.token.empty()) continue;
    const auto entry = by_token.find(slot.token);
    const bool is_there = entry != by_token.end() && entry->second->state != "terminated";
    if (slot.state == SlotState::launching && is_there && seen_.launches_in_flight.count(slot.token) == 0) {
      // Launched, but the answer was lost: take the machine back.
      LaunchResult adopted;
      adopted.token = slot.token;
      adopted.instance = entry->second->instance;
      adopted.address = entry->second->address;
      take_launch_result(slot, adopted);
      continue;
    }
    if (slot.instance.empty() || slot.state == SlotState::terminating || slot.state == SlotState::waiting) continue;
    if (list.listed_at <= slot.launched_at + provider_.list_lag) continue;  // lists lag: too early to miss it
    if (is_there) {
      slot.missing_since = no_time;
      continue;
    }
    if (slot.missing_since == no_time) {
      slot.missing_since = list.listed_at;
    } else if (list.listed_at >= slot.missing_since + second_look_after) {
      fail_attempt(slot, FailureClass::lost, "the provider no longer lists machine " + slot.instance.str(), true);
    }
  }
}

// ---- Records ----

const SeenNode* GroupPlanner::seen_node(const SlotRecord& slot) const {
  if (!seen_.nodes) return nullptr;
  const auto node = seen_.nodes->find(slot.name);
  return node == seen_.nodes->end() ? nullptr : &node->second;
}

void GroupPlanner::plan_record(SlotRecord& slot) {
  if (!seen_.nodes) return;  // unknown is not empty
  const SeenNode* node = seen_node(slot);
  if (!node) {
    create_.push_back(slot.name);
    if (!slot.our_reason.empty() || was_registered(slot)) lost_records_.push_back(slot.name);
    slot.our_reason.clear();
    if (may_be_registered(slot)) registration_lost(slot, "its record is gone from Slurm");
    return;
  }
  note_foreign_drain(slot, *node);
  if (mend_gres(slot, *node)) return;

  if (node->base == NodeBase::future) {
    plan_address(slot, *node);
    if (was_registered(slot)) registration_lost(slot, "Slurm has put its record back to FUTURE");
    keep_closed(slot, *node);
    return;
  }
  if (!may_be_registered(slot)) {
    // No machine of ours stands behind this record, so it must be hidden and take no job.
    if (!node->has_jobs()) {
      to_future_.push_back(slot.name);
      if (!slot.our_reason.empty() && !node->drained) closed_again_.push_back(slot.name);
    } else {
      keep_closed(slot, *node);
    }
    return;
  }
  if (slot.state == SlotState::in_service) {
    keep_open(slot, *node);
  } else {
    keep_closed(slot, *node);
  }
}

// slurmctld (22.05, 24.11 and 26.05, tried) forgets the type of a FUTURE record's GRES when it restarts: "gpu:h100:4"
// comes back as "gpu:4", and the node that registers under it ends with no GRES at all, so that no job that asks for
// one can ever run there. Only a new record helps.
bool GroupPlanner::mend_gres(SlotRecord& slot, const SeenNode& node) {
  if (node.gres == wanted_gres_ || node_offers(node.gres, spec_.gres)) return false;
  if (node.base == NodeBase::future) {
    const bool was_tried = slot.last_failure == FailureClass::configuration;
    if (was_tried && now_ < slot.retry_at) {
      fall_due(slot.retry_at);
      return true;
    }
    delete_.push_back(slot.name);
    create_.push_back(slot.name);
    slot.our_reason.clear();
    if (was_registered(slot)) registration_lost(slot, "Slurm has put its record back to FUTURE");
    note_problem(slot, FailureClass::configuration,
                 "Slurm's record of it has GRES \"" + node.gres + "\", wanted is " + wanted_gres_);
    // Once at once; a slurmctld that does it again (its GresTypes lack one, say) is not hurried.
    if (was_tried) slot.retry_at = now_ + retry_delay(FailureClass::configuration, slot.failures, slot.name.str());
    damaged_records_.push_back(slot.name);
    return true;
  }
  if (slot.state == SlotState::in_service || node.has_jobs() || !node.is_registered() || node.invalid_registration)
    return false;
  if (slot.slurmd_start >= slurmd_starts_at_most) return false;
  to_future_.push_back(slot.name);
  if (may_be_registered(slot))
    registration_lost(slot, "it registered under a record that had lost its GRES (now \"" + node.gres + "\")");
  return true;
}

void GroupPlanner::plan_address(const SlotRecord& slot, const SeenNode& node) {
  const bool machine_arrived = slot.state == SlotState::booting && !slot.address.empty() && node_may_start_slurmd(slot);
  if (!machine_arrived && may_be_registered(slot)) return;
  const std::string wanted = machine_arrived ? slot.address : placeholder_address;
  if (node.address == wanted) return;
  addresses_.names.push_back(slot.name);
  addresses_.addresses.push_back(wanted);
}

void GroupPlanner::note_foreign_drain(SlotRecord& slot, const SeenNode& node) {
  if (is_foreign_drain(slot, node)) {
    if (slot.foreign_reason == node.reason) return;
    slot.foreign_reason = node.reason;
    event(EventLevel::warn, "NodeDrainedByOther", &slot,
          "drained by somebody else (\"" + node.reason + "\"); left alone until they lift it");
    return;
  }
  if (slot.foreign_reason.empty()) return;
  if (node.drained) {
    // Their drain stands, but Slurm dropped their reason at registration (22.05, 26.05): put it back.
    if (node.reason != slot.foreign_reason) drain_[slot.foreign_reason].push_back(slot.name);
    return;
  }
  if (node.base == NodeBase::future && slot.our_reason.empty()) {
    // A record made anew: what they set on the old one stands.
    drain_[slot.foreign_reason].push_back(slot.name);
    slot.our_reason = gathering_reason(spec_.name);
    return;
  }
  event(EventLevel::info, "NodeDrainLifted", &slot, "the drain \"" + slot.foreign_reason + "\" was lifted");
  slot.foreign_reason.clear();
}

void GroupPlanner::keep_closed(SlotRecord& slot, const SeenNode& node) {
  if (!slot.foreign_reason.empty()) return;
  const std::string reason = gathering_reason(spec_.name);
  const bool text_is_missing = node.drained && node.reason.empty() && !group_.gate_open;
  if (node.drained && !text_is_missing) return;
  // A FUTURE record takes no job, drained or not: that its drain is missing is our own doing (ReturnToFuture clears
  // it).
  if (!node.drained && !slot.our_reason.empty() && node.base != NodeBase::future) closed_again_.push_back(slot.name);
  slot.our_reason = reason;
  drain_[reason].push_back(slot.name);
}

void GroupPlanner::keep_open(SlotRecord& slot, const SeenNode& node) {
  if (!slot.foreign_reason.empty()) return;
  if (node.drained) {
    // The opening did not reach this one, or Slurm itself drained it and has taken a good registration since.
    if (!node.invalid_registration) undrain_.push_back(slot.name);
    return;
  }
  slot.our_reason.clear();
  if (node.base == NodeBase::down && !node.not_responding && !node.failing && !node.rebooting &&
      slot.node_slurmd_alive && is_slurm_fault(node.reason)) {
    resume_.push_back(slot.name);
  }
}

void GroupPlanner::registration_lost(SlotRecord& slot, const std::string& how) {
  if (slot.state == SlotState::terminating || slot.state == SlotState::booting) return;
  note_problem(slot, FailureClass::never_registered, how);
  move_to(slot, SlotState::booting, spec_.boot_timeout);
  event(EventLevel::warn, "RegistrationLost", &slot, how + "; it is registered again");
}

// ---- Machines ----

void GroupPlanner::plan_machine(SlotRecord& slot) {
  const SlotState before = slot.state;
  step_machine(slot);
  // A machine that failed just now is ended in the same pass.
  if (slot.state == SlotState::terminating && before != SlotState::terminating) step_machine(slot);
}

void GroupPlanner::step_machine(SlotRecord& slot) {
  const SeenNode* node = seen_node(slot);
  switch (slot.state) {
    case SlotState::waiting: return plan_waiting(slot, node);
    case SlotState::launching:
      if (seen_.launches_in_flight.count(slot.token) > 0) return;
      if (now_ < slot.retry_at) return fall_due(slot.retry_at);
      machine_actions_.emplace_back(LaunchMachine{spec_.name, slot.name, slot.token, slot.attempt});
      return;
    case SlotState::booting: return plan_booting(slot, node);
    case SlotState::registering: return plan_registering(slot, node);
    case SlotState::settling:
    case SlotState::ready:
    case SlotState::in_service: return plan_in_slurm(slot, node);
    case SlotState::terminating:
      if (seen_.terminations_in_flight.count(slot.instance) > 0) return;
      if (now_ < slot.retry_at) return fall_due(slot.retry_at);
      machine_actions_.emplace_back(TerminateMachine{spec_.name, slot.name, slot.instance, slot.token});
      return;
  }
}

void GroupPlanner::plan_waiting(SlotRecord& slot, const SeenNode* node) {
  if (now_ < slot.retry_at) return fall_due(slot.retry_at);
  // No machine before its slot has been read back as FUTURE+DRAIN: there must be no moment in which a job could slip
  // in.
  if (!node || node->base != NodeBase::future || !node->drained || !slot.foreign_reason.empty()) return;
  if (slot.attempt > 0) ++group_.retries;
  ++group_.launches;
  ++slot.attempt;
  slot.token = LaunchToken{cluster_ + "." + slot.name.str() + "." + std::to_string(slot.attempt)};
  slot.retry_at = no_time;
  move_to(slot, SlotState::launching);
  machine_actions_.emplace_back(LaunchMachine{spec_.name, slot.name, slot.token, slot.attempt});
}

void GroupPlanner::plan_booting(SlotRecord& slot, const SeenNode* node) {
  const bool is_theirs = !slot.foreign_reason.empty();  // a machine that somebody drained is ended only by name
  if (slot.deadline <= now_ && !is_theirs) {
    const std::string seen_so_far = slot.node_step.empty()
                                        ? "nothing was heard of it"
                                        : "it is at \"" + slot.node_step + "\": " + slot.node_message;
    return fail_attempt(slot, FailureClass::boot_timeout,
                        "not ready " + duration_text(now_ - slot.state_since) + " after its launch; " + seen_so_far,
                        true);
  }
  fall_due(slot.deadline);
  if (!node || !node_may_start_slurmd(slot) || slot.address.empty()) return;
  // It registered by itself, closed, under a record of ours (its slurmd was told to re-read its configuration): fine.
  const bool registered_already = slot.slurmd_start > 0 && node->drained && is_in_shape(spec_, *node);
  const bool slot_is_prepared = node->base == NodeBase::future && node->drained && node->address == slot.address;
  if (registered_already) {
    move_to(slot, SlotState::registering, spec_.register_timeout);
  } else if (slot_is_prepared) {
    slot.slurmd_start = std::max(slot.slurmd_start, slot.node_slurmd_start) + 1;
    ++slot.generation;
    move_to(slot, SlotState::registering, spec_.register_timeout);
  }
}

void GroupPlanner::plan_registering(SlotRecord& slot, const SeenNode* node) {
  std::string why_not = "no read of Slurm yet";
  const bool started = slot.node_slurmd_alive && slot.node_slurmd_start == slot.slurmd_start;
  if (started && node && is_in_shape(spec_, *node, &why_not)) {
    move_to(slot, SlotState::settling);
    return plan_in_slurm(slot, node);
  }
  // It runs, but Slurm has not heard of it: slurmctld was away when it registered, or has lost it since. slurmd
  // believes that it is registered and does not try again.
  const Time patience_ends = slot.state_since + spec_.register_timeout / 3;
  if (started && node && node->base == NodeBase::future && !node->invalid_registration &&
      slot.slurmd_start < slurmd_starts_at_most) {
    if (now_ >= patience_ends) return registration_lost(slot, "its slurmd runs, but Slurm has no registration of it");
    fall_due(patience_ends);
  }
  if (slot.deadline <= now_ && slot.foreign_reason.empty()) {
    if (!started) why_not = "its slurmd did not start: " + slot.node_message;
    return fail_attempt(
        slot, FailureClass::never_registered,
        "not in Slurm " + duration_text(now_ - slot.state_since) + " after slurmd was allowed; " + why_not, true);
  }
  fall_due(slot.deadline);
}

void GroupPlanner::plan_in_slurm(SlotRecord& slot, const SeenNode* node) {
  if (!node) return;
  std::string why_not;
  if (slot.state != SlotState::in_service && !is_in_shape(spec_, *node, &why_not)) {
    note_problem(slot, FailureClass::unhealthy, why_not);
    move_to(slot, SlotState::registering, spec_.register_timeout);
    event(EventLevel::warn, "NodeNotReady", &slot, why_not);
    return;
  }
  if (slot.state != SlotState::settling) return;
  const Time settled_at = slot.state_since + spec_.settle_time;
  if (now_ < settled_at) return fall_due(settled_at);
  slot.failures = 0;
  slot.last_problem.clear();
  slot.last_failure = FailureClass::none;
  move_to(slot, SlotState::ready);
  group_.arrivals.push_back(now_);
  if (group_.arrivals.size() > arrivals_kept) group_.arrivals.erase(group_.arrivals.begin());
  event(
      EventLevel::info, "NodeReady", &slot,
      "attempt " + std::to_string(slot.attempt) + ", " + duration_text(now_ - slot.launched_at) + " after its launch");
}

// ---- The gate: when does a group become InService? ----

void GroupPlanner::plan_gate() {
  const int ready = ready_count(group_);
  if (!group_.gate_open) {
    if (ready >= spec_.min_count) {
      open_gate("MinCountReached",
                std::to_string(ready) + " nodes are ready, MinCount is " + std::to_string(spec_.min_count));
    } else if (seen_.open_commands.count(spec_.name) > 0) {
      open_gate("OpenedByOperator", "an operator opened it with " + std::to_string(ready) + " of " +
                                        std::to_string(spec_.min_count) + " nodes ready");
    } else {
      group_.status = GroupStatus::creating;
      group_.status_reason = std::to_string(ready) + " of " + std::to_string(spec_.min_count) + " nodes ready";
      if (now_ < group_.deadline) {
        fall_due(group_.deadline);
      } else if (!group_.deadline_told) {
        group_.deadline_told = true;
        event(EventLevel::error, "DeadlineMissed", nullptr,
              group_.status_reason + " at the deadline; launching goes on, the group stays closed");
      }
    }
  }
  if (!group_.gate_open) return;
  for (SlotRecord& slot : group_.slots) {
    if (slot.state != SlotState::ready || !slot.foreign_reason.empty()) continue;
    if (!seen_node(slot)) continue;  // the read that it became ready by is older than this pass: next time
    move_to(slot, SlotState::in_service);
    undrain_.push_back(slot.name);
  }
  group_.status_reason =
      std::to_string(open_count(group_)) + " of " + std::to_string(spec_.target_count) + " nodes are open to jobs";
}

void GroupPlanner::open_gate(const char* kind, const std::string& why) {
  group_.gate_open = true;
  group_.gate_opened_at = now_;
  group_.status = GroupStatus::in_service;
  event(EventLevel::info, kind, nullptr, why + "; the group is InService and open to jobs");
}

// ---- Helpers ----

void GroupPlanner::move_to(SlotRecord& slot, SlotState state, Duration limit) {
  slot.state = state;
  slot.state_since = now_;
  slot.deadline = limit.count() > 0 ? now_ + limit : no_time;
}

void GroupPlanner::note_problem(SlotRecord& slot, FailureClass failure, const std::string& problem) {
  ++slot.failures;
  slot.last_failure = failure;
  slot.last_problem = problem;
  slot.last_problem_at = now_;
}

void GroupPlanner::fail_attempt(SlotRecord& slot, FailureClass failure, const std::string& problem,
                                bool machine_exists) {
  note_problem(slot, failure, problem);
  slot.retry_at = machine_exists ? no_time : now_ + retry_delay(failure, slot.failures, slot.name.str());
  const std::string next =
      machine_exists ? "the machine is ended and replaced" : "tried again in " + duration_text(slot.retry_at - now_);
  event(EventLevel::warn, machine_exists ? "MachineFailed" : "LaunchFailed", &slot,
        "attempt " + std::to_string(slot.attempt) + ": " + std::string(failure_class_name(failure)) + ": " + problem +
            "; " + next);
  if (machine_exists) {
    ++slot.generation;
    move_to(slot, SlotState::terminating);
    return;
  }
  forget_machine(slot);
  move_to(slot, SlotState::waiting);
}

void GroupPlanner::forget_machine(SlotRecord& slot) {
  const Time retry_at = slot.retry_at;
  SlotRecord fresh;
  fresh.name = slot.name;
  fresh.attempt = slot.attempt;
  fresh.failures = slot.failures;
  fresh.last_failure = slot.last_failure;
  fresh.last_problem = slot.last_problem;
  fresh.last_problem_at = slot.last_problem_at;
  fresh.our_reason = slot.our_reason;
  fresh.foreign_reason = slot.foreign_reason;
  fresh.generation = slot.generation + 1;
  fresh.retry_at = retry_at > now_ || slot.failures == 0
                       ? retry_at
                       : now_ + retry_delay(slot.last_failure, slot.failures, slot.name.str());
  slot = std::move(fresh);
}

void GroupPlanner::fall_due(Time time) {
  if (time > now_ && (plan_.next_deadline == no_time || time < plan_.next_deadline)) plan_.next_deadline = time;
}

void GroupPlanner::event(EventLevel level, const char* kind, const SlotRecord* slot, const std::string& text) {
  Event event;
  event.level = level;
  event.kind = kind;
  event.group = spec_.name;
  if (slot) {
    event.node = slot->name;
    event.instance = slot->instance;
  }
  event.text = text;
  plan_.events.push_back(std::move(event));
}

void GroupPlanner::emit_batches() {
  if (!closed_again_.empty()) {
    event(EventLevel::warn, "NodesClosedAgain", nullptr,
          "somebody opened " + names_text(closed_again_) +
              (group_.gate_open ? " before it was ready; closed again"
                                : " while the group gathers; closed again (the deliberate way is: muster open " +
                                      spec_.name.str() + ")"));
  }
  if (!damaged_records_.empty()) {
    event(EventLevel::warn, "RecordsDamaged", nullptr,
          "the records of " + names_text(damaged_records_) + " are not as they were made (" + gres_text(spec_.gres) +
              " is missing, as after a restart of slurmctld); they are made again");
  }
  if (!lost_records_.empty()) {
    event(EventLevel::warn, "RecordsLost", nullptr,
          "Slurm has lost the records of " + names_text(lost_records_) + "; they are made again");
  }
  // Closing first: whatever else a pass does, it never leaves a node open for longer than it must.
  for (auto& [reason, names] : drain_) plan_.actions.emplace_back(DrainNodes{spec_.name, std::move(names), reason});
  if (!to_future_.empty()) plan_.actions.emplace_back(ReturnToFuture{spec_.name, std::move(to_future_)});
  if (!delete_.empty()) plan_.actions.emplace_back(DeleteRecords{spec_.name, std::move(delete_)});
  if (!create_.empty())
    plan_.actions.emplace_back(
        CreateRecords{spec_.name, std::move(create_), node_conf(spec_) + " NodeAddr=" + placeholder_address});
  if (!addresses_.names.empty()) {
    addresses_.group = spec_.name;
    plan_.actions.emplace_back(std::move(addresses_));
  }
  if (!undrain_.empty()) plan_.actions.emplace_back(UndrainNodes{spec_.name, std::move(undrain_)});
  if (!resume_.empty()) plan_.actions.emplace_back(ResumeNodes{spec_.name, std::move(resume_)});
  for (Action& action : machine_actions_) plan_.actions.push_back(std::move(action));
}

}  // namespace muster::logic
