// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/node_file.hpp"

#include <algorithm>

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

std::set<NodeName> nodes_of_file(const ClusterSpec& spec, const Ledger& ledger) {
  std::set<NodeName> names;
  for_each_listed(spec, ledger,
                  [&](const GroupSpec&, const SlotRecord& slot, const std::string&) { names.insert(slot.name); });
  return names;
}

}  // namespace muster::logic
