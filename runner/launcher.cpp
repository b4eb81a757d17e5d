// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/launcher.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "logic/field_reader.hpp"
#include "runner/leftovers.hpp"
#include "runner/say.hpp"
#include "runner/worker_error.hpp"

namespace muster::runner {

namespace {

constexpr std::chrono::seconds stop_grace{30};  // torchrun's; from SIGTERM to SIGKILL
constexpr std::chrono::seconds kill_wait{10};   // for a process in uninterruptible sleep, which SIGKILL does not end
constexpr std::chrono::milliseconds sweep_interval{50};
constexpr int most_sweeps = 100;  // 5 s

std::string ending(const Worker& worker) {
  const int code = worker.exit_code();
  if (code <= 128) return "exit code " + std::to_string(code);
  const char* name = ::strsignal(code - 128);
  return "signal " + std::to_string(code - 128) + (name ? std::string(" (") + name + ")" : std::string());
}

}  // namespace

logic::Result<int> Launcher::run(std::vector<WorkerSpec> specs) {
  // What a worker's children leave behind becomes our child, so that it can be found and ended.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  auto signals = loop_.on_signals({SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD}, [this](int number) {
    if (number == SIGCHLD) {
      on_child();
    } else {
      on_signal(number);
    }
  });
  if (!signals) return signals.error();
  signals_ = std::move(*signals);
  if (auto started = start_all(std::move(specs)); !started) return started.error();
  if (auto ended = loop_.run(); !ended) return ended.error();
  return exit_code_;
}

logic::Status Launcher::start_all(std::vector<WorkerSpec> specs) {
  for (WorkerSpec& spec : specs) {
    auto worker = Worker::start(loop_, std::move(spec));
    if (!worker) {
      for (const auto& started : workers_) started->kill_all();
      end_leftovers();
      return worker.error();
    }
    workers_.push_back(std::move(*worker));
  }
  return logic::Done{};
}

void Launcher::on_signal(int number) {
  if (number == SIGUSR1 || number == SIGUSR2) {
    for (const auto& worker : workers_) worker->send(number);
    return;
  }
  stop(number);
}

void Launcher::on_child() {
  for (const auto& worker : workers_) {
    if (worker->reap()) on_worker_end(*worker);
  }
  reap_leftovers();
  if (all_ended() && phase_ != Phase::sweeping) sweep();
}

void Launcher::on_worker_end(const Worker& worker) {
  if (worker.exit_code() == 0) return;
  if (exit_code_ == 0) exit_code_ = worker.exit_code();
  if (phase_ != Phase::running) return;
  const auto others =
      std::count_if(workers_.begin(), workers_.end(), [](const auto& other) { return !other->has_ended(); });
  std::string text = "worker of rank " + std::to_string(worker.spec().rank) + " (local rank " +
                     std::to_string(worker.spec().local_rank) + ", pid " + std::to_string(worker.pid()) +
                     ") failed: " + ending(worker);
  if (const std::string said = worker_error(worker.spec().error_file); !said.empty()) text += ": " + said;
  if (others > 0) text += "; ending the other " + std::to_string(others) + " here";
  say(text);
  stop(SIGTERM);
}

void Launcher::stop(int signal_number) {
  for (const auto& worker : workers_) worker->send(signal_number);
  if (phase_ != Phase::running) return;  // the first deadline stands
  phase_ = Phase::stopping;
  timer_ = loop_.after(stop_grace, [this] { kill_all(); });
}

void Launcher::kill_all() {
  phase_ = Phase::killing;
  say("workers still there " + logic::duration_text(stop_grace) + " after the signal to end: killing them");
  for (const auto& worker : workers_) worker->kill_all();
  timer_ = loop_.after(kill_wait, [this] {
    say("a worker cannot be killed (in uninterruptible sleep?); leaving it");
    if (exit_code_ == 0) exit_code_ = 128 + SIGKILL;
    loop_.stop();
  });
}

bool Launcher::all_ended() const {
  return std::all_of(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->has_ended(); });
}

void Launcher::sweep() {
  phase_ = Phase::sweeping;
  const bool gone = !kill_leftovers();
  const bool silent =
      std::all_of(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->streams_have_ended(); });
  if ((gone && silent) || sweeps_ == most_sweeps) {
    if (!gone) say("a process that a worker left behind cannot be killed; leaving it");
    loop_.stop();
    return;
  }
  ++sweeps_;
  timer_ = loop_.after(sweep_interval, [this] { sweep(); });
}

}  // namespace muster::runner
