// SPDX-License-Identifier: GPL-2.0-or-later
//
// muster simulate: the timeline as it goes on, and what came of it.
#pragma once

#include <string>

#include "cli/view.hpp"
#include "logic/value.hpp"
#include "simulator/simulation.hpp"

namespace muster::cli {

std::string timeline_line(const simulator::TimelineEntry& entry, const View& view);
logic::Value entry_value(const simulator::TimelineEntry& entry);
std::string simulation_summary(const logic::Value& summary, const View& view);
/// The promises that were broken, a line each; one sentence first.
std::string broken_sentence(const logic::Value& summary, const View& view);

}  // namespace muster::cli
