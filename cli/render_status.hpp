// SPDX-License-Identifier: GPL-2.0-or-later
//
// The answer to Muster.Status as text: the cluster in a line, a bar per group, below it why it waits, then held jobs.
#pragma once

#include <string>

#include "cli/view.hpp"

namespace muster::cli {

std::string render_status(const logic::Value& answer, const View& view);

/// The part of an answer that says something new when it differs; times and rates that change by themselves are left
/// out.
logic::Value lasting_part(const logic::Value& answer);

/// One frame of a watched status for a terminal of that many rows: from the top left corner, every line cut to the
/// width, what was there before cleared. rows = 0: unlimited.
std::string watch_frame(const std::string& text, std::size_t rows, std::size_t columns);

}  // namespace muster::cli
