// SPDX-License-Identifier: GPL-2.0-or-later
//
// The answer to Muster.Nodes as text: a line per node, with what it waits for.
#pragma once

#include <string>

#include "cli/view.hpp"

namespace muster::cli {

std::string render_nodes(const logic::Value& answer, const View& view);

}  // namespace muster::cli
