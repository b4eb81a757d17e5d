// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/event_loop.hpp"

#include <sys/eventfd.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <utility>

namespace muster::sys {
namespace {

using logic::Done;
using logic::Result;
using logic::Status;

struct EventUnref {
  void operator()(sd_event* event) const { sd_event_unref(event); }
};
using EventHandle = std::unique_ptr<sd_event, EventUnref>;

struct SourceUnref {
  void operator()(sd_event_source* source) const { sd_event_source_disable_unref(source); }
};
using SourceHandle = std::unique_ptr<sd_event_source, SourceUnref>;

logic::Error loop_error(const char* what, int negative_errno) {
  return logic::retry_error(std::string("event loop: ") + what + ": " + std::strerror(-negative_errno));
}

/// Its address is sd-event's userdata. The callbacks below copy the function before calling it, since a callback may
/// destroy the handle that it was called through, and with it the function.
template <typename Function>
class SourceOf final : public EventLoop::Source {
 public:
  explicit SourceOf(Function function) : function_(std::move(function)) {}

  template <typename... Arguments>
  static void call(void* self, Arguments... arguments) noexcept {
    const Function function = static_cast<SourceOf*>(self)->function_;
    function(arguments...);
  }
  void own(sd_event_source* source) { source_.reset(source); }

