// SPDX-License-Identifier: GPL-2.0-or-later
//
// How many slots a group has: more when the target is above, fewer when it is below, none when it is deleted.
#include <algorithm>
#include <set>

#include "logic/group_planner.hpp"

namespace muster::logic {

void GroupPlanner::plan_size() {
  if (!group_.deleting.empty()) {
    // The group was named, so everything in it was.
    for (SlotRecord& slot : group_.slots) {
      if (slot.wish == Wish::remove) continue;
      slot.wish = Wish::remove;
      slot.by_name = true;
      slot.wish_reason = "the group is deleted by " + group_.deleting;
      slot.wish_since = now_;
      slot.drain_deadline = now_ + spec_.drain_timeout;
    }
    return;
  }
  for (SlotRecord& slot : group_.slots) {
    // Somebody drained or reserved a node that was chosen to go: what is somebody's goes only by name, and another one
    // is chosen.
    const bool was_chosen = slot.wish == Wish::remove && !slot.by_name && slot.state != SlotState::terminating;
    if (!was_chosen || slot.instance.empty() || !is_somebody_elses(slot)) continue;
    keep_after_all(slot);
    event(EventLevel::warn, "RemovalTakenBack", &slot, "somebody else has drained or reserved it since it was chosen");
  }
  const auto kept = static_cast<int>(std::count_if(group_.slots.begin(), group_.slots.end(),
                                                   [](const SlotRecord& slot) { return slot.wish != Wish::remove; }));
  if (kept < group_.counts.target) {
    take_back(group_.counts.target - kept);
  } else if (kept > group_.counts.target) {
    send_away(kept - group_.counts.target);
  }
}

// One that is on its way was not waited for meanwhile.
void GroupPlanner::keep_after_all(SlotRecord& slot) {
  slot.wish = Wish::keep;
  slot.wish_reason.clear();
  if (slot.state == SlotState::booting) slot.deadline = std::max(slot.deadline, now_ + spec_.boot_timeout);
  if (slot.state == SlotState::registering) slot.deadline = std::max(slot.deadline, now_ + spec_.register_timeout);
}

// A node that has not gone yet is the quickest one to have.
void GroupPlanner::take_back(int number) {
  for (SlotRecord& slot : group_.slots) {
    if (number == 0) return;
    if (slot.wish != Wish::remove || slot.by_name || slot.state == SlotState::terminating) continue;
    keep_after_all(slot);
    --number;
  }
  add_slots(number);
}

void GroupPlanner::add_slots(int number) {
  if (number == 0) return;
  // A name that Slurm has already is somebody else's: the next one is taken. Unknown is not empty.
  if (spec_.joins_slurm() && !seen_.nodes) return;
  std::set<int> taken;
  for (const SlotRecord& slot : group_.slots) taken.insert(slot.index);
  for (int index = 1; number > 0; ++index) {
    if (taken.count(index) > 0) continue;
    if (spec_.joins_slurm() && seen_.nodes->count(spec_.node_name(index)) > 0) continue;
    SlotRecord slot;
    slot.name = spec_.node_name(index);
    slot.index = index;
    slot.state_since = now_;
    group_.slots.push_back(std::move(slot));
    --number;
  }
  std::sort(group_.slots.begin(), group_.slots.end(),
            [](const SlotRecord& a, const SlotRecord& b) { return a.index < b.index; });
}

void GroupPlanner::send_away(int number) {
  // Whom it meets depends on what Slurm has: who is busy, drained by others, reserved. Unknown is not empty.
  if (spec_.joins_slurm() && (!seen_.nodes || !seen_.reservations)) return;
  const bool rolls_back = !group_.rolled_back.empty();
  const auto order = rolls_back ? DepartureOrder::rollback : DepartureOrder::scale_down;
  for (const std::size_t position : choose_departures(group_, seen_, number, order)) {
    SlotRecord& slot = group_.slots[position];
    slot.wish = Wish::remove;
    slot.by_name = false;
    slot.wish_reason = rolls_back ? "rolled back" : "the target is lower";
    slot.wish_since = now_;
    slot.drain_deadline = now_ + spec_.drain_timeout;
  }
}

// What has neither a machine nor a record any more is forgotten.
void GroupPlanner::forget_departed() {
  const auto is_gone = [&](const SlotRecord& slot) {
    if (slot.wish != Wish::remove || slot.state != SlotState::waiting) return false;
    const bool has_line = spec_.registration == Registration::slurm_conf && !slot.record_is_over;
    return !spec_.joins_slurm() || !slot.has_record ||
           (seen_.nodes && !seen_node(slot) && (!has_line || slot.our_reason.empty()));
  };
  group_.slots.erase(std::remove_if(group_.slots.begin(), group_.slots.end(), is_gone), group_.slots.end());
  if (!group_.deleting.empty() && group_.slots.empty() && group_.orphans.empty() && !group_.deleted) {
    group_.deleted = true;
    event(EventLevel::info, "GroupDeleted", nullptr, "deleted by " + group_.deleting);
  }
}

}  // namespace muster::logic
