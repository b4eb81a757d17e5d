// SPDX-License-Identifier: GPL-2.0-or-later
//
// MUNGE credentials: who sends this, proven by the local munged. Calls block on the local socket (libmunge retries for
// a few seconds where munged is away), so daemons call them from an HTTP thread or accept that.
#pragma once

#include <sys/types.h>

#include <string>

#include "logic/result.hpp"
#include "logic/time.hpp"

namespace muster::sys {

struct MungeIdentity {
  uid_t uid = static_cast<uid_t>(-1);
  gid_t gid = static_cast<gid_t>(-1);
  std::string payload;
  logic::Time encoded_at;  ///< the sender's clock
};

/// socket: munged's socket; empty = munge's default.
logic::Result<std::string> munge_encode(const std::string& payload, const std::string& socket);
/// The identity, or why not. A credential that was seen before, has expired or comes from the future is refused; for
/// the last two the sentence says by how many seconds the clocks differ.
logic::Result<MungeIdentity> munge_decode(const std::string& credential, const std::string& socket);

}  // namespace muster::sys
