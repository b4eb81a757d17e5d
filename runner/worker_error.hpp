// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a worker wrote about its own failure (TORCHELASTIC_ERROR_FILE, written by torch's @record).
#pragma once

#include <string>

namespace muster::runner {

/// The first line of its message; empty where the file is absent, cut off or something else. Never an error: the file
/// of a process that has just died proves nothing.
std::string worker_error(const std::string& error_file);

}  // namespace muster::runner
