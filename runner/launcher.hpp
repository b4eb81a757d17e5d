// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs the workers of one node to their end: passes signals on, ends the rest when one fails, and leaves no process
// behind. Its waits are bounded: a process that cannot be killed does not keep the job for ever.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "logic/result.hpp"
#include "runner/worker.hpp"
#include "sys/event_loop.hpp"

namespace muster::runner {

class Launcher {
 public:
  explicit Launcher(sys::EventLoop& loop) : loop_(loop) {}

  /// Starts them all, returns when all have ended: the exit code of the first that failed (128 + N for signal N), else
  /// 0. An error means that they could not be started; those that were are gone again.
  logic::Result<int> run(std::vector<WorkerSpec> specs);

 private:
  enum class Phase { running, stopping, killing, sweeping };

  logic::Status start_all(std::vector<WorkerSpec> specs);
  void on_signal(int number);
  void on_child();
  void on_worker_end(const Worker& worker);
  /// SIGTERM (or the signal that we got) to all, SIGKILL after the grace.
  void stop(int signal_number);
  void kill_all();
  /// All workers have ended: ends processes that they left outside their sessions and waits for their last output.
  void sweep();
  bool all_ended() const;

  sys::EventLoop& loop_;
  std::vector<std::unique_ptr<Worker>> workers_;
  sys::EventLoop::Handle signals_;
  sys::EventLoop::Handle timer_;
  Phase phase_ = Phase::running;
  int exit_code_ = 0;
  int sweeps_ = 0;
};

}  // namespace muster::runner
