// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <string>

#include "cli/commands.hpp"
#include "cli/render_why.hpp"

namespace muster::cli {

int run_why(const CommonOptions& common, const WhyOptions& options) {
  // A bare number is a job; anything else is a node or a group, which musterd tells apart.
  const bool is_number =
      !options.subject.empty() && options.subject.size() <= 10 &&
      std::all_of(options.subject.begin(), options.subject.end(), [](char c) { return c >= '0' && c <= '9'; });
  logic::Value body = logic::Value::map();
  if (is_number) {
    body.set("Job", static_cast<std::int64_t>(std::stoll(options.subject)));
  } else {
    body.set("Name", options.subject);
  }
  return ask_and_show(common, "Muster.Why", body, render_why);
}

}  // namespace muster::cli
