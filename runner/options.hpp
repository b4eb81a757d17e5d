// SPDX-License-Identifier: GPL-2.0-or-later
//
// The command line of muster-run: torchrun's options, with dashes or underscores, and PET_NAME in the environment for
// each. What would change behaviour and is not supported is refused or warned about, never swallowed.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "logic/ranks.hpp"

namespace muster::runner {

struct Options {
  logic::PlaceOptions place;
  std::string workers = "1";  ///< --nproc-per-node as written
  std::string role = "default";
  bool is_module = false;
  bool no_python = false;
  logic::StreamChoice tee;
  logic::StreamChoice redirects;
  std::vector<int> console_ranks;  ///< empty = all
  std::string log_dir;
  std::vector<std::string> command;  ///< the script, module or program, then its arguments
  std::vector<std::string> warnings;
};

/// The options; or the exit code, where help or a usage error has been printed.
std::variant<Options, int> parse_options(int argc, const char* const* argv);

/// The arguments of one worker: interpreter, script and arguments, with ${local_rank} filled in.
std::vector<std::string> worker_command(const Options& options, const std::string& python, int local_rank);

}  // namespace muster::runner
