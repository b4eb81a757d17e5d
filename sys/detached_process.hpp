// SPDX-License-Identifier: GPL-2.0-or-later
//
// A process that outlives us: started in a session of its own, told apart from a later process with the same number by
// its start time, watched and signalled through a pidfd by whoever knows its identity, also after a restart of ours.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "logic/result.hpp"
#include "sys/event_loop.hpp"

namespace muster::sys {

/// A process number is given again; number and start time together are not, within one boot.
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t start_time = 0;  ///< clock ticks since boot, as in /proc/PID/stat
  friend bool operator==(const ProcessIdentity& a, const ProcessIdentity& b) {
    return a.pid == b.pid && a.start_time == b.start_time;
  }
};

/// The process that has this number now; none where there is none, or only a zombie.
std::optional<ProcessIdentity> find_process(pid_t pid);
bool is_alive(const ProcessIdentity& process);

/// Runs arguments[0] (an absolute path) in its own session, stdin from /dev/null, stdout and stderr into output_file,
/// which is emptied first. record is called with the identity before the program begins: if it fails, or if we die
/// meanwhile, the program never runs. So there is no running process that nobody has written down.
logic::Result<ProcessIdentity> start_detached(const std::vector<std::string>& arguments, const std::string& output_file,
                                              const std::function<logic::Status(const ProcessIdentity&)>& record);

/// Watches one process; it lives on when this is destroyed.
class ProcessWatch {
 public:
  /// ended is called once, on the loop, with one clause: "exit status 1", "signal 9", or "it has gone" where it was not
  /// our child. An error with the same clause where the process does not live any more.
  static logic::Result<std::unique_ptr<ProcessWatch>> begin(EventLoop& loop, const ProcessIdentity& process,
                                                            std::function<void(std::string how)> ended);
  virtual ~ProcessWatch() = default;
  /// Cannot hit another process.
  virtual logic::Status signal(int number) = 0;
};

}  // namespace muster::sys
