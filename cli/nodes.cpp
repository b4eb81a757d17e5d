// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/commands.hpp"
#include "cli/render_nodes.hpp"

namespace muster::cli {

int run_nodes(const CommonOptions& common, const NodesOptions& options) {
  logic::Value body = logic::Value::map();
  if (!options.group.empty()) body.set("InstanceGroupName", options.group);
  return ask_and_show(common, "Muster.Nodes", body, render_nodes);
}

}  // namespace muster::cli
