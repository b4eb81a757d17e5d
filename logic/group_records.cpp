// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a slot's record in Slurm should be: made, closed, hidden, open, or gone. What others set is left as it is.
#include <algorithm>
#include <utility>

#include "logic/group_planner.hpp"
#include "logic/slot_rules.hpp"

namespace muster::logic {
namespace {

/// What two more starts of slurmd do not mend, a third will not: the attempt then fails by its deadline.
constexpr int slurmd_starts_at_most = 3;

/// The record is made again at once, and soon once more, since musterd or slurmctld may have died over it; a slurmctld
/// that damages it each time (its GresTypes lack one, say) is not hurried.
Duration wait_between_mends(int mends) {
  return mends == 0 ? Duration{0} : std::chrono::seconds{2} * (1 << std::min(mends - 1, 6));
}

bool names(const std::vector<NodeName>& all, const NodeName& name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

}  // namespace

std::string GroupPlanner::closing_reason(const SlotRecord& slot) const {
  if (slot.wish == Wish::keep) return gathering_reason(spec_.name);
  return "muster: to be " +
         std::string(slot.wish == Wish::remove    ? "removed"
                     : slot.wish == Wish::replace ? "replaced"
                                                  : "rebooted") +
         " (" + slot.wish_reason + ")";
}

void GroupPlanner::plan_record(SlotRecord& slot) {
  if (!seen_.nodes) return;  // unknown is not empty
  if (spec_.registration == Registration::slurm_conf) return plan_listed_record(slot);
  const SeenNode* node = seen_node(slot);
  const bool is_departed = slot.wish == Wish::remove && slot.state == SlotState::waiting;
  if (!node) {
    if (is_departed) return;
    create_.push_back(slot.name);
    slot.has_record = true;
    if (!slot.our_reason.empty() || was_registered(slot)) lost_records_.push_back(slot.name);
    slot.our_reason.clear();
    if (may_be_registered(slot)) registration_lost(slot, "its record is gone from Slurm");
    return;
  }
  if (!slot.has_record) return note_taken_name(slot);
  note_asked_action(slot, *node);
  note_foreign_drain(slot, *node);
  if (is_departed && node->base == NodeBase::future) {
    if (may_prune(slot, *node)) {
      delete_.push_back(slot.name);
    } else {
      plan_address(slot, *node);  // another machine may get the one that it had
    }
    return;
  }
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
      if (!slot.foreign_reason.empty()) slot.our_reason.clear();  // what they set is put back on the hidden record
      if (!slot.our_reason.empty() && takes_jobs(*node) && slot.state != SlotState::rebooting)
        closed_again_.push_back(slot.name);
    } else {
      keep_closed(slot, *node);
    }
    return;
  }
  if (slot.state == SlotState::in_service && slot.wish == Wish::keep) {
    keep_open(slot, *node);
  } else {
    if (slot.state == SlotState::booting) plan_address(slot, *node);  // it restarted, perhaps with another one
    keep_closed(slot, *node);
  }
}

// Somebody else's node has the name. It is not touched, and nothing is launched for the slot.
void GroupPlanner::note_taken_name(SlotRecord& slot) {
  const std::string text = "Slurm has a node of this name that muster did not make; it is left alone";
  if (slot.last_problem == text) return;
  slot.last_problem = text;
  slot.last_problem_at = now_;
  event(EventLevel::error, "NameTaken", &slot, text);
}

// A record that comes from a line of slurm.conf is made and deleted by writing the file (node_file.hpp); here it is
// only opened and closed.
void GroupPlanner::plan_listed_record(SlotRecord& slot) {
  const SeenNode* node = seen_node(slot);
  if (!node) {
    slot.has_record = true;  // the file makes it
    if (may_be_registered(slot) && !slot.record_is_over) registration_lost(slot, "Slurm no longer has it");
    return;
  }
  if (!slot.has_record) return note_taken_name(slot);
  note_asked_action(slot, *node);
  note_foreign_drain(slot, *node);
  if (slot.state == SlotState::in_service && slot.wish == Wish::keep) return keep_open(slot, *node);
  keep_closed(slot, *node);
  const bool is_departed = slot.wish == Wish::remove && slot.state == SlotState::waiting;
  if (is_departed && may_prune(slot, *node)) slot.record_is_over = true;
}

