// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/node_file.hpp"

#include <algorithm>

#include "logic/plan.hpp"

namespace muster::logic {
namespace {

/// Calls with each slot that has a line, and its address.
template <typename Each>
void for_each_listed(const ClusterSpec& spec, const Ledger& ledger, Each each) {
  for (const GroupSpec& group : spec.groups) {
    const auto record = ledger.groups.find(group.name);
    if (group.registration != Registration::slurm_conf || !group.joins_slurm() || record == ledger.groups.end())
      continue;
    for (const SlotRecord& slot : record->second.slots) {
      const auto position = static_cast<std::size_t>(slot.index - 1);
      if (slot.has_record && !slot.record_is_over && position < group.node_addresses.size())
        each(group, slot, group.node_addresses[position]);
    }
  }
}

}  // namespace

bool needs_node_file(const ClusterSpec& spec) {
  return std::any_of(spec.groups.begin(), spec.groups.end(),
                     [](const GroupSpec& group) { return group.registration == Registration::slurm_conf; });
}

std::string node_file_text(const ClusterSpec& spec, const Ledger& ledger) {
  std::string text = std::string(node_file_mark) + "\n";
  for_each_listed(spec, ledger, [&](const GroupSpec& group, const SlotRecord& slot, const std::string& address) {
    text += "NodeName=" + slot.name.str() + " NodeAddr=" + address + " " + node_conf(group) +
            (group.topology.empty() ? "" : " Topology=" + group.topology) + " State=UNKNOWN\n";
  });
  return text;
}

std::map<NodeName, std::string> nodes_of_file(const ClusterSpec& spec, const Ledger& ledger) {
  std::map<NodeName, std::string> addresses;
  for_each_listed(spec, ledger, [&](const GroupSpec&, const SlotRecord& slot, const std::string& address) {
    addresses.emplace(slot.name, address);
  });
  return addresses;
}

std::string node_file_trouble(const std::map<NodeName, std::string>& lines, const SeenNodeFile& file) {
  if (!file.trouble.empty()) return file.trouble;
  std::vector<NodeName> twice;
  for (const auto& [name, address] : lines) {
    if (file.others.count(name) > 0) twice.push_back(name);
  }
  if (!twice.empty()) {
    return file.slurm_conf + ": expected no lines of its own for nodes of " + file.path + ", found " +
           names_text(twice) + ", which slurmctld does not survive; take them out";
  }
  const std::size_t number = file.others.size() + lines.size();
  if (file.max_nodes && number > static_cast<std::size_t>(*file.max_nodes)) {
    return file.slurm_conf + ": expected MaxNodeCount to be " + std::to_string(number) + " or more (" +
           std::to_string(file.others.size()) + " nodes of its own, " + std::to_string(lines.size()) + " for " +
           file.path + "), found " + std::to_string(*file.max_nodes) + "; set it and restart slurmctld once";
  }
  return "";
}

}  // namespace muster::logic
