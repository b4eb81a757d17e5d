// SPDX-License-Identifier: GPL-2.0-or-later
//
// The link to Slurm: requests to the helper program muster-slurm, which alone links libslurm. libslurm can block for a
// minute or call exit, so it lives in a child that is killed when a request passes its deadline and is started again
// for the next one (with backoff where it dies at once). One request is under way at a time; others queue in order. A
// killed request is "unknown": it may or may not have taken effect, so the caller reads back.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "logic/result.hpp"
#include "logic/time.hpp"
#include "logic/value.hpp"
#include "sys/event_loop.hpp"

namespace muster::sys {

struct SlurmLinkSettings {
  std::string helper_path;  ///< absolute path of muster-slurm
  std::string slurm_conf;   ///< SLURM_CONF for it; empty = as in our environment
};

class SlurmLink {
 public:
  using Answer = std::function<void(logic::Result<logic::Value>)>;

  static std::unique_ptr<SlurmLink> create(EventLoop& loop, SlurmLinkSettings settings);
  virtual ~SlurmLink() = default;

  /// request: a map with "op" and its arguments (the protocol is described in slurm_helper/protocol.md). The callback
  /// comes once, on the loop: the helper's answer with ok=true, or an error (its sentence names the operation and
  /// Slurm's words; kind reject where Slurm refused, retry where it could not be asked or was late).
  virtual void request(logic::Value request, logic::Duration deadline, Answer answer) = 0;
  /// RPCs made to slurmctld so far, as the helper counts them.
  virtual std::uint64_t rpcs() const = 0;
};

/// The same, waiting: for command-line programs only. Starts a helper of its own.
logic::Result<logic::Value> slurm_request_and_wait(const SlurmLinkSettings& settings, logic::Value request,
                                                   logic::Duration deadline);

}  // namespace muster::sys
