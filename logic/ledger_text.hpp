// SPDX-License-Identifier: GPL-2.0-or-later
//
// Ledger records as documents and back: what the ledger store writes. A field that is absent in an older document gets
// its default.
#pragma once

#include "logic/ledger.hpp"
#include "logic/value.hpp"

namespace muster::logic {

Value slot_to_value(const SlotRecord& slot);
SlotRecord slot_from_value(const Value& value);
/// Without its slots, which are stored one by one.
Value group_to_value(const GroupRecord& group);
GroupRecord group_from_value(const Value& value);
Value cluster_to_value(const ClusterRecord& cluster);
ClusterRecord cluster_from_value(const Value& value);

}  // namespace muster::logic
