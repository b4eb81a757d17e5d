// SPDX-License-Identifier: GPL-2.0-or-later
//
// Child processes: one program run to its end with text in and text out (a provider call), or kept running and spoken
// to by lines (the Slurm helper). Every run has a deadline and ends with the whole process group killed; output is
// bounded; no shell is involved; file descriptors of ours are not inherited (O_CLOEXEC everywhere).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "logic/result.hpp"
#include "logic/time.hpp"
#include "sys/event_loop.hpp"

namespace muster::sys {

struct Command {
  std::vector<std::string> arguments;  ///< arguments[0] is the program: an absolute path, or looked up in PATH
  /// NAME=value pairs added to our own environment.
  std::vector<std::pair<std::string, std::string>> environment;
};

struct Finished {
  bool timed_out = false;
  bool output_too_large = false;  ///< killed since stdout passed the limit (4 MiB)
  int exit_code = -1;             ///< -1 where it ended by a signal
  int signal = 0;                 ///< the signal that ended it, 0 if none
  std::string output;             ///< stdout
  std::string diagnostics;        ///< the last 4 KiB of stderr
};

/// A run that goes on in the background; destroying it kills the process group.
class Run {
 public:
  virtual ~Run() = default;
};

/// Starts the command, writes input to its stdin and closes it, gathers its output. The callback comes once, on the
/// loop, after the process is reaped. An error at once means it could not be started (no such program and the like).
logic::Result<std::unique_ptr<Run>> run_command(EventLoop& loop, const Command& command, std::string input,
                                                logic::Duration deadline, std::function<void(Finished)> done);

/// The same, waiting: for command-line programs only, never for a daemon's loop.
logic::Result<Finished> run_command_and_wait(const Command& command, const std::string& input,
                                             logic::Duration deadline);

/// A child that is spoken to by lines.
class LineProcess {
 public:
  struct Events {
    std::function<void(std::string line)> line;  ///< a whole line of its stdout, without the newline; limit 64 MiB
    std::function<void(std::string why)> ended;  ///< it has gone (exit, signal, too long a line); comes once
  };
  static logic::Result<std::unique_ptr<LineProcess>> start(EventLoop& loop, const Command& command, Events events);
  /// Kills and reaps; no callback comes after destruction.
  virtual ~LineProcess() = default;
  /// Queues a line (the newline is added); never blocks.
  virtual void send(std::string line) = 0;
  virtual pid_t pid() const = 0;
};

}  // namespace muster::sys
