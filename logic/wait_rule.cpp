// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/wait_rule.hpp"

#include <algorithm>

#include "logic/launch_trouble.hpp"
#include "logic/view_parts.hpp"

namespace muster::logic {
namespace {

/// Nodes that are ready, or may still become so without anybody's help.
int possible_count(const GroupSpec& spec, const GroupRecord& group) {
  const bool stopped = is_stopped(spec, group);
  int kept = 0;
  int possible = 0;
  for (const SlotRecord& slot : group.slots) {
    if (slot.wish == Wish::remove) continue;
    ++kept;
    const bool needs_launch = slot.state == SlotState::waiting || slot.state == SlotState::terminating;
    if (!needs_launch || (!stopped && !slot.given_up)) ++possible;
  }
  // A target that was raised a moment ago has no slots yet.
  const int to_come = std::max(0, group.counts.target - kept);
  return possible + (stopped ? 0 : to_come);
}

std::string stuck_text(const GroupSpec& spec, const GroupRecord& group) {
  for (const auto& [type, trouble] : group.troubles) {
    if (trouble.stopped && is_stopped(spec, group)) return "launching is stopped: " + trouble_text(type, trouble);
  }
  const auto given_up =
      std::count_if(group.slots.begin(), group.slots.end(), [](const SlotRecord& slot) { return slot.given_up; });
  return plural(given_up, "node") + (given_up == 1 ? " was" : " were") + " given up (muster why " + group.name.str() +
         ")";
}

std::string machines_text(const GroupRecord& group) {
  const auto left = std::count_if(group.slots.begin(), group.slots.end(), [](const SlotRecord& slot) {
    return slot.wish == Wish::remove && slot.state != SlotState::waiting;
  });
  return plural(left, "machine") + " still to be ended";
}

bool has_leaving_machine(const GroupRecord& group) {
  return std::any_of(group.slots.begin(), group.slots.end(), [](const SlotRecord& slot) {
    return slot.wish == Wish::remove && slot.state != SlotState::waiting;
  });
}

}  // namespace

std::optional<WaitFor> wait_for_from_name(std::string_view name) {
  if (name == "inservice") return WaitFor::in_service;
  if (name == "target") return WaitFor::target;
  if (name == "deleted") return WaitFor::deleted;
  return std::nullopt;
}

std::string_view wait_state_name(WaitOutcome::State state) {
  switch (state) {
    case WaitOutcome::State::waiting: return "waiting";
    case WaitOutcome::State::reached: return "reached";
    case WaitOutcome::State::failed: return "failed";
  }
  return "waiting";
}

WaitOutcome judge_wait(const HeadState& state, const GroupName& name, WaitFor what) {
  using State = WaitOutcome::State;
  const std::string title = "group " + name.str();
  const GroupSpec* spec = state.spec ? state.spec->find_group(name) : nullptr;
  const GroupRecord* group = spec ? find_record(state, name) : nullptr;
  if (what == WaitFor::deleted) {
    if (!group) return {State::reached, title + " is not there"};
    const bool nothing_left = !group->deleting.empty() && !has_leaving_machine(*group);
    return {State::waiting, title + ": " +
                                (group->deleting.empty() ? "nobody has asked for its deletion"
                                 : nothing_left          ? "its machines are gone, its records are not yet"
                                                         : machines_text(*group))};
  }
  if (!group) return {State::failed, title + " is not there any more"};
  if (!group->deleting.empty()) return {State::failed, title + " is being deleted by " + group->deleting};
  // A group that was rolled back is InService, with other counts than anybody waits for.
  if (!group->rolled_back.empty()) return {State::failed, title + " was rolled back: " + group->rolled_back};

  const int open = open_count(*group);
  const bool gathers = group->gathering != Gathering::no;
  const int needed = what == WaitFor::target ? group->counts.target : group->counts.min;
  const std::string progress = title + " is " + std::string(group_status_name(group->status)) + ": ";
  if (what == WaitFor::in_service && !gathers && group->gate_open)
    return {State::reached, progress + group->status_reason};
  if (what == WaitFor::target && open == needed && !gathers && !has_leaving_machine(*group))
    return {State::reached, title + " has its target: " + plural(open, "node") + (open == 1 ? " is" : " are") +
                                (spec->joins_slurm() ? " open to jobs" : " in service")};
  if (possible_count(*spec, *group) < needed) return {State::failed, title + ": " + stuck_text(*spec, *group)};
  if (what == WaitFor::target && open >= needed) return {State::waiting, progress + machines_text(*group)};
  return {State::waiting, progress + group->status_reason};
}

}  // namespace muster::logic
