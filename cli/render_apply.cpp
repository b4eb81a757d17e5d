// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/render_apply.hpp"

#include <algorithm>

namespace muster::cli {

using logic::Tone;
using logic::Value;

namespace {

std::string bullet_lines(const Value::List& items, const std::string& label, Tone tone, const View& view) {
  std::string out;
  for (const Value& item : items) {
    const std::string text = logic::safe_text(item.as_text() ? *item.as_text() : std::string(), view.style);
    const std::size_t indent = label.size();
    bool first = true;
    for (const std::string& line : logic::wrap(text, view.style.width > indent ? view.style.width - indent : 0)) {
      out += logic::paint(first ? label : std::string(indent, ' '), tone, view.style) + line + "\n";
      first = false;
    }
  }
  return out;
}

}  // namespace

std::string render_apply(const Value& answer, const View& view) {
  std::string out;
  const Value::List& changes = answer.list_or_empty("Changes");
  std::size_t width = 0;
  for (const Value& change : changes) width = std::max(width, logic::text_width(shown(change, "Group", view)));
  for (const Value& change : changes) {
    out += logic::labelled(shown(change, "Group", view), width, shown(change, "Text", view), view.style);
  }
  out += bullet_lines(answer.list_or_empty("Warnings"), "warning: ", Tone::warning, view);
  const Value::List& plan = answer.list_or_empty("Plan");
  if (!plan.empty()) out += "first steps:\n" + bullet_lines(plan, "  ", Tone::plain, view);
  if (!answer.boolean_or("Applied")) {
    out += changes.empty() ? "dry run: there is nothing to change\n" : "dry run: nothing was changed\n";
  } else {
    out += changes.empty() ? "applied: there was nothing to change\n" : "applied\n";
  }
  return out;
}

}  // namespace muster::cli
