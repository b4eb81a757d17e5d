// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/ledger.hpp"

#include <array>
#include <tuple>
#include <utility>

namespace muster::logic {
namespace {

template <typename Enum, std::size_t N>
std::string_view name_of(Enum value, const std::array<std::pair<Enum, std::string_view>, N>& names) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  return "unknown";
}

template <typename Enum, std::size_t N>
Enum value_of(std::string_view name, const std::array<std::pair<Enum, std::string_view>, N>& names, Enum fallback) {
  for (const auto& [value, known] : names) {
    if (known == name) return value;
  }
  return fallback;
}

constexpr std::array<std::pair<FailureClass, std::string_view>, 9> failure_names{{
    {FailureClass::none, "none"},
    {FailureClass::capacity, "capacity"},
    {FailureClass::quota, "quota"},
    {FailureClass::configuration, "configuration"},
    {FailureClass::transient, "transient"},
    {FailureClass::boot_timeout, "boot-timeout"},
    {FailureClass::never_registered, "never-registered"},
    {FailureClass::lost, "lost"},
    {FailureClass::unhealthy, "unhealthy"},
}};

constexpr std::array<std::pair<SlotState, std::string_view>, 8> state_names{{
    {SlotState::waiting, "waiting"},
    {SlotState::launching, "launching"},
    {SlotState::booting, "booting"},
    {SlotState::registering, "registering"},
    {SlotState::settling, "settling"},
    {SlotState::ready, "ready"},
    {SlotState::in_service, "in-service"},
    {SlotState::terminating, "terminating"},
}};

constexpr std::array<std::pair<GroupStatus, std::string_view>, 6> status_names{{
    {GroupStatus::creating, "Creating"},
    {GroupStatus::updating, "Updating"},
    {GroupStatus::in_service, "InService"},
    {GroupStatus::degraded, "Degraded"},
    {GroupStatus::failed, "Failed"},
    {GroupStatus::deleting, "Deleting"},
}};

auto tied(const SlotRecord& slot) {
  return std::tie(slot.name, slot.state, slot.state_since, slot.deadline, slot.retry_at, slot.attempt, slot.token,
                  slot.instance, slot.address, slot.launched_at, slot.missing_since, slot.failures, slot.last_failure,
                  slot.last_problem, slot.last_problem_at, slot.slurmd_start, slot.generation, slot.boot_id,
                  slot.node_step, slot.node_message, slot.node_slurmd_start, slot.node_slurmd_alive, slot.checks,
                  slot.our_reason, slot.foreign_reason);
}

auto tied(const GroupRecord& group) {
  return std::tie(group.name, group.status, group.status_reason, group.gate_open, group.created_at,
                  group.gate_opened_at, group.deadline, group.deadline_told, group.launches, group.retries,
                  group.arrivals, group.orphans);
}

}  // namespace

std::string_view failure_class_name(FailureClass failure) { return name_of(failure, failure_names); }
FailureClass failure_class_from_name(std::string_view name) {
  return value_of(name, failure_names, FailureClass::transient);
}
std::string_view slot_state_name(SlotState state) { return name_of(state, state_names); }
SlotState slot_state_from_name(std::string_view name) { return value_of(name, state_names, SlotState::waiting); }
std::string_view group_status_name(GroupStatus status) { return name_of(status, status_names); }
GroupStatus group_status_from_name(std::string_view name) {
  return value_of(name, status_names, GroupStatus::creating);
}

bool operator==(const SlotRecord& a, const SlotRecord& b) { return tied(a) == tied(b); }
bool operator==(const GroupRecord& a, const GroupRecord& b) { return tied(a) == tied(b) && a.slots == b.slots; }
bool is_same_group_state(const GroupRecord& a, const GroupRecord& b) { return tied(a) == tied(b); }

}  // namespace muster::logic
