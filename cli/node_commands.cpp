// SPDX-License-Identifier: GPL-2.0-or-later
//
// muster remove, replace, reboot, delete: what is done to nodes. Where machines are ended it asks first.
#include <optional>

#include "cli/commands.hpp"
#include "cli/confirm.hpp"
#include "cli/render_ending.hpp"
#include "cli/terminal.hpp"
#include "logic/hostlist.hpp"

namespace muster::cli {

namespace {

logic::Value nodes_body(const NodeNamesOptions& options) {
  logic::Value nodes = logic::Value::list();
  for (const std::string& name : options.nodes) nodes.push(name);
  return logic::Value::map({{"Nodes", std::move(nodes)}});
}

/// What would be ended, and the question; an exit code where the answer is no, or nobody can be asked.
std::optional<int> refused(const CommonOptions& common, const std::string& command, Ending ending,
                           const std::string& group, const std::vector<std::string>& names,
                           const std::string& question) {
  if (!can_ask(command)) return exit_usage;
  const Head head(common);
  logic::Value body = logic::Value::map();
  if (!group.empty()) body.set("InstanceGroupName", group);
  const auto nodes = head.ask("Muster.Nodes", body);
  if (!nodes) return report_unreachable(nodes.error());
  if (!is_fine(*nodes)) return report_refusal(*nodes);
  const auto status = head.ask("Muster.Status", logic::Value::map());
  if (!status) return report_unreachable(status.error());
  if (!is_fine(*status)) return report_refusal(*status);
  show(render_ending(ending, nodes->body, names, status->body, view_of(*nodes)));
  if (!is_confirmed(question)) return exit_failed;
  return std::nullopt;
}

/// The names of host lists, for the question; musterd reads what was typed itself, and says what is wrong with it.
std::vector<std::string> expanded(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    const auto expanded_list = logic::expand_names(list);
    if (!expanded_list) continue;
    names.insert(names.end(), expanded_list->begin(), expanded_list->end());
  }
  return names;
}

int end_nodes(const CommonOptions& common, const NodeNamesOptions& options, const char* command, Ending ending,
              const char* target) {
  if (!options.yes) {
    const std::string question = std::string(ending == Ending::removal ? "Remove " : "Replace ") +
                                 logic::compress_names(expanded(options.nodes)) + "?";
    if (const auto code = refused(common, command, ending, {}, expanded(options.nodes), question)) return *code;
  }
  return change_and_show(common, target, nodes_body(options));
}

}  // namespace

int run_remove(const CommonOptions& common, const NodeNamesOptions& options) {
  return end_nodes(common, options, "remove", Ending::removal, "Muster.RemoveNodes");
}

int run_replace(const CommonOptions& common, const NodeNamesOptions& options) {
  return end_nodes(common, options, "replace", Ending::replacement, "Muster.ReplaceNodes");
}

int run_reboot(const CommonOptions& common, const NodeNamesOptions& options) {
  return change_and_show(common, "Muster.RebootNodes", nodes_body(options));
}

int run_delete(const CommonOptions& common, const DeleteOptions& options) {
  if (options.group.empty() == options.cluster.empty()) {
    complain("delete needs a group or --cluster NAME, and not both");
    return exit_usage;
  }
  const bool is_cluster = options.group.empty();
  if (!options.yes) {
    const std::string question = is_cluster ? "Delete cluster " + options.cluster + " with all its groups?"
                                            : "Delete group " + options.group + "?";
    if (const auto code = refused(common, "delete", Ending::deletion, options.group, {}, question)) return *code;
  }
  if (is_cluster) {
    return change_and_show(common, "Muster.DeleteCluster", logic::Value::map({{"ClusterName", options.cluster}}));
  }
  return change_and_show(common, "Muster.DeleteGroup", logic::Value::map({{"InstanceGroupName", options.group}}));
}

}  // namespace muster::cli
