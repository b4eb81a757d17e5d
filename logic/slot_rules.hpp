// SPDX-License-Identifier: GPL-2.0-or-later
//
// Small questions about a slot that several rules of the planner ask.
#pragma once

#include "logic/ledger.hpp"
#include "logic/node_messages.hpp"
#include "logic/seen.hpp"

namespace muster::logic {

/// States in which the machine may have a registered record.
inline bool may_be_registered(const SlotRecord& slot) {
  switch (slot.state) {
    case SlotState::registering:
    case SlotState::settling:
    case SlotState::ready:
    case SlotState::in_service:
    case SlotState::terminating: return true;
    case SlotState::booting: return slot.slurmd_start > 0;
    case SlotState::waiting:
    case SlotState::launching:
    case SlotState::rebooting: return false;
  }
  return false;
}

/// It was in Slurm in the wanted shape.
inline bool was_registered(const SlotRecord& slot) {
  return slot.state == SlotState::settling || slot.state == SlotState::ready || slot.state == SlotState::in_service;
}

/// Its noded has passed the checks.
inline bool has_passed_checks(const SlotRecord& slot) {
  return slot.node_step == step_name(NodeStep::ready) || slot.node_step == step_name(NodeStep::starting) ||
         slot.node_step == step_name(NodeStep::running);
}

/// The noded of that boot may start slurmd up to this number. While the machine boots it is 0: its record has to be
/// closed and to have its address first, and of two machines with one id the true one has the time to answer.
inline int allowed_slurmd_start(const SlotRecord& slot, const std::string& boot_id) {
  if (slot.state == SlotState::booting) return 0;
  // slurmd starts on a boot that the planner knows of, and on no other.
  const bool is_known_boot = slot.boot_id.empty() || boot_id.empty() || slot.boot_id == boot_id;
  return is_known_boot ? slot.slurmd_start : 0;
}

/// As far as its state tells, jobs may start on it.
inline bool takes_jobs(const SeenNode& node) {
  return node.base != NodeBase::future && node.base != NodeBase::down && !node.drained && !node.failing;
}

/// Slurm reaches its slurmd.
inline bool answers_slurm(const SeenNode& node) {
  return node.is_registered() && !node.not_responding && node.base != NodeBase::down;
}

}  // namespace muster::logic
