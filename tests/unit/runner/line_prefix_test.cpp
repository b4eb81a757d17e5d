// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/line_prefix.hpp"

#include <gtest/gtest.h>

namespace muster::runner {
namespace {

TEST(LinePrefix, GivesAWholeLineOnePrefixHoweverItCame) {
  LinePrefix lines("[default0]:");
  EXPECT_EQ(lines.take("hel"), "");
  EXPECT_EQ(lines.take("lo\nwor"), "[default0]:hello\n");
  EXPECT_EQ(lines.take("ld\n\n"), "[default0]:world\n[default0]:\n");
  EXPECT_EQ(lines.finish(), "");
}

TEST(LinePrefix, EndsALastLineThatHasNoEnd) {
  LinePrefix lines("p:");
  EXPECT_EQ(lines.take("partial"), "");
  EXPECT_EQ(lines.finish(), "p:partial\n");
  EXPECT_EQ(lines.finish(), "");
}

TEST(LinePrefix, KeepsAProgressBarFromTakingMemory) {
  LinePrefix lines("p:", 4);
  EXPECT_EQ(lines.take("123456789"), "p:1234\np:5678\n");
  EXPECT_EQ(lines.finish(), "p:9\n");
}

}  // namespace
}  // namespace muster::runner
