// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/view_parts.hpp"

#include <algorithm>

#include "logic/field_reader.hpp"
#include "logic/group_planner.hpp"
#include "logic/release.hpp"

namespace muster::logic {
namespace {

constexpr Duration silent_after = std::chrono::minutes{2};

bool waits_for_deadline(const GroupRecord& group) {
  return group.gathering == Gathering::creating || group.gathering == Gathering::updating;
}

/// What keeps a record of Slurm from taking work; empty where nothing does.
std::string record_trouble(const SlotRecord& slot, const SeenNode& node) {
  const bool is_stuck = node.base == NodeBase::down || node.base == NodeBase::error || node.base == NodeBase::future ||
                        node.base == NodeBase::unknown || node.not_responding || node.failing || node.rebooting ||
                        node.invalid_registration;
  const bool should_be_open = slot.state == SlotState::in_service;
  if (!is_stuck && !(should_be_open && node.drained)) return "";
  return node.state_text() + (node.reason.empty() ? "" : " (" + node.reason + ")");
}

}  // namespace

Value time_or_null(Time time) { return time == no_time ? Value() : Value(to_seconds(time)); }

std::string plural(std::int64_t count, const std::string& noun) {
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

bool is_leaving(const SlotRecord& slot) { return slot.wish != Wish::keep && !is_departed(slot); }

bool is_departed(const SlotRecord& slot) { return slot.wish == Wish::remove && slot.state == SlotState::waiting; }

bool is_retrying(const SlotRecord& slot, Time now) {
  return (slot.state == SlotState::waiting && slot.last_failure != FailureClass::none) ||
         (slot.state == SlotState::launching && slot.retry_at > now);
}

std::string_view done_word(Wish wish) {
  switch (wish) {
    case Wish::keep: return "kept";
    case Wish::remove: return "removed";
    case Wish::replace: return "replaced";
    case Wish::reboot: return "rebooted";
  }
  return "kept";
}

std::map<NodeName, int> count_jobs(const HeadState& state) {
  std::map<NodeName, int> jobs;
  for (const SeenJob& job : state.jobs) {
    for (const NodeName& node : job.nodes) ++jobs[node];
  }
  return jobs;
}

std::optional<Time> heard_at(const HeadState& state, const SlotRecord& slot) {
  const auto heard = state.heard_at.find(slot.instance);
  if (slot.instance.empty() || heard == state.heard_at.end()) return std::nullopt;
  return heard->second;
}

std::optional<Duration> silent_for(const HeadState& state, const SlotRecord& slot, Time now) {
  const auto heard = heard_at(state, slot);
  if (!heard || now - *heard <= silent_after) return std::nullopt;
  return now - *heard;
}

std::optional<Unusable> find_unusable(const HeadState& state, const GroupSpec& spec, const SlotRecord& slot, Time now) {
  const bool counts = (slot.state == SlotState::ready || slot.state == SlotState::in_service) &&
                      slot.wish == Wish::keep && slot.foreign_reason.empty();
  if (!counts) return std::nullopt;
  if (!spec.joins_slurm()) {
    if (const auto silence = silent_for(state, slot, now)) return Unusable{"noded is silent", now - *silence};
    return std::nullopt;
  }
  if (!state.nodes) return std::nullopt;  // unknown is not bad
  const SeenNode* node = find_seen(state, slot.name);
  if (!node) return Unusable{"no record in Slurm", no_time};
  const std::string trouble = record_trouble(slot, *node);
  if (trouble.empty()) return std::nullopt;
  return Unusable{trouble, node->reason.empty() ? no_time : node->reason_time};
}

int usable_count(const HeadState& state, const GroupSpec& spec, const GroupRecord& group, Time now) {
  const auto unusable = std::count_if(group.slots.begin(), group.slots.end(), [&](const SlotRecord& slot) {
    return find_unusable(state, spec, slot, now).has_value();
  });
  return ready_count(group) - static_cast<int>(unusable);
}

std::string trouble_text(const std::string& type, const LaunchTrouble& trouble) {
  return (type.empty() ? std::string() : "instance type " + type + ": ") +
         std::string(failure_class_name(trouble.failure)) + ", " + plural(trouble.failures, "failure") +
         " in a row: " + trouble.problem;
}

std::string trouble_next(const LaunchTrouble& trouble, Time now) {
  if (trouble.stopped) {
    switch (trouble.failure) {
      case FailureClass::never_registered:
      case FailureClass::unhealthy:
        return "stopped: see on such a machine why (its image, its noded), mend it, then muster resync";
      default:
        return "stopped: mend the cluster file (then muster apply), or what the provider complains of (then muster "
               "resync)";
    }
  }
  if (!trouble.probe.empty()) return trouble.probe.str() + " tries it now";
  return trouble.retry_at > now ? "tried again in " + duration_text(trouble.retry_at - now) : "tried again now";
}

std::optional<double> arrivals_per_minute(const GroupRecord& group, Time now) {
  // What came before the present gathering says nothing about its pace.
  const Time since = group.gathering == Gathering::no ? no_time : group.gathering_since;
  const auto first = std::find_if(group.arrivals.begin(), group.arrivals.end(), [&](Time at) { return at >= since; });
  const auto count = group.arrivals.end() - first;
  if (count < 2) return std::nullopt;
  // The time since the last one counts, too: where nothing arrives any more the pace falls.
  const Duration span = std::max(now, group.arrivals.back()) - *first;
  if (span.count() <= 0) return std::nullopt;
  return static_cast<double>(count - 1) * 60'000.0 / static_cast<double>(span.count());
}

std::optional<Time> estimated_open(const GroupRecord& group, Time now) {
  if (group.gathering == Gathering::no) return std::nullopt;
  const auto rate = arrivals_per_minute(group, now);
  const int missing = group.counts.min - ready_count(group);
  if (!rate || missing <= 0) return std::nullopt;
  return now + Duration{static_cast<std::int64_t>(missing * 60'000.0 / *rate)};
}

std::string deadline_action(const GroupRecord& group) {
  if (!waits_for_deadline(group) || group.deadline == no_time) return "";
  return "the group is rolled back to target " + std::to_string(group.restore.target) + ", MinCount " +
         std::to_string(group.restore.min) + (group.restore.target == 0 ? ": its machines are ended" : "");
}

std::optional<IdleBound> idle_bound(const GroupSpec& spec, const GroupRecord& group, Time now) {
  if (spec.max_idle_node_hours <= 0 || !waits_for_deadline(group)) return std::nullopt;
  constexpr double hour = 3'600'000.0;
  IdleBound bound;
  bound.limit = spec.max_idle_node_hours;
  bound.spent = static_cast<double>(idle_node_time(group, now).count()) / hour;
  const auto waiting = std::count_if(group.slots.begin(), group.slots.end(), [](const SlotRecord& slot) {
    return !slot.instance.empty() && slot.state != SlotState::in_service && slot.state != SlotState::terminating;
  });
  if (waiting > 0) {
    const double left = std::max(0.0, bound.limit - bound.spent) / static_cast<double>(waiting);
    bound.reached_at = now + Duration{static_cast<std::int64_t>(left * hour)};
  }
  return bound;
}

GateTable present_gate_table(const HeadState& state, Time now) {
  Seen seen;
  seen.nodes = state.nodes;
  if (state.facts) seen.default_partition = state.facts->default_partition();
  return make_gate_table(*state.spec, state.ledger, seen, now);
}

std::string waits_until(const HoldDecision& decision) {
  constexpr std::string_view opening = "muster: held ";
  constexpr std::string_view closing = "; see 'muster why JOBID'";
  std::string text = decision.text;
  if (text.compare(0, opening.size(), opening) == 0) text.erase(0, opening.size());
  if (const std::size_t at = text.find(closing); at != std::string::npos) text.erase(at, closing.size());
  return text;
}

}  // namespace muster::logic
