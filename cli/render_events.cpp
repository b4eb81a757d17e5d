// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/render_events.hpp"

#include <algorithm>

namespace muster::cli {

using logic::Tone;
using logic::Value;

namespace {

std::string subject_of(const Value& event, const View& view) {
  for (const char* key : {"NodeName", "InstanceGroupName"}) {
    if (std::string name = shown(event, key, view); !name.empty()) return name;
  }
  return "cluster";
}

std::string what_happened(const Value& event, const View& view) {
  const std::string kind = shown(event, "Kind", view);
  const std::string description = shown(event, "Description", view);
  return kind.empty() || description.empty() ? kind + description : kind + ": " + description;
}

constexpr std::size_t level_width = 5;  // "Error"

}  // namespace

std::string EventLines::text(const Value& answer, const View& view) {
  const Value::List& events = answer.list_or_empty("Events");
  for (const Value& event : events) {
    subject_width_ = std::max(subject_width_, logic::text_width(subject_of(event, view)));
  }
  std::string out;
  for (const Value& event : events) {
    const auto when = time_member(event, "EventTime");
    const std::string clock = when ? view.clock_text(*when) : "-";
    std::string level = shown(event, "EventLevel", view);
    const Tone tone = status_tone(level);
    level.resize(std::max(level.size(), level_width), ' ');
    std::string subject = subject_of(event, view);
    subject.append(subject_width_ - logic::text_width(subject), ' ');
    const std::string head = clock + "  " + level + "  " + subject + "  ";
    const std::size_t indent = logic::text_width(head);
    const bool beside = view.style.width == 0 || indent + 24 <= view.style.width;
    const std::size_t start = beside ? indent : 2;
    if (!beside) subject.erase(subject.find_last_not_of(' ') + 1);
    out += clock + "  " + logic::paint(level, tone, view.style) + "  " + subject;
    bool first = beside;
    for (const std::string& line :
         logic::wrap(what_happened(event, view), view.style.width > start ? view.style.width - start : 0)) {
      out += first ? "  " : "\n" + std::string(start, ' ');
      out += logic::paint(line, tone, view.style);
      first = false;
    }
    out += '\n';
  }
  return out;
}

}  // namespace muster::cli
