// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the place where stdout goes can show, and what only this machine knows: login names and the time zone.
#pragma once

#include <cstddef>
#include <string_view>

#include "cli/view.hpp"

namespace muster::cli {

/// Colour only on a terminal that has it and without NO_COLOR; UTF-8 only on a terminal in such a locale.
View stdout_view();

bool stdout_is_terminal();
/// Rows of the terminal on stdout; 0 = unknown.
std::size_t terminal_rows();

/// Writes all of it to stdout, at once where the kernel takes it so. false: the reader has gone.
bool write_out(std::string_view text);
/// "muster: text" on stderr, control characters left out. Line ends stay.
void complain(std::string_view text);

}  // namespace muster::cli
