// SPDX-License-Identifier: GPL-2.0-or-later
//
// The event loop: sd-event behind plain C++ types. One thread runs it and owns all state of a program; other threads
// reach that state only through post(). Wakes the systemd watchdog by itself where one is set.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "logic/result.hpp"
#include "logic/time.hpp"

namespace muster::sys {

class EventLoop {
 public:
  using Callback = std::function<void()>;
  /// Called with the epoll bits that are ready.
  using FdCallback = std::function<void(std::uint32_t events)>;

  /// A registration; it ends when its handle is destroyed (also from within its own callback).
  class Source {
   public:
    virtual ~Source() = default;
  };
  using Handle = std::unique_ptr<Source>;

  static logic::Result<std::unique_ptr<EventLoop>> create();
  virtual ~EventLoop() = default;

  /// Watches a file descriptor for epoll events (EPOLLIN, EPOLLOUT); does not own it.
  virtual logic::Result<Handle> watch(int fd, std::uint32_t events, FdCallback callback) = 0;
  /// Calls once, after that time on the steady clock.
  virtual Handle after(logic::Duration delay, Callback callback) = 0;
  /// Calls for each arrival of these signals. They are blocked for the process: call before starting threads.
  virtual logic::Result<Handle> on_signals(const std::vector<int>& signals, std::function<void(int)> callback) = 0;
  /// Calls once when the child ends, with its wait status as of waitpid; the child is reaped.
  virtual logic::Result<Handle> on_exit(pid_t child, std::function<void(int wait_status)> callback) = 0;
  /// Runs the callback on the loop's thread soon. The only member that may be called from any thread.
  virtual void post(Callback callback) = 0;

  /// Runs until stop(); returns an error only if the loop itself failed.
  virtual logic::Status run() = 0;
  virtual void stop() = 0;
};

}  // namespace muster::sys
