// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/render_status.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/render_group.hpp"

namespace muster::cli {

using logic::Table;
using logic::Tone;
using logic::Value;

namespace {

constexpr std::size_t bar_cells = 10;

std::string cluster_line(const Value& answer, const View& view) {
  const std::string name = shown(answer, "Cluster", view);
  if (name.empty()) return {};
  std::string line = logic::paint(name, Tone::strong, view.style);
  const std::string status = shown(answer, "ClusterStatus", view);
  if (!status.empty()) line += "  " + logic::paint(status, status_tone(status), view.style);
  const std::string reason = shown(answer, "ClusterStatusReason", view);
  if (const std::int64_t foreign = answer.integer_or("ForeignNodes"); foreign > 0) {
    line += "  " + logic::counted(foreign, "node", "nodes") + " not muster's";
  }
  line += "\n";
  for (const std::string& piece : logic::wrap(reason, view.style.width)) {
    if (!piece.empty()) line += logic::paint(piece, status_tone(status), view.style) + "\n";
  }
  return line;
}

/// A line that must not be overlooked.
std::string alarm(const std::string& text, const View& view) {
  std::string out;
  for (const std::string& line : logic::wrap(text, view.style.width)) {
    out += logic::paint(line, Tone::bad, view.style) + "\n";
  }
  return out;
}

std::string slurm_line(const Value& answer, const View& view) {
  const Value* slurm = answer.find("Slurm");
  if (!slurm || !slurm->is_map()) return {};
  const std::string state = slurm->text_or("State", "unknown");
  const std::string version = shown(*slurm, "Version", view);
  std::string text = "Slurm" + (version.empty() ? "" : " " + version) + " ";
  if (state == "up") return text + "is up\n";
  const auto since = time_member(*slurm, "Since");
  text += since ? "has not answered " + logic::time_since(*since, view.now) : "has not answered yet";
  if (const std::string message = shown(*slurm, "Message", view); !message.empty()) text += ": " + message;
  return alarm(text, view);
}

std::string ledger_line(const Value& answer, const View& view) {
  const std::string problem = shown(answer, "LedgerProblem", view);
  return problem.empty() ? problem : alarm("nothing new is done: " + problem + "; it goes on by itself", view);
}

/// Of a musterd that looks on; else nothing.
std::string role_line(const Value& answer, const View& view) {
  const std::string text = shown(answer, "RoleMessage", view);
  return text.empty() ? text : logic::paint(text, Tone::warning, view.style) + "\n";
}

std::string warning_lines(const Value& answer, const View& view) {
  std::string out;
  for (const Value& warning : answer.list_or_empty("Warnings")) {
    const std::string text = logic::safe_text(warning.as_text() ? *warning.as_text() : std::string(), view.style);
    for (const std::string& line : logic::wrap("warning: " + text, view.style.width))
      out += logic::paint(line, Tone::warning, view.style) + "\n";
  }
  return out;
}

std::string ready_cell(const Value& group, std::size_t count_width, const View& view) {
  const std::int64_t ready = group.integer_or("Ready");
  const std::int64_t target = group.integer_or("TargetCount");
  std::string count = std::to_string(ready) + "/" + std::to_string(target);
  count.insert(0, count_width > count.size() ? count_width - count.size() : 0, ' ');
  return logic::bar(ready, target, bar_cells, view.style) + " " + count + "  min " +
         std::to_string(group.integer_or("MinCount"));
}

std::string gate_cell(const Value& group, const View& view) {
  if (!group.boolean_or("GateOpen")) return "closed";
  const auto opened = time_member(group, "OpenedAt");
  // A group that was rolled back looks like any other that is well.
  const std::string how = shown(group, "RolledBack", view).empty() ? "" : ", rolled back";
  return (opened ? "open " + logic::time_since(*opened, view.now) : "open") + how;
}

/// Empty where all groups run jobs: the column is left out then.
std::string type_cell(const Value& group, bool is_mixed) {
  return is_mixed ? group.text_or("NodeType", "compute") : std::string();
}

std::string group_table(const Value::List& groups, const View& view) {
  std::size_t count_width = 0;
  for (const Value& group : groups) {
    const std::string count =
        std::to_string(group.integer_or("Ready")) + "/" + std::to_string(group.integer_or("TargetCount"));
    count_width = std::max(count_width, count.size());
  }
  const bool is_mixed = std::any_of(groups.begin(), groups.end(), [](const Value& group) {
    return group.text_or("NodeType", "compute") != "compute";
  });
  Table table;
  for (const char* heading : {"GROUP", "TYPE", "PARTITION", "STATUS", "READY", "GATE"}) table.column(heading);
  for (const Value& group : groups) {
    const std::string status = shown(group, "Status", view);
    const bool complete = group.integer_or("Ready") >= group.integer_or("TargetCount");
    table.row({{shown(group, "Name", view), Tone::strong},
               type_cell(group, is_mixed),
               shown(group, "Partition", view),
               {status, status_tone(status)},
               {ready_cell(group, count_width, view), complete ? Tone::good : Tone::plain},
               gate_cell(group, view)});
    add_group_notes(table, group, view);
  }
  return table.text(view.style);
}

/// The plugin's words without what the column's heading says already.
std::string waits_until(std::string text) {
  for (const std::string_view beginning : {"muster: held ", "until "}) {
    if (text.rfind(beginning, 0) == 0) text.erase(0, beginning.size());
  }
  return text;
}

std::string held_jobs(const Value::List& jobs, const View& view) {
  Table table;
  table.column("JOB", Table::Align::right);
  table.column("USER");
  table.column("PARTITION");
  table.column("NODES", Table::Align::right);
  table.column("HELD");
  table.column("WAITS UNTIL");
  for (const Value& job : jobs) {
    const auto since = time_member(job, "HeldSince");
    const std::int64_t nodes = job.integer_or("NodesNeeded");
    table.row({std::to_string(job.integer_or("JobId")), view.user_name(job.integer_or("UserId")),
               shown(job, "Partition", view), nodes > 0 ? std::to_string(nodes) : "?",
               since ? logic::time_since(*since, view.now) : std::string(), waits_until(shown(job, "Text", view))});
  }
  return logic::counted(static_cast<std::int64_t>(jobs.size()), "job", "jobs") + " held\n" + table.text(view.style);
}

}  // namespace

std::string render_status(const Value& answer, const View& view) {
  std::string out = cluster_line(answer, view) + role_line(answer, view) + slurm_line(answer, view) +
                    ledger_line(answer, view) + warning_lines(answer, view) + "\n";
  const Value::List& groups = answer.list_or_empty("Groups");
  out += groups.empty() ? "no instance groups yet; muster apply -f FILE makes them\n" : group_table(groups, view);
  if (const Value::List& jobs = answer.list_or_empty("HeldJobs"); !jobs.empty()) {
    out += "\n" + held_jobs(jobs, view);
  }
  return out;
}

Value lasting_part(const Value& answer) {
  Value kept = Value::map();
  for (const auto& [key, member] : answer.members()) {
    if (key != "Time" && key != "Groups") kept.set(key, member);
  }
  Value groups = Value::list();
  for (const Value& group : answer.list_or_empty("Groups")) {
    Value lasting = Value::map();
    for (const auto& [key, member] : group.members()) {
      if (key != "ArrivalsPerMinute" && key != "EstimatedOpen" && key != "IdleNodeHours") lasting.set(key, member);
    }
    groups.push(std::move(lasting));
  }
  kept.set("Groups", std::move(groups));
  return kept;
}

std::string watch_frame(const std::string& text, std::size_t rows, std::size_t columns) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  // The last row stays free for the cursor, or the terminal would scroll.
  if (rows > 2 && lines.size() > rows - 1) {
    const std::size_t dropped = lines.size() - (rows - 2);
    lines.resize(rows - 2);
    lines.push_back("... " + std::to_string(dropped) + " more lines: make the window taller, or use muster status");
  }
  std::string frame = "\033[H";
  for (std::string& line : lines) {
    // Lines with colours are within the width already: they were laid out for it.
    const bool plain = line.find('\033') == std::string::npos;
    frame += (columns > 0 && plain ? logic::clip(line, columns) : line) + "\033[K\n";
  }
  return frame + "\033[J";
}

}  // namespace muster::cli
