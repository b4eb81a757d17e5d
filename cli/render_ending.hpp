// SPDX-License-Identifier: GPL-2.0-or-later
//
// What an operator is told before machines are ended: whose work runs on them, and who else has laid hands on them.
#pragma once

#include <string>
#include <vector>

#include "cli/view.hpp"

namespace muster::cli {

enum class Ending { removal, replacement, deletion };

/// What is ended and when, which jobs and whose drains are concerned; empty where nothing is. nodes is an answer to
/// Muster.Nodes, of which these are meant (names empty: all), status one to Muster.Status.
std::string render_ending(Ending ending, const logic::Value& nodes, const std::vector<std::string>& names,
                          const logic::Value& status, const View& view);

}  // namespace muster::cli
