// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/retry_policy.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace muster::logic {
namespace {

TEST(RetryPolicy, GrowsUpToItsCapAndNeverBeyond) {
  const RetryRule& rule = retry_rule(FailureClass::capacity);
  EXPECT_LE(retry_delay(FailureClass::capacity, 1, "gpu-1"), rule.first);
  EXPECT_LT(retry_delay(FailureClass::capacity, 1, "gpu-1"), retry_delay(FailureClass::capacity, 4, "gpu-1"));
  for (int failures = 1; failures < 100; ++failures)
    EXPECT_LE(retry_delay(FailureClass::capacity, failures, "gpu-1"), rule.cap);
}

TEST(RetryPolicy, GivesTheSameAnswerToTheSameQuestion) {
  EXPECT_EQ(retry_delay(FailureClass::transient, 3, "gpu-1"), retry_delay(FailureClass::transient, 3, "gpu-1"));
}

TEST(RetryPolicy, SpreadsSlotsThatFailedTogether) {
  std::set<Duration> delays;
  for (int slot = 0; slot < 50; ++slot)
    delays.insert(retry_delay(FailureClass::capacity, 5, "gpu-" + std::to_string(slot)));
  EXPECT_GT(delays.size(), 30u);
}

TEST(RetryPolicy, WaitsLongerWhereAPersonHasToAct) {
  EXPECT_GT(retry_delay(FailureClass::configuration, 1, "a"), retry_delay(FailureClass::transient, 1, "a"));
}

}  // namespace
}  // namespace muster::logic
