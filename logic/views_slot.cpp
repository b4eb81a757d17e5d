// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a slot waits for, in one sentence, in the order in which the planner asks.
#include <algorithm>

#include "logic/field_reader.hpp"
#include "logic/launch_trouble.hpp"
#include "logic/plan.hpp"
#include "logic/view_parts.hpp"
#include "logic/views.hpp"

namespace muster::logic {
namespace {

/// "group ctl (Creating: 0 of 1 nodes ready)" of those that come first.
std::string controllers_text(const HeadState& state) {
  std::string text;
  for (const GroupSpec& spec : state.spec->groups) {
    const GroupRecord* record = find_record(state, spec.name);
    if (spec.node_type != NodeType::controller || !record) continue;
    text += (text.empty() ? "group " : ", group ") + spec.name.str() + " (" +
            std::string(group_status_name(record->status)) + ": " + record->status_reason + ")";
  }
  return text;
}

/// Why no type of the group may be launched now.
std::string types_text(const GroupSpec& spec, const GroupRecord& group, Time next_try, Time now) {
  if (is_stopped(spec, group) || next_try == no_time) {
    // All are stopped, or another slot is the probe.
    const auto probed = std::find_if(group.troubles.begin(), group.troubles.end(),
                                     [](const auto& trouble) { return !trouble.second.probe.empty(); });
    const auto& told = probed == group.troubles.end() ? *group.troubles.begin() : *probed;
    return "not launched: " + trouble_text(told.first, told.second) + "; " + trouble_next(told.second, now);
  }
  for (const auto& [type, trouble] : group.troubles) {
    if (trouble.retry_at != next_try || trouble.stopped) continue;
    return "waits for " + (type.empty() ? std::string("the provider") : "instance type " + type) + ", tried again in " +
           duration_text(next_try - now) + " (" + std::string(failure_class_name(trouble.failure)) + ": " +
           trouble.problem + ")";
  }
  return "waits for an instance type to be had, tried again in " + duration_text(next_try - now);
}

}  // namespace

int SlotWords::jobs_on(const NodeName& name) const {
  if (!jobs_) jobs_ = count_jobs(state_);
  const auto found = jobs_->find(name);
  return found == jobs_->end() ? 0 : found->second;
}

int SlotWords::launches_under_way(const GroupRecord& group) const {
  const auto [known, is_new] = launches_.try_emplace(&group, 0);
  if (is_new) {
    known->second = static_cast<int>(std::count_if(group.slots.begin(), group.slots.end(), [](const SlotRecord& slot) {
      return slot.state == SlotState::launching;
    }));
  }
  return known->second;
}

std::string SlotWords::waiting(const GroupSpec& spec, const GroupRecord& group, const SlotRecord& slot) const {
  if (slot.given_up) {
    return "given up after " + plural(slot.failures, "machine") + " in a row (" +
           std::string(failure_class_name(slot.last_failure)) + ": " + slot.last_problem + "); muster replace " +
           slot.name.str() + " tries again";
  }
  if (!may_launch(*state_.spec, state_.ledger, spec))
    return "waits for a controller, which comes first: " + controllers_text(state_);
  if (slot.retry_at > now_) {
    return "next attempt in " + duration_text(slot.retry_at - now_) + " (" +
           std::string(failure_class_name(slot.last_failure)) + ": " + slot.last_problem + ")";
  }
  if (spec.joins_slurm()) {
    if (!state_.slurm_is_up) return "waits for slurmctld, which does not answer; then it is launched";
    const SeenNode* node = find_seen(state_, slot.name);
    const bool is_listed = spec.registration == Registration::slurm_conf;
    if (is_listed && static_cast<std::size_t>(slot.index) > spec.node_addresses.size())
      return "waits for its address: node_addresses of the cluster file has " +
             std::to_string(spec.node_addresses.size()) + ", and this is number " + std::to_string(slot.index);
    if (!node && is_listed) {
      const std::string& needed = state_.ledger.cluster.node_file_needs;
      return "waits until slurmctld has its line of slurm.conf" + (needed.empty() ? "" : ": " + needed);
    }
    if (!node) return "waits for its record in Slurm; then it is launched";
    if (is_listed && (!node->drained || node->has_jobs()))
      return "waits until its node in Slurm is drained and free of jobs (it is " + node->state_text() +
             "); then it is launched";
    if (!is_listed && (node->base != NodeBase::future || !node->drained)) {
      return "waits until its record in Slurm is hidden and drained (it is " + node->state_text() +
             "); then it is launched";
    }
  }
  if (const ProviderSpec* provider = find_provider(spec);
      provider && launches_under_way(group) >= provider->max_launches) {
    return "waits for its turn: provider " + spec.provider + " is asked for " +
           plural(provider->max_launches, "machine") + " at once (max_launches)";
  }
  const LaunchChoice choice = choose_type(spec, group, now_);
  if (!choice.type && !group.troubles.empty()) return types_text(spec, group, choice.next_try, now_);
  return "is launched with the next pass";
}

std::string SlotWords::departed(const GroupSpec& spec, const SlotRecord& slot) const {
  if (!spec.joins_slurm()) return "its machine is gone";
  if (slot.record_is_over) {
    const std::string& needed = state_.ledger.cluster.node_file_needs;
    return "its machine and its line are gone" + (needed.empty() ? "" : ": " + needed);
  }
  const Time due = slot.state_since + spec.prune_after;
  if (due > now_) return "its machine is gone; its record in Slurm is deleted in " + duration_text(due - now_);
  return "its machine is gone; its record in Slurm is deleted when no job and no reservation names it any more";
}

std::string SlotWords::leaving(const SlotRecord& slot) const {
  const std::string what = "to be " + std::string(done_word(slot.wish)) + " (" + slot.wish_reason + ")";
  if (slot.state == SlotState::launching)
    return what + " as soon as it is known what became of its launch (attempt " + std::to_string(slot.attempt) + ")";
  const int jobs = jobs_on(slot.name);
  if (jobs == 0) return "closed to new jobs, " + what + " when free of jobs";
  return "closed to new jobs, " + what + " when its " + plural(jobs, "job") + (jobs == 1 ? " has" : " have") +
         " ended, " +
         (slot.drain_deadline > now_ ? "in " + duration_text(slot.drain_deadline - now_) + " at the latest"
                                     : "which is over-due");
}

std::string SlotWords::message(const GroupSpec& spec, const GroupRecord& group, const SlotRecord& slot) const {
  if (is_departed(slot)) return departed(spec, slot);
  if (is_leaving(slot) && slot.state != SlotState::rebooting && slot.state != SlotState::terminating)
    return leaving(slot);
  if (!slot.foreign_reason.empty()) {
    return "drained by somebody else (\"" + slot.foreign_reason + "\"); muster leaves it alone" +
           (slot.state == SlotState::waiting ? " and launches no machine for it" : "");
  }
  const std::string since = duration_text(now_ - slot.state_since);
  switch (slot.state) {
    case SlotState::waiting: return waiting(spec, group, slot);
    case SlotState::launching:
      if (slot.retry_at > now_)
        return "the launch is asked for again in " + duration_text(slot.retry_at - now_) + " (" + slot.last_problem +
               ")";
      return "launch asked of provider " + spec.provider + " " + since + " ago (attempt " +
             std::to_string(slot.attempt) + (slot.instance_type.empty() ? "" : ", " + slot.instance_type) + ")";
    case SlotState::booting:
      if (slot.node_step.empty()) return "launched " + since + " ago; not heard of yet";
      return "booting, " + since + "; noded: " + (slot.node_message.empty() ? slot.node_step : slot.node_message);
    case SlotState::registering:
      return "slurmd may start; waits for Slurm to have it in shape, " + since +
             (slot.node_message.empty() ? "" : "; noded: " + slot.node_message);
    case SlotState::settling:
      return std::string(spec.joins_slurm() ? "in Slurm" : "good") + "; counts after " +
             duration_text(spec.settle_time) + " without trouble";
    case SlotState::ready:
      if (group.gathering == Gathering::floor)
        return "ready, closed until MinCount nodes are ready again (gate: floor)";
      return group.gathering == Gathering::no ? "ready, opened with the next pass"
                                              : "ready, closed until the group opens";
    case SlotState::in_service: return (spec.joins_slurm() ? "open to jobs, " : "in service, ") + since;
    case SlotState::rebooting: return "its machine restarts, " + since + " (" + slot.wish_reason + ")";
    case SlotState::terminating: {
      const std::string why = slot.wish == Wish::remove ? slot.wish_reason : slot.last_problem;
      if (slot.retry_at > now_) {
        return "its machine could not be ended; tried again in " + duration_text(slot.retry_at - now_);
      }
      return "its machine is being ended" + (why.empty() ? "" : " (" + why + ")");
    }
  }
  return "";
}

const ProviderSpec* SlotWords::find_provider(const GroupSpec& spec) const {
  const auto provider = state_.spec->providers.find(spec.provider);
  return provider == state_.spec->providers.end() ? nullptr : &provider->second;
}

std::string_view instance_status(const SlotRecord& slot, Time now) {
  const bool is_going = slot.wish == Wish::remove || slot.wish == Wish::replace;
  if (slot.state == SlotState::terminating || is_departed(slot) || (is_going && !slot.instance.empty()))
    return "ShuttingDown";
  if (slot.state == SlotState::in_service) return "Running";
  return slot.given_up || is_retrying(slot, now) ? "Failure" : "Pending";
}

}  // namespace muster::logic
