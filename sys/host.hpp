// SPDX-License-Identifier: GPL-2.0-or-later
//
// What this host shows of itself: its name and addresses, what stands at a path and who may read it, how full a file
// system is, and what its resolver says.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "logic/doctor.hpp"
#include "logic/result.hpp"
#include "logic/time.hpp"

namespace muster::sys {

/// As the kernel has it; empty if that cannot be told.
std::string host_name();
/// The numeric addresses of its interfaces, without those that every machine has (loopback, link-local).
std::set<std::string> own_addresses();

/// Absent and unreadable differ: the second has trouble.
logic::FileState look_at_file(const std::string& path);
/// Since when the file has not been written.
logic::Duration file_age(const std::string& path, logic::Time now);
logic::FileSystemState look_at_file_system(const std::string& path);
/// Why the file cannot be run as a program: "nothing at PATH"; empty where it can.
std::string program_trouble(const std::string& path);
/// Writes a small file in the directory and removes it again: why that does not work, or nothing.
std::string try_writing(const std::string& directory);

/// The numeric addresses of a host's name. Blocks as long as the resolver does: for command-line programs only.
logic::Result<std::vector<std::string>> resolve(const std::string& name);

}  // namespace muster::sys
