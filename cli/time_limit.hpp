// SPDX-License-Identifier: GPL-2.0-or-later
//
// How long a command waits, as people type it.
#pragma once

#include <optional>
#include <string>

#include "logic/time.hpp"

namespace muster::cli {

/// "30m", "90s", "2h" as other commands take it, and "30 min" as our files have it.
std::optional<logic::Duration> read_time_limit(const std::string& text);

}  // namespace muster::cli
