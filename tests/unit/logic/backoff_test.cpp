// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/backoff.hpp"

#include <gtest/gtest.h>

namespace muster::logic {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const BackoffRule rule{seconds{1}, 2.0, seconds{60}, 0.25};

TEST(Backoff, DoesNotWaitBeforeTheFirstAttempt) { EXPECT_EQ(backoff_delay(rule, 0, 0.5), Duration{0}); }

TEST(Backoff, DoublesWithEachFailure) {
  EXPECT_EQ(backoff_delay(rule, 1, 0.0), seconds{1});
  EXPECT_EQ(backoff_delay(rule, 2, 0.0), seconds{2});
  EXPECT_EQ(backoff_delay(rule, 5, 0.0), seconds{16});
}

TEST(Backoff, StaysAtTheCapHoweverManyFailures) {
  EXPECT_EQ(backoff_delay(rule, 7, 0.0), seconds{60});
  EXPECT_EQ(backoff_delay(rule, 1000000, 0.0), seconds{60});
}

TEST(Backoff, LetsChanceShortenADelayByTheJitterAtMost) {
  EXPECT_EQ(backoff_delay(rule, 3, 0.5), milliseconds{3500});
  EXPECT_EQ(backoff_delay(rule, 3, 1.0), seconds{3});
}

TEST(Backoff, BeginsAnewAfterASuccess) {
  Backoff backoff{rule};
  backoff.failed(0.0);
  EXPECT_EQ(backoff.failed(0.0), seconds{2});
  EXPECT_EQ(backoff.failures(), 2);
  backoff.reset();
  EXPECT_EQ(backoff.failed(0.0), seconds{1});
}

}  // namespace
}  // namespace muster::logic
