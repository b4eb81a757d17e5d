// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/backoff.hpp"

#include <algorithm>
#include <cmath>

namespace muster::logic {

Duration backoff_delay(const BackoffRule& rule, int failures, double random) {
  if (failures <= 0) return Duration{0};
  // In doubles, so that a thousand failures overflow to infinity and meet the cap, not wrap round.
  const double grown = static_cast<double>(rule.first.count()) * std::pow(rule.growth, failures - 1);
  const double capped = std::min(grown, static_cast<double>(rule.cap.count()));
  return Duration{static_cast<std::int64_t>(capped * (1.0 - rule.jitter * std::clamp(random, 0.0, 1.0)))};
}

}  // namespace muster::logic
