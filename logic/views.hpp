// SPDX-License-Identifier: GPL-2.0-or-later
//
// What musterd tells people and programs: its state as documents of the HTTP interface. Pure: state and time in,
// document out. Slurm's and HyperPod's words are used as they use them.
#pragma once

#include <string>
#include <string_view>

#include "logic/head_state.hpp"
#include "logic/result.hpp"
#include "logic/value.hpp"

namespace muster::logic {

// ---- muster's own documents ----
Value status_view(const HeadState& state, Time now);
/// group empty: all.
Value nodes_view(const HeadState& state, const GroupName& group, Time now);
/// A job id, node or group name; an error (reject) if there is no such thing.
Result<Value> why_view(const HeadState& state, std::string_view name, Time now);
Value event_view(const StoredEvent& event);

/// HyperPod's ClusterInstanceStatus of a slot: Pending, Running, Failure, ShuttingDown.
std::string_view instance_status(const SlotRecord& slot, Time now);
/// HyperPod's ClusterStatus.
std::string_view cluster_status(const HeadState& state);
/// One sentence: what the slot waits for now.
std::string slot_message(const GroupSpec& spec, const SlotRecord& slot, Time now);

// ---- HyperPod's documents (SageMaker.*) ----
Value describe_cluster_view(const HeadState& state);
Value cluster_summary_view(const HeadState& state);
Value node_summary_view(const HeadState& state, const GroupSpec& spec, const SlotRecord& slot, bool with_logical_id,
                        Time now);
Value node_details_view(const HeadState& state, const GroupSpec& spec, const SlotRecord& slot, Time now);
Value event_summary_view(const HeadState& state, const StoredEvent& event);
std::string cluster_arn(const ClusterSpec& spec);

}  // namespace muster::logic
