// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/cluster_change.hpp"

#include <algorithm>

#include "logic/field_reader.hpp"

namespace muster::logic {

namespace {

const GroupRecord* record_of(const Ledger& ledger, const GroupName& name) {
  const auto record = ledger.groups.find(name);
  return record == ledger.groups.end() || record->second.deleted ? nullptr : &record->second;
}

std::string list_text(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all.empty() ? "none" : all;
}

std::string number_text(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (!text.empty() && text.back() == '.') text.pop_back();
  return number > 0 ? text : "none";
}

}  // namespace

Status check_change(const ClusterSpec& before, const Ledger& ledger, const ClusterSpec& after) {
  if (!ledger.cluster.deleting.empty())
    return conflict_error("cluster " + before.name + " is being deleted; another file can be applied when it is gone");
  Problems problems(after.file_name);
  if (before.name != after.name) {
    problems.add({},
                 "cluster: expected \"" + before.name + "\", which this musterd runs, found \"" + after.name + "\"");
  }
  for (const GroupSpec& old_group : before.groups) {
    const GroupRecord* record = record_of(ledger, old_group.name);
    if (!record) continue;
    const GroupSpec* group = after.find_group(old_group.name);
    const std::string title = "group " + old_group.name.str();
    if (!group) {
      problems.add({}, title + ": expected every group that is there, found it missing; " +
                           (record->deleting.empty() ? "muster delete " + old_group.name.str() + " deletes it"
                                                     : "it is being deleted: leave it in the file until it is gone"));
      continue;
    }
    if (group->node_type != old_group.node_type) {
      problems.add(group->place, title + ": node_type: expected " + std::string(node_type_name(old_group.node_type)) +
                                     ", which never changes, found " + std::string(node_type_name(group->node_type)));
    }
    if (group->registration != old_group.registration) {
      problems.add(group->place, title + ": registration: expected it as it is; delete the group and make it anew");
    }
    const bool has_machines = std::any_of(record->slots.begin(), record->slots.end(),
                                          [](const SlotRecord& slot) { return slot.state != SlotState::waiting; });
    if (group->provider != old_group.provider && has_machines) {
      problems.add(group->place, title + ": provider: expected " + old_group.provider +
                                     ", which has machines of it, found " + group->provider + "; muster scale " +
                                     old_group.name.str() + " 0 --min 0 ends them first");
    }
    if (group->node_prefix != old_group.node_prefix || node_conf(*group) != node_conf(old_group)) {
      problems.add(group->place, title + ": expected node_prefix and node as they are (" + old_group.node_prefix +
                                     ", " + node_conf(old_group) + "); another shape is another group");
    }
  }
  if (!problems.empty()) return problems.error();
  return Done{};
}

std::vector<GroupChange> describe_changes(const std::optional<ClusterSpec>& before, const Ledger& ledger,
                                          const ClusterSpec& after) {
  std::vector<GroupChange> changes;
  for (const GroupSpec& group : after.groups) {
    const GroupRecord* record = record_of(ledger, group.name);
    const GroupSpec* old_group = before && record ? before->find_group(group.name) : nullptr;
    std::string text;
    const auto note = [&](const char* what, const std::string& from, const std::string& to) {
      if (from != to) text += std::string(text.empty() ? "" : ", ") + what + " " + from + " -> " + to;
    };
    if (!old_group) {
      text = "new: target " + std::to_string(group.target_count) + ", MinCount " + std::to_string(group.min_count) +
             (group.joins_slurm() ? ", partition " + group.partition.str() : "") + ", provider " + group.provider;
    } else {
      if (!record->deleting.empty()) {
        changes.push_back({group.name, "is being deleted; its lines are passed over"});
        continue;
      }
      note("target", std::to_string(record->counts.target), std::to_string(group.target_count));
      note("MinCount", std::to_string(record->counts.min), std::to_string(group.min_count));
      note("partition", old_group->partition.str(), group.partition.str());
      note("provider", old_group->provider, group.provider);
      note("deadline", duration_text(old_group->deadline), duration_text(group.deadline));
      note("boot_timeout", duration_text(old_group->boot_timeout), duration_text(group.boot_timeout));
      note("register_timeout", duration_text(old_group->register_timeout), duration_text(group.register_timeout));
      note("settle_time", duration_text(old_group->settle_time), duration_text(group.settle_time));
      note("drain_timeout", duration_text(old_group->drain_timeout), duration_text(group.drain_timeout));
      note("prune_after", duration_text(old_group->prune_after), duration_text(group.prune_after));
      note("gate", old_group->gate == GatePolicy::once ? "once" : "floor",
           group.gate == GatePolicy::once ? "once" : "floor");
      note("max_idle_node_hours", number_text(old_group->max_idle_node_hours), number_text(group.max_idle_node_hours));
      note("topology", old_group->topology, group.topology);
      note("instance_types", list_text(old_group->instance_types), list_text(group.instance_types));
    }
    if (!text.empty()) changes.push_back({group.name, text});
  }
  return changes;
}

}  // namespace muster::logic
