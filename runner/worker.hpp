// SPDX-License-Identifier: GPL-2.0-or-later
//
// One worker process: a session of its own, its environment, where its output goes. It dies with us, and what it leaves
// behind in its session dies with it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "logic/result.hpp"
#include "runner/line_prefix.hpp"
#include "sys/event_loop.hpp"
#include "sys/fd.hpp"

namespace muster::runner {

/// Where one stream of a worker goes.
struct StreamTarget {
  bool is_piped = false;  ///< through us: shown with a prefix (if is_shown), and into file
  bool is_shown = true;   ///< on our own stdout or stderr
  std::string file;       ///< empty = none
};

struct WorkerSpec {
  int local_rank = 0;
  int rank = 0;
  std::vector<std::string> command;
  /// Set on top of our own environment.
  std::vector<std::pair<std::string, std::string>> environment;
  std::string prefix;  ///< of shown lines: "[default0]:"
  StreamTarget out;
  StreamTarget err;
  std::string error_file;  ///< that the worker may write; empty = none
};

/// A stream of a worker that passes through us.
class TeedStream {
 public:
  /// console: our stdout or stderr, -1 = not shown; file: -1 = none.
  static logic::Result<std::unique_ptr<TeedStream>> begin(sys::EventLoop& loop, sys::Fd pipe, int console, sys::Fd file,
                                                          const std::string& prefix);
  bool has_ended() const { return pipe_.get() < 0; }

 private:
  TeedStream(sys::Fd pipe, int console, sys::Fd file, const std::string& prefix)
      : pipe_(std::move(pipe)), console_(console), file_(std::move(file)), lines_(prefix) {}
  void read_some();
  void end();

  sys::Fd pipe_;
  int console_;
  sys::Fd file_;
  LinePrefix lines_;
  sys::EventLoop::Handle source_;
};

class Worker {
 public:
  /// An error says which program could not be started and why; nothing runs then.
  static logic::Result<std::unique_ptr<Worker>> start(sys::EventLoop& loop, WorkerSpec spec);

  const WorkerSpec& spec() const { return spec_; }
  pid_t pid() const { return pid_; }
  bool has_ended() const { return has_ended_; }
  /// 0..255; 128 + N where signal N ended it.
  int exit_code() const { return exit_code_; }
  bool streams_have_ended() const;

  /// To the worker itself only: what its own children get is its affair.
  void send(int signal_number) const;
  /// To its whole session group.
  void kill_all() const;
  /// If it has ended: ends what it left behind in its group, reaps it, notes its exit code and returns true.
  bool reap();

 private:
  Worker(WorkerSpec spec, pid_t pid) : spec_(std::move(spec)), pid_(pid) {}

  WorkerSpec spec_;
  pid_t pid_;
  bool has_ended_ = false;
  int exit_code_ = 0;
  std::vector<std::unique_ptr<TeedStream>> streams_;
};

}  // namespace muster::runner