// The record of a departed node is deleted after a while, and never while a job or a reservation names it.
bool GroupPlanner::may_prune(const SlotRecord& slot, const SeenNode& node) {
  const Time due = slot.state_since + spec_.prune_after;
  if (now_ < due) {
    fall_due(due);
    return false;
  }
  if (!seen_.jobs || !seen_.reservations || node.has_jobs()) return false;
  const bool is_named =
      std::any_of(
          seen_.jobs->begin(), seen_.jobs->end(),
          [&](const SeenJob& job) { return names(job.nodes, slot.name) || names(job.required_nodes, slot.name); }) ||
      std::any_of(seen_.reservations->begin(), seen_.reservations->end(),
                  [&](const SeenReservation& reservation) { return names(reservation.nodes, slot.name); });
  return !is_named;
}

void GroupPlanner::note_asked_action(SlotRecord& slot, const SeenNode& node) {
  const bool is_meant = node.drained || node.failing || node.base == NodeBase::down;
  const auto asked = is_meant && node.reason != slot.our_reason ? asked_action(node.reason) : std::nullopt;
  if (!asked) return;
  if (!asked->wish) {
    if (slot.refused_action == node.reason) return;
    slot.refused_action = node.reason;
    event(EventLevel::error, "ActionNotUnderstood", &slot,
          "the reason \"" + node.reason +
              "\" asks for something: expected Action:Replace or Action:Reboot; nothing is done");
    return;
  }
  // The reason is a request to us, so it is not somebody's drain that must be left alone.
  slot.our_reason = node.reason;
  slot.foreign_reason.clear();
  if (slot.instance.empty()) return;
  // The newest request is the one that counts; what is to be removed or replaced is rebooted by it in any case.
  const bool says_more = slot.wish == Wish::reboot && *asked->wish == Wish::replace;
  if (slot.wish != Wish::keep && !says_more) return;
  slot.wish = *asked->wish;
  slot.by_name = true;
  slot.wish_reason = "asked for by the reason " + node.reason;
  slot.wish_since = now_;
  slot.drain_deadline = now_ + spec_.drain_timeout;
  event(EventLevel::info, *asked->wish == Wish::replace ? "ReplaceAsked" : "RebootAsked", &slot,
        "the reason \"" + node.reason + "\" asks for it");
}

// slurmctld (22.05, 24.11 and 26.05, tried) forgets the type of a FUTURE record's GRES when it restarts: "gpu:h100:4"
// comes back as "gpu:4", and the node that registers under it ends with no GRES at all, so that no job that asks for
// one can ever run there. Only a new record helps.
bool GroupPlanner::mend_gres(SlotRecord& slot, const SeenNode& node) {
  if (node.gres == wanted_gres_ || node_offers(node.gres, spec_.gres)) {
    slot.mends = 0;
    return false;
  }
  if (node.base == NodeBase::future) {
    if (const Time due = slot.mended_at + wait_between_mends(slot.mends); now_ < due) {
      fall_due(due);
      return true;
    }
    delete_.push_back(slot.name);
    create_.push_back(slot.name);
    slot.mended_at = now_;
    ++slot.mends;
    if (!slot.foreign_reason.empty()) slot.our_reason.clear();  // what they set is put back
    if (was_registered(slot)) registration_lost(slot, "Slurm has put its record back to FUTURE");
    slot.last_problem = "Slurm's record of it has GRES \"" + node.gres + "\", wanted is " + wanted_gres_;
    slot.last_problem_at = now_;
    damaged_records_.push_back(slot.name);
    return true;
  }
  if (slot.state == SlotState::in_service || slot.wish != Wish::keep || !slot.foreign_reason.empty() ||
      node.has_jobs() || !node.is_registered() || node.invalid_registration)
    return false;
  if (slot.slurmd_start >= slurmd_starts_at_most) return false;
  to_future_.push_back(slot.name);
  if (may_be_registered(slot))
    registration_lost(slot, "it registered under a record that had lost its GRES (now \"" + node.gres + "\")");
  return true;
}

void GroupPlanner::plan_address(const SlotRecord& slot, const SeenNode& node) {
  // As soon as it is known: each update of a node makes slurmctld's scheduler run, and then not again for some seconds,
  // which the job that waits for this node would have to wait too.
  const bool is_known = slot.state == SlotState::booting && !slot.address.empty();
  if (!is_known && may_be_registered(slot)) return;
  const std::string wanted = is_known ? slot.address : placeholder_address;
  if (node.address == wanted) return;
  addresses_.names.push_back(slot.name);
  addresses_.addresses.push_back(wanted);
}

