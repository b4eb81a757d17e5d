// SPDX-License-Identifier: GPL-2.0-or-later
//
// What only this machine knows: its CPUs and GPUs, a free port, a folder for logs.
#pragma once

#include <string>

#include "logic/ranks.hpp"
#include "logic/result.hpp"

namespace muster::runner {

logic::Environment process_environment();
/// CPUs that we may run on.
int cpu_count();
/// GPUs that the environment gives us, else those whose device files are there.
int gpu_count();
/// A port on the loopback address that is free now.
logic::Result<int> free_port();
/// Makes LOG_DIR/RUN_ID_XXXXXX/attempt_0 and returns its path.
logic::Result<std::string> make_log_directory(const std::string& log_dir, const std::string& run_id);

}  // namespace muster::runner
