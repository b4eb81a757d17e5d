// SPDX-License-Identifier: GPL-2.0-or-later
//
// One slot's machine: launched, booted, registered, counted, restarted, replaced, ended.
#include <algorithm>

#include "logic/departure.hpp"
#include "logic/field_reader.hpp"
#include "logic/group_planner.hpp"
#include "logic/launch_trouble.hpp"
#include "logic/retry_policy.hpp"
#include "logic/slot_rules.hpp"

namespace muster::logic {
namespace {

/// The registration that Slurm shows is that of this machine. A record that is never hidden still shows the one of the
/// machine before.
bool is_own_registration(const SlotRecord& slot, const SeenNode& node) {
  return node.slurmd_start_time + std::chrono::seconds{5} >= slot.launched_at;  // clocks differ a little
}

constexpr int slurmd_starts_at_most = 3;
constexpr std::size_t arrivals_kept = 16;
constexpr Duration soonest_look = std::chrono::milliseconds{100};
/// A noded that could not reach musterd tries at least twice in this time.
constexpr Duration everybody_is_heard_after = std::chrono::seconds{60};
/// So many machines in a row that failed the same deterministic way: the next one will, too.
constexpr int failures_before_giving_up = 5;

}  // namespace

void GroupPlanner::plan_machine(SlotRecord& slot) {
  const SlotState before = slot.state;
  step_machine(slot);
  // A machine that failed just now is ended in the same pass.
  if (slot.state == SlotState::terminating && before != SlotState::terminating) step_machine(slot);
}

void GroupPlanner::step_machine(SlotRecord& slot) {
  const SeenNode* node = seen_node(slot);
  const bool is_being_done =
      slot.state == SlotState::terminating || (slot.state == SlotState::rebooting && slot.wish == Wish::reboot);
  if (slot.wish != Wish::keep && !is_being_done) return plan_leaving(slot, node);
  switch (slot.state) {
    case SlotState::waiting: return plan_waiting(slot, node);
    case SlotState::launching: return plan_launching(slot);
    case SlotState::booting: return plan_booting(slot, node);
    case SlotState::registering: return plan_registering(slot, node);
    case SlotState::settling:
    case SlotState::ready:
    case SlotState::in_service: return plan_in_slurm(slot, node);
    case SlotState::rebooting: return plan_rebooting(slot);
    case SlotState::terminating:
      if (seen_.terminations_in_flight.count(slot.instance) > 0) return;
      if (now_ < slot.retry_at) return fall_due(slot.retry_at);
      machine_actions_.emplace_back(TerminateMachine{spec_.name, slot.name, slot.instance, slot.token});
      return;
  }
}

void GroupPlanner::plan_waiting(SlotRecord& slot, const SeenNode* node) {
  if (slot.given_up || !may_launch_) return;
  if (now_ < slot.retry_at) return fall_due(slot.retry_at);
  // No machine before its slot has been read back as FUTURE+DRAIN: there must be no moment in which a job could slip
  // in.
  if (!slot.foreign_reason.empty()) return;
  if (spec_.joins_slurm() && !is_slot_prepared(slot, node)) return;
  if (launches_under_way_ >= provider_.max_launches) return;
  const LaunchChoice choice = choose_type(spec_, group_, now_);
  if (!choice.type) return fall_due(choice.next_try);
  if (const auto trouble = group_.troubles.find(*choice.type); trouble != group_.troubles.end())
    trouble->second.probe = slot.name;
  if (slot.attempt > 0) ++group_.retries;
  ++group_.launches;
  ++launches_under_way_;
  ++slot.attempt;
  slot.instance_type = *choice.type;
  // The time, so that no token is ever used again, although names are, and groups of the same name.
  slot.token = LaunchToken{cluster_ + "." + slot.name.str() + "." + std::to_string(to_milliseconds(now_))};
  slot.retry_at = no_time;
  move_to(slot, SlotState::launching);
  machine_actions_.emplace_back(LaunchMachine{spec_.name, slot.name, slot.token, slot.attempt, slot.instance_type});
}

// Its record is there and takes no job.
bool GroupPlanner::is_slot_prepared(const SlotRecord& slot, const SeenNode* node) const {
  if (!node || !node->drained || !slot.has_record) return false;
  return spec_.registration == Registration::slurm_conf ? !node->has_jobs() : node->base == NodeBase::future;
}

// Whether a launch of which we do not know how it ended is asked for once more. Otherwise the provider's list tells,
// once it can no longer lag behind.
bool GroupPlanner::asks_again(const SlotRecord& slot) const {
  return provider_.idempotent_launch && slot.wish == Wish::keep;
}

Time GroupPlanner::answer_known_by(const SlotRecord& slot) const {
  return slot.state_since + provider_.call_timeout + provider_.list_lag;
}

void GroupPlanner::plan_launching(SlotRecord& slot) {
  if (seen_.launches_in_flight.count(slot.token) > 0) return;
  if (!asks_again(slot)) return fall_due(answer_known_by(slot));
  if (now_ < slot.retry_at) return fall_due(slot.retry_at);
  machine_actions_.emplace_back(LaunchMachine{spec_.name, slot.name, slot.token, slot.attempt, slot.instance_type});
}

// A deadline that passes while musterd is away, or just back, says nothing about a machine that could not be heard.
bool GroupPlanner::is_overdue(const SlotRecord& slot) {
  const bool was_away = slot.state_since < seen_.listening_since;
  const Time due = was_away ? std::max(slot.deadline, seen_.listening_since + everybody_is_heard_after) : slot.deadline;
  fall_due(due);
  return due <= now_;
}

// What the machine waits for would show in Slurm, which cannot be read: unknown is not overdue. Once it can be read
// there is time to go on.
void GroupPlanner::wait_for_slurm(SlotRecord& slot) {
  if (slot.deadline < now_ + spec_.register_timeout / 2) slot.deadline = now_ + spec_.register_timeout;
  fall_due(slot.deadline);
}

void GroupPlanner::plan_booting(SlotRecord& slot, const SeenNode* node) {
  if (spec_.joins_slurm() && !seen_.nodes && has_passed_checks(slot)) return wait_for_slurm(slot);
  const bool is_theirs = !slot.foreign_reason.empty();  // a machine that somebody drained is ended only by name
  const bool is_busy = node && node->has_jobs();        // a node that was open before: its jobs come first
  if (is_overdue(slot) && !is_theirs && !is_busy) {
    const std::string seen_so_far = slot.node_step.empty()
                                        ? "nothing was heard of it"
                                        : "it is at \"" + slot.node_step + "\": " + slot.node_message;
    // What a check finds on one machine it finds on the next one of this kind.
    const bool has_bad_check =
        std::any_of(slot.checks.begin(), slot.checks.end(), [](const NodeCheck& check) { return !check.ok; });
    return fail_attempt(slot, has_bad_check ? FailureClass::unhealthy : FailureClass::boot_timeout,
                        "not ready " + duration_text(now_ - slot.state_since) + " after its launch; " + seen_so_far,
                        true);
  }
  if (!spec_.joins_slurm()) {
    if (has_passed_checks(slot)) move_to(slot, SlotState::settling);
    return slot.state == SlotState::settling ? plan_in_slurm(slot, node) : void();
  }
  if (!node || !has_passed_checks(slot) || slot.address.empty()) return;
  const bool is_listed = spec_.registration == Registration::slurm_conf;
  if (is_listed && node->address != slot.address) {
    return fail_attempt(
        slot, FailureClass::configuration,
        "its address is " + slot.address + ", slurm.conf has " + node->address + " for it (node_addresses)", true);
  }
  if (node->address != slot.address) return;
  // Its record is a registered one: the machine restarted, or its slurmd registered by itself, as they do when they are
  // told to re-read their configuration. Then it need not start again.
  const bool comes_back = slot.slurmd_start > 0 && node->base != NodeBase::future && node->drained && slot.has_record &&
                          (!slot.node_slurmd_alive || is_in_shape(spec_, *node));
  if (!comes_back) {
    if (!is_slot_prepared(slot, node)) return;
    slot.slurmd_start = std::max(slot.slurmd_start, slot.node_slurmd_start) + 1;
  }
  ++slot.generation;
  move_to(slot, SlotState::registering, spec_.register_timeout);
}

void GroupPlanner::plan_registering(SlotRecord& slot, const SeenNode* node) {
  if (!seen_.nodes) return wait_for_slurm(slot);
  std::string why_not = "Slurm has no record of it";
  const bool started = slot.node_slurmd_alive && slot.node_slurmd_start == slot.slurmd_start;
  if (started && node && is_own_registration(slot, *node) && is_in_shape(spec_, *node, &why_not)) {
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
  // Nobody tells when a slurmd has registered, which is a moment after its start; often it is the one that jobs wait
  // for.
  if (started) fall_due(now_ + std::max(soonest_look, (now_ - slot.state_since) / 2));
  const bool is_busy = node && node->has_jobs();  // a node that was open before: its jobs come first
  if (is_overdue(slot) && slot.foreign_reason.empty() && !is_busy) {
    if (!started) why_not = "its slurmd did not start: " + slot.node_message;
    return fail_attempt(
        slot, FailureClass::never_registered,
        "not in Slurm " + duration_text(now_ - slot.state_since) + " after slurmd was allowed; " + why_not, true);
  }
}

void GroupPlanner::plan_in_slurm(SlotRecord& slot, const SeenNode* node) {
  if (spec_.joins_slurm() && !node) return;
  std::string why_not;
  if (spec_.joins_slurm() && slot.state != SlotState::in_service && !is_in_shape(spec_, *node, &why_not)) {
    note_problem(slot, FailureClass::unhealthy, why_not);
    move_to(slot, SlotState::registering, spec_.register_timeout);
    event(EventLevel::warn, "NodeNotReady", &slot, why_not);
    return;
  }
  if (!spec_.joins_slurm() && !has_passed_checks(slot)) {
    note_problem(slot, FailureClass::unhealthy, slot.node_message);
    move_to(slot, SlotState::booting, spec_.boot_timeout);
    return;
  }
  if (slot.state != SlotState::settling) return;
  const Time settled_at = slot.state_since + spec_.settle_time;
  if (now_ < settled_at) return fall_due(settled_at);
  become_ready(slot);
}

void GroupPlanner::become_ready(SlotRecord& slot) {
  slot.failures = 0;
  slot.last_problem.clear();
  slot.last_failure = FailureClass::none;
  note_type_success(group_, slot, true);
  move_to(slot, SlotState::ready);
  group_.arrivals.push_back(now_);
  if (group_.arrivals.size() > arrivals_kept) group_.arrivals.erase(group_.arrivals.begin());
  event(
      EventLevel::info, "NodeReady", &slot,
      "attempt " + std::to_string(slot.attempt) + ", " + duration_text(now_ - slot.launched_at) + " after its launch");
}

void GroupPlanner::plan_rebooting(SlotRecord& slot) {
  if (is_overdue(slot)) {
    if (!slot.foreign_reason.empty()) return;  // a machine that somebody drained is ended only by name
    return fail_attempt(slot, FailureClass::boot_timeout,
                        "not back " + duration_text(now_ - slot.state_since) + " after its reboot was asked for", true);
  }
  if (seen_.reboots_in_flight.count(slot.instance) > 0 || now_ < slot.retry_at) return;
  machine_actions_.emplace_back(RebootMachine{spec_.name, slot.name, slot.instance, slot.token});
}

bool GroupPlanner::is_somebody_elses(const SlotRecord& slot) const {
  return !slot.foreign_reason.empty() || reserved_nodes(seen_).count(slot.name) > 0;
}

// A slot that is to be removed, replaced or rebooted: closed, then free of jobs, then done.
void GroupPlanner::plan_leaving(SlotRecord& slot, const SeenNode* node) {
  if (slot.state == SlotState::waiting) {
    // There is no machine (any more). A removed slot is forgotten once its record is gone; the others are launched.
    if (slot.wish == Wish::remove) return;
    slot.wish = Wish::keep;
    slot.wish_reason.clear();
    slot.given_up = false;
    slot.failures = 0;
    slot.retry_at = no_time;
    return plan_waiting(slot, node);
  }
  if (slot.state == SlotState::launching) return plan_launching(slot);
  if (spec_.joins_slurm()) {
    if (!seen_.nodes) return;
    if (!slot.by_name && is_somebody_elses(slot)) return fall_due(now_);  // the next pass chooses another one
    if (node && node->is_registered() && takes_jobs(*node)) return;       // closed in this pass, and read back first
    if (node && node->has_jobs()) {
      if (now_ < slot.drain_deadline) return fall_due(slot.drain_deadline);
      event(EventLevel::warn, "DrainTimedOut", &slot,
            "its jobs did not end within " + duration_text(now_ - slot.wish_since) + " and are ended with it");
    }
  }
  if (slot.wish == Wish::reboot) {
    ++slot.generation;
    slot.slurmd_start = 0;
    slot.retry_at = no_time;
    move_to(slot, SlotState::rebooting, spec_.boot_timeout);
    event(EventLevel::info, "RebootStarted", &slot, slot.wish_reason);
    return plan_rebooting(slot);
  }
  ++slot.generation;
  slot.retry_at = no_time;
  event(EventLevel::info, slot.wish == Wish::replace ? "ReplacementStarted" : "RemovalStarted", &slot,
        "its machine is ended (" + slot.wish_reason + ")");
  if (!slot.foreign_reason.empty()) {
    // Somebody's drain was on the machine that was named; with it, it goes.
    slot.our_reason = slot.foreign_reason;
    slot.foreign_reason.clear();
  }
  if (slot.wish == Wish::replace) {
    slot.wish = Wish::keep;
    slot.failures = 0;
    slot.last_problem = slot.wish_reason;
    slot.wish_reason.clear();
  }
  release_probe(group_, slot.name);
  move_to(slot, SlotState::terminating);
}

void GroupPlanner::note_problem(SlotRecord& slot, FailureClass failure, const std::string& problem) {
  ++slot.failures;
  slot.last_failure = failure;
  slot.last_problem = problem;
  slot.last_problem_at = now_;
}

// Trouble that says something about the instance type holds up the type; the slot waits by itself only for what is its
// own machine's.
void GroupPlanner::fail_attempt(SlotRecord& slot, FailureClass failure, const std::string& problem,
                                bool machine_exists) {
  const bool is_of_launch = !machine_exists && is_trouble_of_type(failure);
  const Time began_at = machine_exists ? slot.launched_at : slot.state_since;
  note_problem(slot, failure, problem);
  if (is_of_launch) --slot.failures;  // the provider's refusals say nothing about this slot
  slot.retry_at =
      machine_exists || is_of_launch ? no_time : now_ + retry_delay(failure, slot.failures, slot.name.str());
  std::string next = machine_exists ? "the machine is ended and replaced" : "another attempt follows";
  if (is_trouble_of_type(failure)) {
    const bool stops = note_type_failure(group_, slot, failure, problem, began_at, now_);
    const LaunchTrouble& trouble = group_.troubles.at(slot.instance_type);
    if (is_of_launch) {
      next = trouble.stopped ? "no more tries"
                             : "tried again in " + duration_text(std::max(Duration{0}, trouble.retry_at - now_));
    }
    if (stops) {
      event(EventLevel::error, "LaunchingStopped", nullptr,
            std::string(slot.instance_type.empty() ? "" : "instance type " + slot.instance_type + ": ") +
                std::to_string(trouble.failures) + " failures in a row (" + std::string(failure_class_name(failure)) +
                ": " + problem +
                "); no more is launched before somebody mends it and says muster resync, or applies another file");
    }
  }
  const bool is_deterministic = failure == FailureClass::never_registered || failure == FailureClass::unhealthy;
  if (is_deterministic && slot.failures >= failures_before_giving_up) {
    slot.given_up = true;
    next = "given up after " + std::to_string(slot.failures) + " machines in a row; muster replace " + slot.name.str() +
           " tries again";
  }
  event(slot.given_up ? EventLevel::error : EventLevel::warn, machine_exists ? "MachineFailed" : "LaunchFailed", &slot,
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
  if (!slot.instance.empty() && group_.gathering != Gathering::no)
    group_.idle_spent += std::max(Duration{0}, now_ - std::max(slot.launched_at, group_.gathering_since));
  release_probe(group_, slot.name);
  const Time retry_at = slot.retry_at;
  SlotRecord fresh;
  fresh.name = slot.name;
  fresh.index = slot.index;
  fresh.wish = slot.wish;
  fresh.by_name = slot.by_name;
  fresh.wish_reason = slot.wish_reason;
  fresh.wish_since = slot.wish_since;
  fresh.drain_deadline = slot.drain_deadline;
  fresh.attempt = slot.attempt;
  fresh.failures = slot.failures;
  fresh.last_failure = slot.last_failure;
  fresh.last_problem = slot.last_problem;
  fresh.last_problem_at = slot.last_problem_at;
  fresh.given_up = slot.given_up;
  fresh.has_record = slot.has_record;
  fresh.mends = slot.mends;
  fresh.mended_at = slot.mended_at;
  fresh.our_reason = slot.our_reason;
  fresh.lifted_reason = slot.lifted_reason;
  fresh.foreign_reason = slot.foreign_reason;
  fresh.generation = slot.generation + 1;
  const bool waits_by_itself = slot.failures > 0 && retry_at <= now_ && slot.state == SlotState::terminating;
  fresh.retry_at = waits_by_itself ? now_ + retry_delay(slot.last_failure, slot.failures, slot.name.str()) : retry_at;
  slot = std::move(fresh);
}

}  // namespace muster::logic
