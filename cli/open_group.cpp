// SPDX-License-Identifier: GPL-2.0-or-later
#include <unistd.h>

#include <iostream>
#include <string>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {

namespace {

const logic::Value* find_group(const logic::Value& status, const std::string& name) {
  for (const logic::Value& group : status.list_or_empty("Groups")) {
    if (group.text_or("Name") == name) return &group;
  }
  return nullptr;
}

/// Asks the operator who sits there; the answer to anything but "y" is no.
bool is_confirmed(const OpenOptions& options, const logic::Value& group) {
  const std::string question = options.group + " has " + std::to_string(group.integer_or("Ready")) + " of " +
                               std::to_string(group.integer_or("TargetCount")) + " nodes ready, its minimum is " +
                               std::to_string(group.integer_or("MinCount")) + ". Open it to jobs now? [y/N] ";
  write_out(question);
  std::string line;
  std::getline(std::cin, line);
  return line == "y" || line == "Y" || line == "yes";
}

std::string render_message(const logic::Value& answer, const View& view) {
  return shown(answer, "Message", view) + "\n";
}

}  // namespace

int run_open(const CommonOptions& common, const OpenOptions& options) {
  if (!options.yes) {
    if (::isatty(STDIN_FILENO) != 1 || !stdout_is_terminal()) {
      complain("open asks before it acts and there is no terminal to ask on: give --yes");
      return exit_usage;
    }
    const auto status = Head(common).ask("Muster.Status", logic::Value::map());
    if (!status) return report_unreachable(status.error());
    if (!is_fine(*status)) return report_refusal(*status);
    const logic::Value* group = find_group(status->body, options.group);
    if (!group) {
      complain("there is no instance group " + options.group + "; muster status lists them");
      return exit_failed;
    }
    // musterd says so itself if it is open already.
    if (!group->boolean_or("GateOpen") && !is_confirmed(options, *group)) {
      complain("nothing was changed");
      return exit_failed;
    }
  }
  return ask_and_show(common, "Muster.OpenGroup", logic::Value::map({{"InstanceGroupName", options.group}}),
                      render_message);
}

}  // namespace muster::cli
