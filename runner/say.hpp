// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the launcher itself says: a line on stderr with its name and the node's, since the lines of all nodes of a job
// come together in one file.
#pragma once

#include <string>

namespace muster::runner {

void say(const std::string& text);
/// Slurm's name of this node, else the host's.
std::string node_name();

}  // namespace muster::runner
