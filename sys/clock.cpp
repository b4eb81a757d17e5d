// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/clock.hpp"

namespace muster::sys {

logic::Time now() { return std::chrono::time_point_cast<logic::Duration>(std::chrono::system_clock::now()); }

}  // namespace muster::sys
