// SPDX-License-Identifier: GPL-2.0-or-later
//
// When a failed attempt is followed by another: per class of failure, growing, capped, spread out. Pure arithmetic.
#pragma once

#include <string_view>

#include "logic/ledger.hpp"
#include "logic/time.hpp"

namespace muster::logic {

/// How long to wait after the given number of failures in a row (1 = the first). salt spreads slots that failed
/// together: the same salt and number give the same delay, so that a plan can be repeated; up to a quarter shorter than
/// the bare one.
Duration retry_delay(FailureClass failure, int failures_in_row, std::string_view salt);

/// Tried again after `first`, doubling up to `cap`.
struct RetryRule {
  FailureClass failure;
  Duration first;
  Duration cap;
};
const RetryRule& retry_rule(FailureClass failure);

}  // namespace muster::logic
