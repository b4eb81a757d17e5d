// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/render_nodes.hpp"

namespace muster::cli {

using logic::Table;
using logic::Tone;
using logic::Value;

namespace {

void append(std::string& text, const std::string& more) {
  if (!text.empty()) text += "; ";
  text += more;
}

/// Open to jobs, and nobody has anything to say about it.
bool is_well(const Value& node) {
  return node.text_or("Status") == "Running" && node.boolean_or("AllWell", true) && node.text_or("Reason").empty();
}

std::string node_text(const Value& node, const View& view) {
  std::string text = is_well(node) ? std::string() : without_stop(shown(node, "Message", view));
  for (const Value& check : node.list_or_empty("Checks")) {
    if (check.boolean_or("Ok", true)) continue;
    append(text, "check " + shown(check, "Name", view) + " failed: " + without_stop(shown(check, "Text", view)));
  }
  // Our own reason says no more than the step does.
  const std::string reason = shown(node, "Reason", view);
  if (reason.rfind("muster:", 0) != 0 && text.find(reason) == std::string::npos) append(text, "Slurm: " + reason);
  return text;
}

}  // namespace

std::string render_nodes(const Value& answer, const View& view) {
  const Value::List& nodes = answer.list_or_empty("Nodes");
  if (nodes.empty()) return "no nodes\n";
  Table table;
  for (const char* heading : {"NODE", "GROUP", "STATUS", "STEP"}) table.column(heading);
  table.column("FOR", Table::Align::right);
  table.column("LEFT", Table::Align::right);
  table.column("TRY", Table::Align::right);
  for (const char* heading : {"SLURM", "INSTANCE", "ADDRESS", "WHY"}) table.column(heading);
  for (const Value& node : nodes) {
    const std::string status = shown(node, "Status", view);
    const auto since = time_member(node, "StepSince");
    const auto deadline = time_member(node, "Deadline");
    const std::int64_t attempt = node.integer_or("Attempt");
    const bool late = deadline && *deadline <= view.now;
    table.row({{shown(node, "Name", view), Tone::strong},
               shown(node, "Group", view),
               {status, status_tone(status)},
               shown(node, "Step", view),
               since ? logic::rough_duration(view.now - *since) : std::string(),
               !deadline ? Table::Cell()
               : late    ? Table::Cell("over", Tone::warning)
                         : Table::Cell(logic::rough_duration(*deadline - view.now)),
               attempt > 1 ? std::to_string(attempt) : std::string(),
               shown(node, "Slurm", view),
               shown(node, "InstanceId", view),
               shown(node, "Address", view),
               node_text(node, view)});
  }
  return table.text(view.style);
}

}  // namespace muster::cli
