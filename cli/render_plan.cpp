// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/render_plan.hpp"

namespace muster::cli {

using logic::Tone;
using logic::Value;

namespace {

std::string indented(const std::string& text, Tone tone, const View& view) {
  std::string out;
  bool first = true;
  for (const std::string& line : logic::wrap(text, view.style.width > 4 ? view.style.width - 4 : 0)) {
    out += (first ? "  " : "    ") + logic::paint(line, tone, view.style) + "\n";
    first = false;
  }
  return out;
}

std::string event_text(const Value& event, const View& view) {
  std::string subject = shown(event, "NodeName", view);
  if (subject.empty()) subject = shown(event, "InstanceGroupName", view);
  if (subject.empty()) subject = "cluster";
  return shown(event, "EventLevel", view) + " " + subject + " " + shown(event, "Kind", view) + ": " +
         shown(event, "Description", view);
}

std::string actions_text(const Value& answer, const std::string& title, const View& view) {
  const Value::List& actions = answer.list_or_empty("Actions");
  const Value::List& events = answer.list_or_empty("Events");
  std::string out = actions.empty() ? "nothing to do now\n" : title + "\n";
  for (const Value& action : actions) {
    if (action.as_text()) out += indented(logic::safe_text(*action.as_text(), view.style), Tone::plain, view);
  }
  if (!events.empty()) out += "and told as events:\n";
  for (const Value& event : events)
    out += indented(event_text(event, view), status_tone(event.text_or("EventLevel")), view);
  if (const auto next = time_member(answer, "NextDeadline"); next && *next > view.now) {
    out += "the next thing falls due by itself " + logic::relative_time(*next, view.now) + " (" +
           view.clock_text(*next) + ")\n";
  }
  return out;
}

}  // namespace

std::string render_plan(const Value& answer, const View& view) {
  return actions_text(answer, "to do with the next pass:", view);
}

std::string render_resync(const Value& answer, const View& view) {
  std::string out;
  for (const Value& failed : answer.list_or_empty("Failed")) {
    const std::string text = "group " + shown(failed, "InstanceGroupName", view) +
                             ": its machines could not be listed: " + shown(failed, "Message", view);
    for (const std::string& line : logic::wrap(text, view.style.width))
      out += logic::paint(line, Tone::bad, view.style) + "\n";
  }
  const bool dry_run = answer.boolean_or("DryRun");
  out += actions_text(answer, dry_run ? "would be done:" : "is done now:", view);
  if (dry_run) return out + "dry run: nothing was changed\n";
  return out + shown(answer, "Message", view) + "\n";
}

}  // namespace muster::cli
