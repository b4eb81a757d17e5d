// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/render_simulation.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace muster::cli {

using logic::Table;
using logic::Tone;
using logic::Value;

namespace {

/// "1:02:03": hours, minutes and seconds since the beginning.
std::string clock_text(double all_seconds) {
  const auto seconds = static_cast<long>(all_seconds);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%3ld:%02ld:%02ld", seconds / 3600, seconds / 60 % 60, seconds % 60);
  return text.data();
}

std::string seconds_text(const Value& map, const char* key) {
  const Value* value = map.find(key);
  if (!value || value->is_null()) return "-";
  return logic::rough_duration(logic::Duration{static_cast<std::int64_t>(map.real_or(key) * 1000)});
}

std::string number_text(const Value& map, const char* key) { return std::to_string(map.integer_or(key)); }

std::string failures_text(const Value& group) {
  const Value* failures = group.find("Failures");
  std::string text;
  if (!failures) return text;
  for (const auto& [kind, number] : failures->members()) {
    text += (text.empty() ? "" : ", ") + kind + " " + std::to_string(*number.as_integer());
  }
  return text;
}

std::string groups_table(const Value& summary, const View& view) {
  Table table;
  table.column("GROUP");
  table.column("STATUS");
  for (const char* heading : {"TARGET", "MIN", "OPEN", "MINCOUNT AFTER", "TARGET AFTER", "LAUNCHES", "ENDED"})
    table.column(heading, Table::Align::right);
  table.column("FAILURES");
  for (const Value& group : summary.list_or_empty("Groups")) {
    const std::string status = shown(group, "Status", view);
    const bool is_rolled_back = group.integer_or("RolledBack") > 0;
    table.row(
        {shown(group, "Name", view),
         {is_rolled_back ? status + ", rolled back" : status, is_rolled_back ? Tone::warning : status_tone(status)},
         number_text(group, "TargetCount"),
         number_text(group, "MinCount"),
         number_text(group, "Open"),
         seconds_text(group, "SecondsToMinCount"),
         seconds_text(group, "SecondsToTarget"),
         number_text(group, "Launches"),
         number_text(group, "Terminated"),
         failures_text(group)});
  }
  return table.text(view.style);
}

}  // namespace

std::string timeline_line(const simulator::TimelineEntry& entry, const View& view) {
  constexpr std::size_t level_width = 5;
  constexpr std::size_t group_width = 10;
  std::string level = entry.level;
  level.resize(std::max(level.size(), level_width), ' ');
  std::string group = logic::safe_text(entry.group, view.style);
  group.resize(std::max(group.size(), group_width), ' ');
  const std::string head = clock_text(logic::to_seconds(entry.at)) + "  " + level + "  " + group + "  ";
  const std::string kind = entry.kind.empty() ? "" : entry.kind + ": ";
  const std::size_t room = view.style.width > head.size() + 24 ? view.style.width - head.size() : 0;
  std::string out;
  for (const std::string& line : logic::wrap(logic::safe_text(kind + entry.text, view.style), room)) {
    out += (out.empty() ? head : std::string(head.size(), ' ')) +
           logic::paint(line, status_tone(entry.level), view.style) + "\n";
  }
  return out;
}

Value entry_value(const simulator::TimelineEntry& entry) {
  return Value::map({{"Seconds", logic::to_seconds(entry.at)},
                     {"Level", entry.level},
                     {"InstanceGroupName", entry.group},
                     {"Kind", entry.kind},
                     {"Count", entry.count},
                     {"Description", entry.text}});
}

std::string simulation_summary(const Value& summary, const View& view) {
  std::string out = "\n";
  if (const std::string title = shown(summary, "Title", view); !title.empty()) out += title + "\n";
  out += groups_table(summary, view);
  const Value& jobs = *summary.find("Jobs");
  if (jobs.integer_or("Submitted") > 0) {
    out += "\njobs: " + number_text(jobs, "Submitted") + " submitted, " + number_text(jobs, "Held") + " held, " +
           number_text(jobs, "Refused") + " refused, " + number_text(jobs, "Started") + " started, " +
           number_text(jobs, "Ended") + " ended, " + number_text(jobs, "Interrupted") + " interrupted; mean wait " +
           seconds_text(jobs, "MeanWaitSeconds") + "\n";
  }
  const Value& head = *summary.find("Head");
  out += "\n" + seconds_text(summary, "SimulatedSeconds") + " simulated with seed " + number_text(summary, "Seed") +
         "; " + shown(summary, "EndedBecause", view) + "; " + number_text(head, "Passes") + " passes, " +
         number_text(head, "ProviderCalls") + " calls of the provider\n";
  if (!summary.boolean_or("PromisesChecked")) {
    out += "Promises: only the end was looked at; the cluster is too large to watch each node in each pass.\n";
  } else if (summary.list_or_empty("BrokenPromises").empty()) {
    out += logic::paint("All promises were kept.", Tone::good, view.style) + "\n";
  }
  return out;
}

std::string broken_sentence(const Value& summary, const View& view) {
  const Value::List& broken = summary.list_or_empty("BrokenPromises");
  std::string text = logic::counted(static_cast<std::int64_t>(broken.size()), "promise was", "promises were") +
                     " broken; this is a fault in muster's planner, please report it with the scenario and seed " +
                     number_text(summary, "Seed");
  for (const Value& breach : broken) {
    text += "\n" + clock_text(breach.real_or("Seconds")) + "  " + shown(breach, "Promise", view) + ": " +
            shown(breach, "Text", view);
  }
  return text;
}

}  // namespace muster::cli
