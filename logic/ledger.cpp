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

constexpr std::array<std::pair<SlotState, std::string_view>, 9> state_names{{
    {SlotState::waiting, "waiting"},
    {SlotState::launching, "launching"},
    {SlotState::booting, "booting"},
    {SlotState::registering, "registering"},
    {SlotState::settling, "settling"},
    {SlotState::ready, "ready"},
    {SlotState::in_service, "in-service"},
    {SlotState::rebooting, "rebooting"},
    {SlotState::terminating, "terminating"},
}};

constexpr std::array<std::pair<Wish, std::string_view>, 4> wish_names{{
    {Wish::keep, "keep"},
    {Wish::remove, "remove"},
    {Wish::replace, "replace"},
    {Wish::reboot, "reboot"},
}};

constexpr std::array<std::pair<Gathering, std::string_view>, 4> gathering_names{{
    {Gathering::no, "no"},
    {Gathering::creating, "creating"},
    {Gathering::updating, "updating"},
    {Gathering::floor, "floor"},
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
  return std::tie(slot.name, slot.index, slot.state, slot.state_since, slot.deadline, slot.retry_at, slot.wish,
                  slot.by_name, slot.wish_reason, slot.wish_since, slot.drain_deadline, slot.attempt,
                  slot.instance_type, slot.token, slot.instance, slot.address, slot.launched_at, slot.missing_since,
                  slot.failures, slot.last_failure, slot.last_problem, slot.last_problem_at, slot.given_up,
                  slot.slurmd_start, slot.generation, slot.boot_id, slot.earlier_boot_id, slot.refused_boot_id,
                  slot.node_step, slot.node_message, slot.node_slurmd_start, slot.node_slurmd_alive, slot.checks,
                  slot.has_record, slot.mends, slot.mended_at, slot.our_reason, slot.lifted_reason, slot.foreign_reason,
                  slot.refused_action, slot.record_is_over);
}

auto tied(const GroupRecord& group) {
  return std::tie(group.name, group.status, group.status_reason, group.counts, group.restore, group.gathering,
                  group.gate_open, group.created_at, group.gate_opened_at, group.gathering_since, group.deadline,
                  group.idle_spent, group.floor_is_waived, group.rolled_back, group.deleting, group.deleted,
                  group.launches, group.retries, group.arrivals, group.orphans, group.troubles);
}

auto tied(const LaunchTrouble& trouble) {
  return std::tie(trouble.failure, trouble.failures, trouble.failed_at, trouble.retry_at, trouble.probe,
                  trouble.stopped, trouble.problem);
}

auto tied(const ClusterRecord& cluster) {
  return std::tie(cluster.in_service_at, cluster.failure, cluster.deleting, cluster.reconfigure_owed,
                  cluster.reconfigured_at, cluster.reconfigures, cluster.node_file_needs);
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

std::string_view wish_name(Wish wish) { return name_of(wish, wish_names); }
Wish wish_from_name(std::string_view name) { return value_of(name, wish_names, Wish::keep); }
std::string_view gathering_name(Gathering gathering) { return name_of(gathering, gathering_names); }
Gathering gathering_from_name(std::string_view name) { return value_of(name, gathering_names, Gathering::no); }

bool operator==(const LaunchTrouble& a, const LaunchTrouble& b) { return tied(a) == tied(b); }
bool operator==(const ClusterRecord& a, const ClusterRecord& b) { return tied(a) == tied(b); }
bool operator==(const SlotRecord& a, const SlotRecord& b) { return tied(a) == tied(b); }
bool operator==(const GroupRecord& a, const GroupRecord& b) { return tied(a) == tied(b) && a.slots == b.slots; }
bool is_same_group_state(const GroupRecord& a, const GroupRecord& b) { return tied(a) == tied(b); }

}  // namespace muster::logic
