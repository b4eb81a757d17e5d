// SPDX-License-Identifier: GPL-2.0-or-later
//
// The system's service manager over D-Bus (sd-bus inside): reload, restart a unit, ask how it is. Nothing here blocks;
// every call has a deadline and calls back once, on the loop.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "logic/result.hpp"
#include "logic/time.hpp"
#include "sys/event_loop.hpp"

namespace muster::sys {

/// Whether systemd is this machine's service manager.
bool systemd_is_running();

struct UnitState {
  std::string load_state;    ///< "loaded", "not-found", "masked"
  std::string active_state;  ///< "active", "activating", "inactive", "failed"
  pid_t main_pid = 0;        ///< 0 = none
};

class SystemdManager {
 public:
  using Callback = std::function<void(logic::Status)>;
  using StateCallback = std::function<void(logic::Result<UnitState>)>;

  /// Connects to the system bus. One that was lost later answers every call with an error: connect again.
  static logic::Result<std::unique_ptr<SystemdManager>> connect(EventLoop& loop);
  /// No callback comes after destruction.
  virtual ~SystemdManager() = default;

  /// Reads all unit files and drop-ins again.
  virtual void reload(logic::Duration deadline, Callback done) = 0;
  /// Starts the unit, or stops it first where it runs; done when systemd's job has ended.
  virtual void restart_unit(const std::string& unit, logic::Duration deadline, Callback done) = 0;
  virtual void unit_state(const std::string& unit, logic::Duration deadline, StateCallback done) = 0;
};

}  // namespace muster::sys
