// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who goes when a group has more nodes than its target, and what an "Action:" reason asks for.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "logic/ledger.hpp"
#include "logic/seen.hpp"

namespace muster::logic {

enum class DepartureOrder {
  scale_down,  ///< without a machine, unhealthy, on their way, idle, busy; of equals the newest first
  rollback,    ///< without a machine, unhealthy, then the newest (HyperPod: MinCount, "whom it removes")
};

/// The indexes into group.slots of those that should go, in that order, number at most. What somebody else has drained
/// or reserved goes only by name and is not among them, nor is what goes already.
std::vector<std::size_t> choose_departures(const GroupRecord& group, const Seen& seen, int number,
                                           DepartureOrder order);

/// Names of nodes that some reservation holds. Empty where reservations are not known.
std::set<NodeName> reserved_nodes(const Seen& seen);

/// What a node's reason asks of us: HyperPod's "Action:Replace" and "Action:Reboot", in any spelling.
struct AskedAction {
  std::optional<Wish> wish;  ///< none: it is meant for us, but not understood
};
/// None where the reason is no "Action:" at all.
std::optional<AskedAction> asked_action(std::string_view reason);

}  // namespace muster::logic
