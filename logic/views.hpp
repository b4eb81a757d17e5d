// SPDX-License-Identifier: GPL-2.0-or-later
//
// What musterd tells people and programs: its state as documents of the HTTP interface. Pure: state and time in,
// document out. Slurm's and HyperPod's words are used as they use them.
#pragma once

#include <map>
#include <optional>
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
/// A job id, node or group name; an error (absent) if there is no such thing.
Result<Value> why_view(const HeadState& state, std::string_view name, Time now);
Value plan_view(const Plan& plan);
Value event_view(const StoredEvent& event);

/// HyperPod's ClusterInstanceStatus of a slot: Pending, Running, Failure, ShuttingDown.
std::string_view instance_status(const SlotRecord& slot, Time now);
/// HyperPod's ClusterStatus.
std::string_view cluster_status(const HeadState& state);

/// What a slot waits for now, in one sentence. Counts what it needs for that once, however many slots are asked about;
/// state and state.spec must be there for as long.
class SlotWords {
 public:
  SlotWords(const HeadState& state, Time now) : state_(state), now_(now) {}
  std::string message(const GroupSpec& spec, const GroupRecord& group, const SlotRecord& slot) const;
  /// Jobs that are on the node.
  int jobs_on(const NodeName& name) const;

 private:
  std::string waiting(const GroupSpec& spec, const GroupRecord& group, const SlotRecord& slot) const;
  std::string departed(const GroupSpec& spec, const SlotRecord& slot) const;
  std::string leaving(const SlotRecord& slot) const;
  int launches_under_way(const GroupRecord& group) const;
  const ProviderSpec* find_provider(const GroupSpec& spec) const;

  const HeadState& state_;
  const Time now_;
  mutable std::optional<std::map<NodeName, int>> jobs_;
  mutable std::map<const GroupRecord*, int> launches_;
};

// ---- HyperPod's documents (SageMaker.*) ----
Value describe_cluster_view(const HeadState& state);
Value cluster_summary_view(const HeadState& state);
Value node_summary_view(const HeadState& state, const GroupSpec& spec, const GroupRecord& group, const SlotRecord& slot,
                        bool with_logical_id, Time now);
Value node_details_view(const HeadState& state, const GroupSpec& spec, const GroupRecord& group, const SlotRecord& slot,
                        Time now);
Value event_summary_view(const ClusterSpec& spec, const StoredEvent& event);
std::string cluster_arn(const ClusterSpec& spec);

}  // namespace muster::logic
