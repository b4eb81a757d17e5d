// SPDX-License-Identifier: GPL-2.0-or-later
//
// The operations of the helper: each turns one request into libslurm calls and their outcome into one reply
// (protocol.md). Blocks as long as libslurm does; whoever started the helper keeps the deadline.
#pragma once

#include "logic/value.hpp"

namespace muster::slurm_helper {

class Operations {
 public:
  /// The reply: "ok", "rpcs" and what protocol.md says of the operation. Carries no "id".
  logic::Value run(const logic::Value& request);

 private:
  logic::Value nodes(const logic::Value& request);
  logic::Value create(const logic::Value& request);
  logic::Value update(const logic::Value& request);
  logic::Value addresses(const logic::Value& request);
  logic::Value remove(const logic::Value& request);
  logic::Value jobs(const logic::Value& request);
  logic::Value release(const logic::Value& request);
  logic::Value reservations(const logic::Value& request);
  logic::Value partitions(const logic::Value& request);
  logic::Value config(const logic::Value& request);
  logic::Value reconfigure(const logic::Value& request);
  logic::Value ping(const logic::Value& request);

  int rpcs_ = 0;  ///< of the request under way
};

}  // namespace muster::slurm_helper
