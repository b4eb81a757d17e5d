// SPDX-License-Identifier: GPL-2.0-or-later
//
// When a group becomes InService, when it is rolled back, and what its status is. The rules are rows of HyperPod's
// MinCount table.
#include <algorithm>

#include "logic/field_reader.hpp"
#include "logic/group_planner.hpp"
#include "logic/launch_trouble.hpp"

namespace muster::logic {
namespace {

std::string counts_text(const Counts& counts) {
  return "target " + std::to_string(counts.target) + ", MinCount " + std::to_string(counts.min);
}

bool waits_behind_gate(const SlotRecord& slot) {
  return !slot.instance.empty() && slot.state != SlotState::in_service && slot.state != SlotState::terminating;
}

}  // namespace

Duration idle_node_time(const GroupRecord& group, Time now) {
  Duration spent = group.idle_spent;
  for (const SlotRecord& slot : group.slots) {
    if (waits_behind_gate(slot))
      spent += std::max(Duration{0}, now - std::max(slot.launched_at, group.gathering_since));
  }
  return spent;
}

void GroupPlanner::plan_gate() {
  if (!group_.deleting.empty()) return;
  const int ready = ready_count(group_);
  const std::string progress = std::to_string(ready) + " of " + std::to_string(group_.counts.min) + " nodes ready";
  const bool waits = group_.gathering == Gathering::creating || group_.gathering == Gathering::updating;
  if (!waits) keep_floor();
  if (waits && ready >= group_.counts.min) {
    end_gathering("MinCountReached",
                  std::to_string(ready) + " nodes are ready, MinCount is " + std::to_string(group_.counts.min));
  } else if (waits) {
    const Duration bound{static_cast<std::int64_t>(spec_.max_idle_node_hours * 3'600'000.0)};
    const Duration spent = idle_node_time(group_, now_);
    if (now_ >= group_.deadline) {
      roll_back(progress + " at the deadline");
    } else if (bound.count() > 0 && spent >= bound) {
      roll_back(progress + " when the waiting machines had cost " + duration_text(spent) +
                " of node time (max_idle_node_hours)");
    } else {
      fall_due(group_.deadline);
      const auto waiting = std::count_if(group_.slots.begin(), group_.slots.end(), waits_behind_gate);
      if (bound.count() > 0 && waiting > 0) fall_due(now_ + (bound - spent) / waiting + Duration{1});
    }
  }
  if (group_.gathering == Gathering::no) open_ready_nodes();
}

/// Nodes that jobs could use, as Slurm has them now. Stricter than ready: a floor is about what is lost later.
int GroupPlanner::count_usable() const {
  return static_cast<int>(std::count_if(group_.slots.begin(), group_.slots.end(), [&](const SlotRecord& slot) {
    const SeenNode* node = seen_node(slot);
    return (slot.state == SlotState::in_service || slot.state == SlotState::ready) && slot.wish == Wish::keep &&
           slot.foreign_reason.empty() && node && node->base != NodeBase::down && node->base != NodeBase::future;
  }));
}

// gate: floor. Nodes that are lost close the group to new jobs; what runs goes on.
void GroupPlanner::keep_floor() {
  if (spec_.gate != GatePolicy::floor || !group_.gate_open || !seen_.nodes) return;
  const int usable = count_usable();
  if (usable >= group_.counts.min) group_.floor_is_waived = false;
  if (group_.floor_is_waived) return;
  if (group_.gathering == Gathering::floor && usable >= group_.counts.min) {
    return end_gathering("FloorReached", std::to_string(usable) + " nodes are usable again, MinCount is " +
                                             std::to_string(group_.counts.min));
  }
  if (group_.gathering != Gathering::no || usable >= group_.counts.min) return;
  group_.gathering = Gathering::floor;
  group_.gathering_since = now_;
  for (SlotRecord& slot : group_.slots) {
    if (slot.state != SlotState::in_service) continue;
    move_to(slot, SlotState::ready);
    if (const SeenNode* node = seen_node(slot); node && slot.wish == Wish::keep) keep_closed(slot, *node);
  }
  event(EventLevel::warn, "ClosedBelowFloor", nullptr,
        std::to_string(usable) + (usable == 1 ? " node is" : " nodes are") + " usable, MinCount is " +
            std::to_string(group_.counts.min) + "; closed to new jobs until they are there again (gate: floor)");
}

void GroupPlanner::end_gathering(const char* kind, const std::string& why) {
  group_.gathering = Gathering::no;
  group_.idle_spent = Duration{0};
  group_.deadline = no_time;
  if (!group_.gate_open) group_.gate_opened_at = now_;
  group_.gate_open = true;
  event(EventLevel::info, kind, nullptr, why + "; the group is InService and open to jobs");
}

// HyperPod: a new group goes to 0/0, another one back to the counts of its last InService; it is InService at once, and
// the ordinary passes converge.
void GroupPlanner::roll_back(const std::string& why) {
  const Counts missed = group_.counts;
  group_.counts = group_.restore;
  group_.rolled_back = why;
  group_.gathering = Gathering::no;
  group_.idle_spent = Duration{0};
  group_.deadline = no_time;
  if (!group_.gate_open) group_.gate_opened_at = now_;
  group_.gate_open = true;
  event(EventLevel::error, "RollbackStarted", nullptr,
        why + "; rolled back from " + counts_text(missed) + " to " + counts_text(group_.counts) +
            "; the group is InService");
  plan_size();  // before anything is opened
}

void GroupPlanner::open_ready_nodes() {
  for (SlotRecord& slot : group_.slots) {
    if (slot.state != SlotState::ready || slot.wish != Wish::keep || !slot.foreign_reason.empty()) continue;
    const SeenNode* node = seen_node(slot);
    if (spec_.joins_slurm() && !node) continue;  // the read that it became ready by is older than this pass
    move_to(slot, SlotState::in_service);
    if (spec_.joins_slurm()) undrain(slot, *node);
  }
}

void GroupPlanner::tell_status() {
  const int ready = ready_count(group_);
  const bool needs_launches = static_cast<int>(group_.slots.size()) > 0 && ready < group_.counts.target;
  const auto stopped = std::find_if(group_.troubles.begin(), group_.troubles.end(),
                                    [](const auto& trouble) { return trouble.second.stopped; });
  const auto given_up = static_cast<int>(
      std::count_if(group_.slots.begin(), group_.slots.end(), [](const SlotRecord& slot) { return slot.given_up; }));
  const std::string progress = std::to_string(ready) + " of " + std::to_string(group_.counts.min) + " nodes ready";
  const std::string open = std::to_string(open_count(group_)) + " of " + std::to_string(group_.counts.target) +
                           " nodes are " + (spec_.joins_slurm() ? "open to jobs" : "in service");
  if (!group_.deleting.empty()) {
    group_.status = GroupStatus::deleting;
    group_.status_reason =
        (group_.slots.size() == 1 ? "1 node is" : std::to_string(group_.slots.size()) + " nodes are") +
        std::string(" still there");
  } else if (needs_launches && is_stopped(spec_, group_) && (group_.gathering == Gathering::creating || ready == 0)) {
    group_.status = GroupStatus::failed;
    group_.status_reason = progress + "; launching is stopped: " + stopped->second.problem;
  } else if (group_.gathering == Gathering::creating || group_.gathering == Gathering::updating) {
    group_.status = group_.gathering == Gathering::creating ? GroupStatus::creating : GroupStatus::updating;
    group_.status_reason = progress;
    if (needs_launches && stopped != group_.troubles.end())
      group_.status_reason += "; launching is stopped: " + stopped->second.problem;
  } else if (group_.gathering == Gathering::floor) {
    group_.status = GroupStatus::degraded;
    group_.status_reason = progress + "; closed to new jobs (gate: floor)";
  } else if (needs_launches && stopped != group_.troubles.end()) {
    group_.status = GroupStatus::degraded;
    group_.status_reason = open + "; launching is stopped: " + stopped->second.problem;
  } else if (given_up > 0) {
    group_.status = GroupStatus::degraded;
    group_.status_reason = open + "; " + std::to_string(given_up) + " given up";
  } else {
    group_.status = GroupStatus::in_service;
    group_.status_reason = group_.rolled_back.empty() ? open : open + "; rolled back: " + group_.rolled_back;
  }
}

}  // namespace muster::logic
