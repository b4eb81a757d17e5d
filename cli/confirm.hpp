// SPDX-License-Identifier: GPL-2.0-or-later
//
// Asks the operator who sits there before something is opened or ended.
#pragma once

#include <string>

namespace muster::cli {

/// There is a terminal to ask on; else it is said that the command needs --yes.
bool can_ask(const std::string& command);
/// Shows the question and reads a line; the answer to anything but "y" or "yes" is no, and it is said that nothing was
/// changed.
bool is_confirmed(const std::string& question);

}  // namespace muster::cli
