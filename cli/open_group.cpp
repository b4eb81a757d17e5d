// SPDX-License-Identifier: GPL-2.0-or-later
#include <string>

#include "cli/commands.hpp"
#include "cli/confirm.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {

namespace {

const logic::Value* find_group(const logic::Value& status, const std::string& name) {
  for (const logic::Value& group : status.list_or_empty("Groups")) {
    if (group.text_or("Name") == name) return &group;
  }
  return nullptr;
}

std::string question_of(const std::string& name, const logic::Value& group) {
  return name + " has " + std::to_string(group.integer_or("Ready")) + " of " +
         std::to_string(group.integer_or("TargetCount")) + " nodes ready, its minimum is " +
         std::to_string(group.integer_or("MinCount")) + ". Open it to jobs now?";
}

}  // namespace

int run_open(const CommonOptions& common, const OpenOptions& options) {
  if (!options.yes) {
    if (!can_ask("open")) return exit_usage;
    const auto status = Head(common).ask("Muster.Status", logic::Value::map());
    if (!status) return report_unreachable(status.error());
    if (!is_fine(*status)) return report_refusal(*status);
    const logic::Value* group = find_group(status->body, options.group);
    if (!group) {
      complain("there is no instance group " + options.group + "; muster status lists them");
      return exit_failed;
    }
    // musterd says so itself if it is open already.
    const bool gathers = group->text_or("Gathering") != "no";
    if (gathers && !is_confirmed(question_of(options.group, *group))) return exit_failed;
  }
  return change_and_show(common, "Muster.OpenGroup", logic::Value::map({{"InstanceGroupName", options.group}}));
}

}  // namespace muster::cli
