// SPDX-License-Identifier: GPL-2.0-or-later
//
// When a group may launch, and what: back-off per group and instance type. A type that fails is left alone for a while
// (growing, capped, spread out); then one slot tries it, the probe, and a success ends the trouble. Meanwhile the next
// type of the list is taken. What cannot go well by itself is stopped after a few tries.
#pragma once

#include <optional>
#include <string>

#include "logic/cluster_spec.hpp"
#include "logic/ledger.hpp"

namespace muster::logic {

/// The failure says something about the type, not about one machine: others would meet it too.
bool is_trouble_of_type(FailureClass failure);
/// After so many failures in a row of this class there are no more tries; 0 = tried for ever.
int tries_before_stop(FailureClass failure);

/// It keeps the type from being launched: one bad machine alone does not.
bool holds_up_the_type(const LaunchTrouble& trouble);

struct LaunchChoice {
  std::optional<std::string> type;  ///< none: nothing may be launched now
  Time next_try = no_time;          ///< when that may change by itself; no_time = it does not
};
/// The first type of the group's list that may be tried now. A type in trouble is given to one slot at a time: the
/// caller notes it as the probe.
LaunchChoice choose_type(const GroupSpec& spec, const GroupRecord& group, Time now);

/// A launch, or a machine, of this type failed. began_at is when its launch began. Returns whether the type is stopped
/// by it.
bool note_type_failure(GroupRecord& group, const SlotRecord& slot, FailureClass failure, const std::string& problem,
                       Time began_at, Time now);
/// The provider gave a machine (was_ready false), or it became ready (true).
void note_type_success(GroupRecord& group, const SlotRecord& slot, bool was_ready);
/// The slot tries no more, for whatever reason: another one may be the probe.
void release_probe(GroupRecord& group, const NodeName& slot);

/// Every type of the group is stopped.
bool is_stopped(const GroupSpec& spec, const GroupRecord& group);

}  // namespace muster::logic
