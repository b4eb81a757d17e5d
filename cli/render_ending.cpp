// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/render_ending.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "logic/hostlist.hpp"

namespace muster::cli {

using logic::Value;

namespace {

struct Concerned {
  std::vector<std::string> nodes;
  std::vector<std::string> without_machine;
  std::vector<std::string> busy;
  std::map<std::string, std::vector<std::string>> drained;  ///< by reason
  std::set<std::string> groups;
};

std::string nodes_text(const std::vector<std::string>& names) {
  return logic::counted(static_cast<std::int64_t>(names.size()), "node", "nodes") + " (" +
         logic::compress_names(names) + ")";
}

Concerned find_concerned(const Value& nodes, const std::vector<std::string>& names, const View& view) {
  Concerned found;
  for (const Value& node : nodes.list_or_empty("Nodes")) {
    std::string name = node.text_or("Name");
    if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) continue;
    if (node.text_or("Step") == "departed") continue;
    name = logic::safe_text(name, view.style);
    found.groups.insert(node.text_or("Group"));
    if (node.integer_or("Jobs") > 0) found.busy.push_back(name);
    if (const std::string reason = shown(node, "DrainedByOther", view); !reason.empty())
      found.drained[reason].push_back(name);
    (node.text_or("InstanceId").empty() ? found.without_machine : found.nodes).push_back(name);
  }
  return found;
}

/// The longest time that jobs on nodes of these groups are given.
logic::Duration drain_timeout(const Value& status, const std::set<std::string>& groups) {
  double seconds = 0;
  for (const Value& group : status.list_or_empty("Groups")) {
    if (groups.count(group.text_or("Name")) > 0) seconds = std::max(seconds, group.real_or("DrainTimeout"));
  }
  return logic::Duration{static_cast<std::int64_t>(std::min(seconds, 1e9) * 1000)};
}

std::string machines_text(Ending ending, const Concerned& concerned, logic::Duration timeout) {
  if (concerned.nodes.empty()) return "";
  return nodes_text(concerned.nodes) +
         (concerned.nodes.size() == 1 ? ": closed to new jobs now; its machine is ended"
                                      : ": closed to new jobs now; their machines are ended") +
         (ending == Ending::replacement ? ", with what is on its disks, and another one launched" : "") +
         " when free of jobs, after " + logic::rough_duration(timeout) + " at the latest";
}

}  // namespace

std::string render_ending(Ending ending, const Value& nodes, const std::vector<std::string>& names, const Value& status,
                          const View& view) {
  const Concerned concerned = find_concerned(nodes, names, view);
  std::vector<std::string> lines;
  if (const std::string text = machines_text(ending, concerned, drain_timeout(status, concerned.groups)); !text.empty())
    lines.push_back(text);
  if (!concerned.without_machine.empty()) lines.push_back(nodes_text(concerned.without_machine) + " without a machine");
  if (!concerned.busy.empty()) lines.push_back("jobs run on " + nodes_text(concerned.busy));
  for (const auto& [reason, drained] : concerned.drained)
    lines.push_back("drained by somebody else, and ended all the same: " + nodes_text(drained) + ", \"" + reason +
                    "\"");
  std::string out;
  for (const std::string& line : lines) {
    for (const std::string& piece : logic::wrap(line, view.style.width)) out += piece + "\n";
  }
  return out;
}

}  // namespace muster::cli