 private:
  Function function_;
  SourceHandle source_;
};

using IoSource = SourceOf<EventLoop::FdCallback>;
using TimerSource = SourceOf<EventLoop::Callback>;
using SignalSource = SourceOf<std::function<void(int)>>;
using ChildSource = SourceOf<std::function<void(int)>>;

class SignalSources final : public EventLoop::Source {
 public:
  std::vector<std::unique_ptr<SignalSource>> sources;
};

int on_io(sd_event_source* /*source*/, int /*fd*/, std::uint32_t events, void* self) {
  IoSource::call(self, events);
  return 0;
}

int on_time(sd_event_source* /*source*/, std::uint64_t /*due*/, void* self) {
  TimerSource::call(self);
  return 0;
}

int on_signal(sd_event_source* /*source*/, const signalfd_siginfo* info, void* self) {
  SignalSource::call(self, static_cast<int>(info->ssi_signo));
  return 0;
}

/// The status as waitpid would give it. sd-event reaps the child after this callback, so until then its process id and
/// its process group's are not given to anybody else.
int wait_status_of(const siginfo_t& info) {
  return info.si_code == CLD_EXITED ? (info.si_status & 0xff) << 8 : info.si_status & 0x7f;
}

int on_child(sd_event_source* /*source*/, const siginfo_t* info, void* self) {
  ChildSource::call(self, wait_status_of(*info));
  return 0;
}

std::uint64_t steady_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000u + static_cast<std::uint64_t>(now.tv_nsec) / 1000u;
}

void block_signal(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

class Loop final : public EventLoop {
 public:
  ~Loop() override {
    posted_source_.reset();
    if (wake_fd_ >= 0) close(wake_fd_);
  }

  Status open() {
    // sd-event wants SIGCHLD blocked where children are watched; a write to a pipe whose reader has gone must be an
    // error here, not the end of the process.
    block_signal(SIGCHLD);
    std::signal(SIGPIPE, SIG_IGN);
    sd_event* event = nullptr;
    if (int error = sd_event_new(&event); error < 0) return loop_error("cannot be made", error);
    event_.reset(event);
    if (int error = sd_event_set_watchdog(event, 1); error < 0) return loop_error("watchdog", error);
    wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_fd_ < 0) return loop_error("eventfd", -errno);
    auto source = watch(wake_fd_, EPOLLIN, [this](std::uint32_t) { run_posted(); });
    if (!source) return source.error();
    posted_source_ = std::move(*source);
    return Done{};
  }

  Result<Handle> watch(int fd, std::uint32_t events, FdCallback callback) override {
    auto handle = std::make_unique<IoSource>(std::move(callback));
    sd_event_source* source = nullptr;
    if (int error = sd_event_add_io(event_.get(), &source, fd, events, on_io, handle.get()); error < 0)
      return loop_error("watch a file descriptor", error);
    handle->own(source);
    return Handle(std::move(handle));
  }

  Handle after(logic::Duration delay, Callback callback) override {
    auto handle = std::make_unique<TimerSource>(std::move(callback));
    const auto wait = static_cast<std::uint64_t>(std::max<std::int64_t>(delay.count(), 0)) * 1000u;
    sd_event_source* source = nullptr;
    const int error = sd_event_add_time(event_.get(), &source, CLOCK_MONOTONIC, steady_microseconds() + wait,
                                        timer_accuracy_us, on_time, handle.get());
    // Fails only without memory or file descriptors; a deadline that never comes would be worse than an end.
    if (error < 0) give_up("event loop: a timer cannot be set", error);
    handle->own(source);
    return handle;
  }

  Result<Handle> on_signals(const std::vector<int>& signals, std::function<void(int)> callback) override {
    auto all = std::make_unique<SignalSources>();
    for (int number : signals) {
      block_signal(number);
      auto handle = std::make_unique<SignalSource>(callback);
      sd_event_source* source = nullptr;
      if (int error = sd_event_add_signal(event_.get(), &source, number, on_signal, handle.get()); error < 0)
        return loop_error("watch a signal", error);
      handle->own(source);
      all->sources.push_back(std::move(handle));
    }
    return Handle(std::move(all));
  }

  Result<Handle> on_exit(pid_t child, std::function<void(int)> callback) override {
    auto handle = std::make_unique<ChildSource>(std::move(callback));
    sd_event_source* source = nullptr;
    if (int error = sd_event_add_child(event_.get(), &source, child, WEXITED, on_child, handle.get()); error < 0)
      return loop_error("watch a child process", error);
    handle->own(source);
    return Handle(std::move(handle));
  }

  void post(Callback callback) override {
    {
      const std::lock_guard<std::mutex> lock(posted_mutex_);
      posted_.push_back(std::move(callback));
      if (posted_.size() > 1) return;  // whoever posted the first has woken the loop
    }
    const std::uint64_t one = 1;
    // Can fail only where the counter is full, and then the loop is awake anyway.
    if (write(wake_fd_, &one, sizeof one) < 0) return;
  }

  Status run() override {
    // Not sd_event_loop with sd_event_exit: after those no source can be made any more, and run() could not be called
    // again.
    is_running_ = true;
    while (is_running_) {
      if (int error = sd_event_run(event_.get(), UINT64_MAX); error < 0) return loop_error("run", error);
    }
    return Done{};
  }

  void stop() override { is_running_ = false; }

 private:
  static constexpr std::uint64_t timer_accuracy_us = 1000;
  bool is_running_ = false;

  [[noreturn]] static void give_up(const char* what, int negative_errno) {
    const std::string text = std::string(what) + ": " + std::strerror(-negative_errno) + "\n";
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) std::abort();
    std::abort();
  }

  void run_posted() {
    std::uint64_t count = 0;
    if (read(wake_fd_, &count, sizeof count) < 0) return;
    std::vector<Callback> batch;
    {
      const std::lock_guard<std::mutex> lock(posted_mutex_);
      batch.swap(posted_);
    }
    for (const Callback& callback : batch) callback();
  }

  EventHandle event_;
  int wake_fd_ = -1;
  Handle posted_source_;
  std::mutex posted_mutex_;
  std::vector<Callback> posted_;
};

}  // namespace

Result<std::unique_ptr<EventLoop>> EventLoop::create() {
  auto loop = std::make_unique<Loop>();
  if (auto opened = loop->open(); !opened) return opened.error();
  return std::unique_ptr<EventLoop>(std::move(loop));
}

}  // namespace muster::sys
