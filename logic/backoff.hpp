// SPDX-License-Identifier: GPL-2.0-or-later
//
// How long to wait before trying again: growing, capped, and jittered so that many who failed together do not come back
// together. The random number is given, so tests know the answer.
#pragma once

#include "logic/time.hpp"

namespace muster::logic {

struct BackoffRule {
  Duration first{std::chrono::seconds{1}};
  double growth = 2.0;
  Duration cap{std::chrono::minutes{1}};
  double jitter = 0.25;  ///< the part of a delay, 0..1, that chance may take away
};

/// The delay after that many failures in a row (none or fewer: no delay). random is in [0, 1). Never above the cap.
Duration backoff_delay(const BackoffRule& rule, int failures, double random);

/// Counts the failures in a row.
class Backoff {
 public:
  explicit Backoff(BackoffRule rule) : rule_(rule) {}

  /// Notes a failure; returns how long to wait before the next attempt.
  Duration failed(double random) { return backoff_delay(rule_, ++failures_, random); }
  void reset() { failures_ = 0; }
  int failures() const { return failures_; }

 private:
  BackoffRule rule_;
  int failures_ = 0;
};

}  // namespace muster::logic
