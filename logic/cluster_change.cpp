// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/cluster_change.hpp"

#include "logic/field_reader.hpp"

namespace muster::logic {

Status check_change(const ClusterSpec& before, const ClusterSpec& after) {
  Problems problems(after.file_name);
  if (before.name != after.name) {
    problems.add({},
                 "cluster: expected \"" + before.name + "\", which this musterd runs, found \"" + after.name + "\"");
  }
  for (const GroupSpec& old_group : before.groups) {
    const GroupSpec* group = after.find_group(old_group.name);
    const std::string title = "group " + old_group.name.str();
    if (!group) {
      problems.add(
          {}, title + ": expected every group that is there, found it missing; this version does not delete groups");
      continue;
    }
    if (group->target_count < old_group.target_count) {
      problems.add(group->target_place, title + ": target_count: expected " + std::to_string(old_group.target_count) +
                                            " or more, found " + std::to_string(group->target_count) +
                                            "; this version does not remove nodes");
    }
    if (group->node_prefix != old_group.node_prefix || node_conf(*group) != node_conf(old_group)) {
      problems.add(group->place, title + ": expected node_prefix and node as they are (" + old_group.node_prefix +
                                     ", " + node_conf(old_group) +
                                     "); this version does not change the shape of a group");
    }
  }
  if (!problems.empty()) return problems.error();
  return Done{};
}

std::vector<GroupChange> describe_changes(const std::optional<ClusterSpec>& before, const ClusterSpec& after) {
  std::vector<GroupChange> changes;
  for (const GroupSpec& group : after.groups) {
    const GroupSpec* old_group = before ? before->find_group(group.name) : nullptr;
    std::string text;
    const auto note = [&](const char* what, const std::string& from, const std::string& to) {
      if (from != to) text += std::string(text.empty() ? "" : ", ") + what + " " + from + " -> " + to;
    };
    if (!old_group) {
      text = "new: target " + std::to_string(group.target_count) + ", MinCount " + std::to_string(group.min_count) +
             ", partition " + group.partition.str() + ", provider " + group.provider;
    } else {
      note("target", std::to_string(old_group->target_count), std::to_string(group.target_count));
      note("MinCount", std::to_string(old_group->min_count), std::to_string(group.min_count));
      note("partition", old_group->partition.str(), group.partition.str());
      note("provider", old_group->provider, group.provider);
      note("deadline", duration_text(old_group->deadline), duration_text(group.deadline));
      note("boot_timeout", duration_text(old_group->boot_timeout), duration_text(group.boot_timeout));
      note("register_timeout", duration_text(old_group->register_timeout), duration_text(group.register_timeout));
      note("settle_time", duration_text(old_group->settle_time), duration_text(group.settle_time));
      note("instance_type", old_group->instance_type, group.instance_type);
    }
    if (!text.empty()) changes.push_back({group.name, text});
  }
  return changes;
}

}  // namespace muster::logic
