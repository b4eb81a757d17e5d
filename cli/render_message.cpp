// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/render_message.hpp"

namespace muster::cli {

std::string render_message(const logic::Value& answer, const View& view) {
  std::string out;
  for (const std::string& line : logic::wrap(shown(answer, "Message", view), view.style.width)) out += line + "\n";
  return out;
}

}  // namespace muster::cli
