// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/render_why.hpp"

#include <algorithm>

namespace muster::cli {

using logic::Value;

std::string render_why(const Value& answer, const View& view) {
  std::string out;
  for (const std::string& line : logic::wrap(shown(answer, "Title", view), view.style.width)) {
    out += logic::paint(line, logic::Tone::strong, view.style) + "\n";
  }
  const Value::List& lines = answer.list_or_empty("Lines");
  std::size_t width = 0;
  for (const Value& line : lines) width = std::max(width, logic::text_width(shown(line, "Label", view)));
  for (const Value& line : lines) {
    out += logic::labelled(shown(line, "Label", view), width, shown(line, "Text", view), view.style, 2);
  }
  return out;
}

}  // namespace muster::cli
