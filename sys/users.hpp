// SPDX-License-Identifier: GPL-2.0-or-later
//
// Users of this machine.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace muster::sys {

/// The uids of those users that this machine knows. Not for threads.
std::vector<uid_t> known_uids(const std::vector<std::string>& users);

}  // namespace muster::sys
