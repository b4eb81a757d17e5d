// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a failure of libslurm means to us: whether to ask again.
#pragma once

#include <string_view>

#include "logic/value.hpp"

namespace muster::slurm_helper {

/// "unreachable" (slurmctld did not answer), "busy" (it will be possible later), "unsupported" (not in this version or
/// set-up), or "refused" (the request is wrong).
std::string_view failure_class(int code);

/// {"ok":false,"errno":code,"error":Slurm's words,"class":...}
logic::Value failure(int code);
/// A request that was not passed on to Slurm, since it is wrong in itself.
logic::Value bad_request(std::string_view words);

}  // namespace muster::slurm_helper