void GroupPlanner::note_foreign_drain(SlotRecord& slot, const SeenNode& node) {
  const std::string_view reason = reason_as_set(node.reason);
  if (is_foreign_drain(slot, node)) {
    if (slot.foreign_reason == reason) {
      // It stands on the hidden record: if it goes from there, that is their doing.
      if (node.base == NodeBase::future) slot.our_reason = gathering_reason(spec_.name);
      return;
    }
    slot.foreign_reason = reason;
    // Theirs stands over ours. Should Slurm lose it with the registration, it is put back.
    if (node.base != NodeBase::future) slot.our_reason.clear();
    if (slot.refused_action == node.reason) return;  // told already
    event(EventLevel::warn, "NodeDrainedByOther", &slot,
          "drained by somebody else (\"" + slot.foreign_reason + "\"); left alone until they lift it");
    return;
  }
  if (slot.foreign_reason.empty()) return;
  if (node.drained) {
    // Their drain stands, but Slurm dropped their reason at registration (22.05, 26.05): put it back.
    if (reason != slot.foreign_reason) drain_[slot.foreign_reason].push_back(slot.name);
    return;
  }
  if (node.base == NodeBase::future && slot.our_reason.empty()) {
    // A record made anew, or hidden: what they set stands.
    drain_[slot.foreign_reason].push_back(slot.name);
    return;
  }
  event(EventLevel::info, "NodeDrainLifted", &slot, "the drain \"" + slot.foreign_reason + "\" was lifted");
  slot.foreign_reason.clear();
}

void GroupPlanner::keep_closed(SlotRecord& slot, const SeenNode& node) {
  if (!slot.foreign_reason.empty()) return;
  const std::string reason = closing_reason(slot);
  const bool text_is_missing = node.drained && node.reason.empty() && !group_.gate_open;
  // A node that is to go says so, unless it was closed by the request itself.
  const bool text_is_old = node.drained && slot.wish != Wish::keep && slot.our_reason != reason &&
                           node.reason == slot.our_reason && node.base != NodeBase::future &&
                           !asked_action(node.reason);
  // A request that is done is taken off, so that the same one can be made again.
  const bool request_is_done =
      node.drained && slot.wish == Wish::keep && node.reason == slot.our_reason && asked_action(node.reason);
  if (node.drained && !text_is_missing && !text_is_old && !request_is_done) return;
  if (slot.wish != Wish::keep && (node.base == NodeBase::down || node.failing)) return;  // takes no job as it is
  // A FUTURE record takes no job, drained or not: that its drain is missing is our own doing (ReturnToFuture clears
  // it).
  if (!slot.our_reason.empty() && takes_jobs(node)) closed_again_.push_back(slot.name);
  slot.our_reason = reason;
  if (text_is_missing && !text_is_old) {
    without_reason_.push_back(&slot);
  } else {
    drain_[reason].push_back(slot.name);
  }
}

// Slurm drops the text of a drain at registration (22.05, 26.05). It is put back for people, but not where the gate has
// opened meanwhile: an update more is what the scheduler, and so the job, would wait for.
void GroupPlanner::put_reasons_back() {
  for (const SlotRecord* slot : without_reason_) {
    if (slot->state != SlotState::in_service) drain_[slot->our_reason].push_back(slot->name);
  }
}

void GroupPlanner::keep_open(SlotRecord& slot, const SeenNode& node) {
  if (!slot.foreign_reason.empty()) return;
  if (node.drained) {
    // The opening did not reach this one, or Slurm itself drained it and has taken a good registration since.
    if (!node.invalid_registration) undrain(slot, node);
    return;
  }
  if (!slot.our_reason.empty()) slot.lifted_reason = std::exchange(slot.our_reason, "");
  if (node.base == NodeBase::down && !node.not_responding && !node.failing && !node.rebooting &&
      slot.node_slurmd_alive && is_slurm_fault(node.reason)) {
    resume_.push_back(slot.name);
  }
}

void GroupPlanner::undrain(const SlotRecord& slot, const SeenNode& node) {
  undrain_[node.base == NodeBase::idle && !node.completing].push_back(slot.name);
}

void GroupPlanner::registration_lost(SlotRecord& slot, const std::string& how) {
  if (slot.state == SlotState::terminating || slot.state == SlotState::booting) return;
  note_problem(slot, FailureClass::never_registered, how);
  move_to(slot, SlotState::booting, spec_.boot_timeout);
  event(EventLevel::warn, "RegistrationLost", &slot, how + "; it is registered again");
}

}  // namespace muster::logic
