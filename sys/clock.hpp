// SPDX-License-Identifier: GPL-2.0-or-later
//
// The wall clock. The only place that reads it.
#pragma once

#include "logic/time.hpp"

namespace muster::sys {

logic::Time now();

}  // namespace muster::sys
