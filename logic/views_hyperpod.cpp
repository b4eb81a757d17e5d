// SPDX-License-Identifier: GPL-2.0-or-later
//
// HyperPod's documents (SageMaker.*), in its words.
#include <map>

#include "logic/view_parts.hpp"
#include "logic/views.hpp"

namespace muster::logic {
namespace {

const char* hyperpod_node_type(NodeType type) {
  switch (type) {
    case NodeType::compute: return "Compute";
    case NodeType::login: return "Login";
    case NodeType::controller: return "Controller";
  }
  return "Compute";
}

/// How many nodes count, by instance type.
Value instance_type_details(const GroupRecord& group) {
  std::map<std::string, int> counts;
  for (const SlotRecord& slot : group.slots) {
    const bool counts_as_ready = slot.state == SlotState::ready || slot.state == SlotState::in_service;
    if (counts_as_ready && slot.wish == Wish::keep && slot.foreign_reason.empty() && !slot.instance_type.empty())
      ++counts[slot.instance_type];
  }
  Value details = Value::list();
  for (const auto& [type, count] : counts) details.push(Value::map({{"InstanceType", type}, {"CurrentCount", count}}));
  return details;
}

void set_instance_types(Value& view, const GroupSpec& spec, const GroupRecord& group) {
  if (spec.instance_types.size() == 1) view.set("InstanceType", spec.instance_types.front());
  if (spec.instance_types.size() > 1) {
    Value types = Value::list();
    for (const std::string& type : spec.instance_types) types.push(type);
    view.set("InstanceRequirements", Value::map({{"CurrentInstanceTypes", types}, {"DesiredInstanceTypes", types}}));
  }
  if (Value details = instance_type_details(group); !details.items().empty())
    view.set("InstanceTypeDetails", std::move(details));
}

}  // namespace

std::string cluster_arn(const ClusterSpec& spec) {
  // The form of an ARN, with an id made from the name, so that it is the same on every head.
  constexpr std::string_view digits = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : spec.name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  std::string id;
  for (int i = 0; i < 12; ++i, hash /= digits.size()) id += digits[hash % digits.size()];
  return "arn:aws:sagemaker:local:000000000000:cluster/" + id;
}

Value cluster_summary_view(const HeadState& state) {
  return Value::map({{"ClusterArn", cluster_arn(*state.spec)},
                     {"ClusterName", state.spec->name},
                     {"CreationTime", to_seconds(state.created_at)},
                     {"ClusterStatus", cluster_status(state)}});
}

Value describe_cluster_view(const HeadState& state) {
  Value groups = Value::list();
  for (const GroupSpec& spec : state.spec->groups) {
    const GroupRecord* group = find_record(state, spec.name);
    if (!group) continue;
    Value view = Value::map({{"InstanceGroupName", spec.name.str()},
                             {"Status", group_status_name(group->status)},
                             {"CurrentCount", ready_count(*group)},
                             {"TargetCount", group->counts.target},
                             {"MinCount", group->counts.min}});
    set_instance_types(view, spec, *group);
    Value slurm = Value::map({{"NodeType", hyperpod_node_type(spec.node_type)}});
    if (spec.joins_slurm()) {
      Value partitions = Value::list();
      partitions.push(spec.partition.str());
      slurm.set("PartitionNames", std::move(partitions));
    }
    view.set("SlurmConfig", std::move(slurm));
    if (ready_count(*group) != group->counts.target) view.set("ActiveOperations", Value::map({{"Scaling", 1}}));
    groups.push(std::move(view));
  }
  Value view = cluster_summary_view(state);
  if (const std::string& failure = state.ledger.cluster.failure; !failure.empty()) view.set("FailureMessage", failure);
  view.set("InstanceGroups", std::move(groups));
  view.set("NodeProvisioningMode", "Continuous");
  view.set("Orchestrator", Value::map({{"Slurm", Value::map()}}));
  return view;
}

Value node_summary_view(const HeadState& state, const GroupSpec& spec, const GroupRecord& group, const SlotRecord& slot,
                        bool with_logical_id, Time now) {
  const std::string message = SlotWords(state, now).message(spec, group, slot);
  Value view =
      Value::map({{"InstanceGroupName", spec.name.str()},
                  {"InstanceId", slot.instance.str()},
                  {"InstanceType", slot.instance_type},
                  {"LaunchTime", to_seconds(slot.launched_at)},
                  {"InstanceStatus", Value::map({{"Status", instance_status(slot, now)}, {"Message", message}})}});
  if (with_logical_id) view.set("NodeLogicalId", slot.name.str());
  return view;
}

Value node_details_view(const HeadState& state, const GroupSpec& spec, const GroupRecord& group, const SlotRecord& slot,
                        Time now) {
  Value view = node_summary_view(state, spec, group, slot, true, now);
  view.set("PrivatePrimaryIp", slot.address);
  view.set("PrivateDnsHostname", slot.name.str());
  return view;
}

Value event_view(const StoredEvent& event) {
  return Value::map({{"Sequence", event.sequence},
                     {"EventId", event.id},
                     {"EventTime", to_seconds(event.time)},
                     {"EventLevel", event_level_name(event.event.level)},
                     {"ResourceType", !event.event.node.empty()    ? "Instance"
                                      : !event.event.group.empty() ? "InstanceGroup"
                                                                   : "Cluster"},
                     {"InstanceGroupName", event.event.group.str()},
                     {"NodeName", event.event.node.str()},
                     {"InstanceId", event.event.instance.str()},
                     {"Kind", event.event.kind},
                     {"Description", event.event.text}});
}

Value event_summary_view(const ClusterSpec& spec, const StoredEvent& event) {
  Value view = event_view(event);
  Value summary = Value::map({{"ClusterArn", cluster_arn(spec)}, {"ClusterName", spec.name}});
  for (const char* key : {"EventId", "EventTime", "EventLevel", "ResourceType", "Description"})
    summary.set(key, *view.find(key));
  for (const char* key : {"InstanceGroupName", "InstanceId"}) {
    if (!view.text_or(key).empty()) summary.set(key, *view.find(key));
  }
  return summary;
}

}  // namespace muster::logic
