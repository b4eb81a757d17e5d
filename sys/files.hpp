// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whole small files: read with a limit, replaced by rename so that a reader sees the old or the new one, never a part.
#pragma once

#include <string>

#include "logic/result.hpp"
#include "sys/fd.hpp"

namespace muster::sys {

/// The content; an error says which file and why. kind is reject where the file is absent or too large.
logic::Result<std::string> read_file(const std::string& path, std::size_t max_bytes = 1u << 20);

/// Writes a temporary file beside it, fsyncs, renames over, fsyncs the directory. On failure the old file is untouched
/// and no temporary file stays. durable=false leaves out the fsyncs (for files that are made again at start).
logic::Status replace_file(const std::string& path, const std::string& content, unsigned mode = 0644,
                           bool durable = true);

/// Makes the directory (and its parents) if it is not there.
logic::Status make_directories(const std::string& path, unsigned mode = 0755);

/// Takes the file's lock and keeps it while the result lives; the file is made if it is not there. An error if another
/// process has it.
logic::Result<Fd> lock_file(const std::string& path);

}  // namespace muster::sys
