// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/commands.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {

int run_scale(const CommonOptions& common, const ScaleOptions& options) {
  if (!options.target && !options.min) {
    complain("scale needs a target, --min, or both");
    return exit_usage;
  }
  logic::Value body = logic::Value::map({{"InstanceGroupName", options.group}});
  if (options.target) body.set("TargetCount", *options.target);
  if (options.min) body.set("MinCount", *options.min);
  return change_and_show(common, "Muster.Scale", body);
}

int run_add(const CommonOptions& common, const AddOptions& options) {
  return change_and_show(common, "Muster.AddNodes",
                         logic::Value::map({{"InstanceGroupName", options.group}, {"Count", options.count}}));
}

}  // namespace muster::cli
