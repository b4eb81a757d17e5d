// SPDX-License-Identifier: GPL-2.0-or-later
//
// From one cluster file to the next: what may change, and what does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "logic/cluster_spec.hpp"
#include "logic/ledger.hpp"

namespace muster::logic {

/// What may not be done to a cluster that is there already; one sentence a line.
Status check_change(const ClusterSpec& before, const Ledger& ledger, const ClusterSpec& after);

struct GroupChange {
  GroupName group;
  std::string text;  ///< "target 4 -> 6, MinCount 2 -> 4"
};
/// Groups that do not change are left out. Counts are compared with those that hold now, which a command or a rollback
/// may have changed since the file before.
std::vector<GroupChange> describe_changes(const std::optional<ClusterSpec>& before, const Ledger& ledger,
                                          const ClusterSpec& after);

}  // namespace muster::logic
