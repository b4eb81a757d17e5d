// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/launch_trouble.hpp"

#include <algorithm>

#include "logic/retry_policy.hpp"

namespace muster::logic {
namespace {

/// The list of types, or the one that the provider knows by itself.
std::vector<std::string> types_of(const GroupSpec& spec) {
  return spec.instance_types.empty() ? std::vector<std::string>{""} : spec.instance_types;
}

/// Whether an accepted launch ends trouble of this class, or only a node that became ready.
bool ends_with_launch(FailureClass failure) {
  return failure == FailureClass::capacity || failure == FailureClass::quota ||
         failure == FailureClass::configuration || failure == FailureClass::transient;
}

/// One machine that does not boot or register may be just that; several in a row, with none that became ready between
/// them, are not.
constexpr int bad_machines_before_probing = 3;

}  // namespace

bool is_trouble_of_type(FailureClass failure) { return failure != FailureClass::none && failure != FailureClass::lost; }

int tries_before_stop(FailureClass failure) {
  switch (failure) {
    case FailureClass::configuration: return 3;
    // A whole image that never registers, or is always rejected, costs a machine each time.
    case FailureClass::never_registered:
    case FailureClass::unhealthy: return 6;
    case FailureClass::none:
    case FailureClass::capacity:
    case FailureClass::quota:
    case FailureClass::transient:
    case FailureClass::boot_timeout:
    case FailureClass::lost: return 0;
  }
  return 0;
}

bool holds_up_the_type(const LaunchTrouble& trouble) {
  return ends_with_launch(trouble.failure) || trouble.failures >= bad_machines_before_probing;
}

LaunchChoice choose_type(const GroupSpec& spec, const GroupRecord& group, Time now) {
  LaunchChoice choice;
  for (const std::string& type : types_of(spec)) {
    const auto found = group.troubles.find(type);
    if (found == group.troubles.end() || !holds_up_the_type(found->second)) {
      choice.type = type;
      return choice;
    }
    const LaunchTrouble& trouble = found->second;
    if (trouble.stopped || !trouble.probe.empty()) continue;
    if (trouble.retry_at <= now) {
      choice.type = type;
      return choice;
    }
    if (choice.next_try == no_time || trouble.retry_at < choice.next_try) choice.next_try = trouble.retry_at;
  }
  return choice;
}

bool note_type_failure(GroupRecord& group, const SlotRecord& slot, FailureClass failure, const std::string& problem,
                       Time began_at, Time now) {
  LaunchTrouble& trouble = group.troubles[slot.instance_type];
  if (trouble.probe == slot.name) trouble.probe = NodeName{};
  const bool was_stopped = trouble.stopped;
  // A bad image shows now in one way, now in another.
  const bool is_same_cause =
      trouble.failure == failure || (!ends_with_launch(trouble.failure) && !ends_with_launch(failure));
  if (!is_same_cause) trouble.failures = 0;
  // Launches that were under way together failed of the same cause.
  if (trouble.failures == 0 || began_at > trouble.failed_at) ++trouble.failures;
  trouble.failure = failure;
  trouble.problem = problem;
  trouble.failed_at = now;
  trouble.retry_at = now + retry_delay(failure, trouble.failures, group.name.str() + slot.instance_type);
  const int limit = tries_before_stop(failure);
  trouble.stopped = was_stopped || (limit > 0 && trouble.failures >= limit);
  return trouble.stopped && !was_stopped;
}

void note_type_success(GroupRecord& group, const SlotRecord& slot, bool was_ready) {
  const auto found = group.troubles.find(slot.instance_type);
  if (found == group.troubles.end()) return;
  if (ends_with_launch(found->second.failure) == was_ready) return;
  // A launch that was under way when another one failed proves nothing; a machine that became ready does.
  if (!was_ready && slot.state_since <= found->second.failed_at) return;
  group.troubles.erase(found);
}

void release_probe(GroupRecord& group, const NodeName& slot) {
  for (auto& [type, trouble] : group.troubles) {
    if (trouble.probe == slot) trouble.probe = NodeName{};
  }
}

bool is_stopped(const GroupSpec& spec, const GroupRecord& group) {
  const auto types = types_of(spec);
  return std::all_of(types.begin(), types.end(), [&](const std::string& type) {
    const auto found = group.troubles.find(type);
    return found != group.troubles.end() && found->second.stopped;
  });
}

}  // namespace muster::logic
