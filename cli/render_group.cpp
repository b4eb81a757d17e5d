// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/render_group.hpp"

#include <array>
#include <chrono>

namespace muster::cli {

using logic::Table;
using logic::Tone;
using logic::Value;

namespace {

struct CountWord {
  const char* key;
  const char* words;
};
// In the order in which a node passes through them.
constexpr std::array<CountWord, 12> count_words{{{"Pending", "waiting to be launched"},
                                                 {"Launching", "launching"},
                                                 {"Booting", "booting"},
                                                 {"Registering", "registering in Slurm"},
                                                 {"Ready", "ready behind the gate"},
                                                 {"Retrying", "waiting for another try"},
                                                 {"GivenUp", "given up"},
                                                 {"Rebooting", "rebooting"},
                                                 {"Leaving", "closed and to go"},
                                                 {"Terminating", "being terminated"},
                                                 {"Departed", "gone, with records still kept"},
                                                 {"Foreign", "drained by somebody else"}}};

std::string on_the_way(const Value& group) {
  const Value* counts = group.find("Counts");
  if (!counts) return {};
  std::string text;
  for (const CountWord& word : count_words) {
    const std::int64_t count = counts->integer_or(word.key);
    if (count <= 0) continue;
    if (!text.empty()) text += ", ";
    text += std::to_string(count) + " " + word.words;
  }
  return text;
}

bool is_complete(const Value& group) {
  const std::int64_t ready = group.integer_or("Ready");
  return group.boolean_or("GateOpen") && group.text_or("Status") == "InService" &&
         ready == group.integer_or("TargetCount") && group.integer_or("Open") >= ready;
}

void add_rollback(Table& table, const Value& group, const View& view) {
  const std::string why = shown(group, "RolledBack", view);
  if (why.empty()) return;
  table.note("ROLLED BACK: " + why + "; muster scale or muster apply tries again", Tone::bad);
}

void add_loss(Table& table, const Value& group, const View& view) {
  const Value::List& unusable = group.list_or_empty("Unusable");
  if (unusable.empty()) return;
  std::string text = std::to_string(group.integer_or("Ready")) + " counted, " +
                     std::to_string(group.integer_or("Usable")) + " usable: ";
  bool first = true;
  for (const Value& entry : unusable) {
    text += (first ? "" : "; ") + shown(entry, "Nodes", view) + " " + shown(entry, "Text", view);
    if (const auto since = time_member(entry, "Since")) text += " " + logic::time_since(*since, view.now);
    first = false;
  }
  table.note(text, Tone::bad);
}

void add_troubles(Table& table, const Value& group, const View& view) {
  for (const Value& trouble : group.list_or_empty("Troubles")) {
    std::string text = shown(trouble, "Text", view);
    const std::string probe = shown(trouble, "Probe", view);
    const auto retry = time_member(trouble, "RetryAt");
    if (trouble.boolean_or("Stopped")) {
      text += "; " + shown(trouble, "Advice", view);
    } else if (!probe.empty()) {
      text += "; " + probe + " tries it now";
    } else if (retry) {
      text += "; tried again " + (*retry > view.now ? logic::relative_time(*retry, view.now) : "now");
    }
    table.note(text, trouble.boolean_or("Stopped") ? Tone::bad : Tone::warning);
  }
  for (const Value& entry : group.list_or_empty("GivenUp")) {
    table.note("given up: " + shown(entry, "Nodes", view) + " (" + shown(entry, "Text", view) +
                   "); muster replace tries again",
               Tone::bad);
  }
}

void add_departures(Table& table, const Value& group, const View& view) {
  for (const Value& entry : group.list_or_empty("Leaving")) {
    const std::int64_t jobs = entry.integer_or("JobsEach");
    std::string text = shown(entry, "Nodes", view) + " " + shown(entry, "Text", view);
    if (jobs > 0) {
      text += ": waits for " + logic::counted(jobs, "job", "jobs") + (entry.integer_or("Count") > 1 ? " each" : "");
      if (const auto until = time_member(entry, "Until"))
        text +=
            ", which end" + std::string(jobs == 1 ? "s" : "") + " with it " + logic::relative_time(*until, view.now);
    }
    table.note(text);
  }
  for (const Value& entry : group.list_or_empty("Drained")) {
    table.note("drained by somebody else and left alone: " + shown(entry, "Nodes", view) + " (" +
                   shown(entry, "Text", view) + ")",
               Tone::warning);
  }
}

void add_waiting(Table& table, const Value& group, const View& view) {
  if (group.text_or("Gathering") != "no") {
    if (const auto opens = time_member(group, "EstimatedOpen"); opens && *opens > view.now) {
      const bool soon = *opens - view.now < std::chrono::seconds{1};
      table.note("at this pace it opens " + (soon ? "any moment" : logic::relative_time(*opens, view.now)));
    }
  }
  const std::string action = without_stop(shown(group, "DeadlineAction", view));
  if (const auto deadline = time_member(group, "Deadline")) {
    std::string text =
        "deadline " + logic::relative_time(*deadline, view.now) + " (" + view.clock_text(*deadline) + ")";
    if (!action.empty()) text += ": " + action;
    table.note(text);
  }
  if (const Value* idle = group.find("IdleNodeHours"); idle && idle->is_map()) {
    std::string text = logic::rough_hours(idle->real_or("Spent")) + " of " +
                       logic::rough_hours(idle->real_or("Limit")) + " node hours are spent on waiting";
    if (const auto reached = time_member(*idle, "ReachedAt"))
      text += ", all of them " + logic::relative_time(*reached, view.now) + ": then the same";
    table.note(text);
  }
}

void add_last_problem(Table& table, const Value& group, const View& view) {
  const Value* problem = group.find("LastProblem");
  if (!problem || !problem->is_map()) return;
  std::string text = "last problem";
  if (const auto when = time_member(*problem, "Time")) text += " " + logic::relative_time(*when, view.now);
  table.note(text + ": " + shown(*problem, "Text", view), Tone::warning);
}

}  // namespace

void add_group_notes(Table& table, const Value& group, const View& view) {
  const bool complete = is_complete(group);
  const std::string status = group.text_or("Status");
  add_rollback(table, group, view);
  add_loss(table, group, view);
  // Of a group in service the reason says no more than its counts do.
  if (const std::string reason = shown(group, "StatusReason", view); !reason.empty() && status != "InService")
    table.note(reason, status == "Failed" ? Tone::bad : Tone::plain);
  if (group.boolean_or("WaitsForController")) table.note("its machines are launched when a controller is there");
  if (const std::string counts = on_the_way(group); !counts.empty()) table.note(counts);
  const std::int64_t ready = group.integer_or("Ready");
  const std::int64_t open = group.integer_or("Open");
  if (group.boolean_or("GateOpen") && open < ready)
    table.note(std::to_string(open) + " of " + std::to_string(ready) + " ready nodes are open to jobs");
  add_departures(table, group, view);
  add_troubles(table, group, view);
  add_waiting(table, group, view);
  const bool told = !group.list_or_empty("Troubles").empty() || !group.list_or_empty("GivenUp").empty();
  if (!complete && !told) add_last_problem(table, group, view);
}

}  // namespace muster::cli
