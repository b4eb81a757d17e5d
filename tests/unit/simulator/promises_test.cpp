// SPDX-License-Identifier: GPL-2.0-or-later
//
// What muster promises, under random trouble in virtual time. MUSTER_SEEDS=FIRST-LAST runs other seeds than the usual
// ones, MUSTER_LINES tells all that happened before a failure.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "tests/unit/simulator/chaos.hpp"

namespace muster::tests {
namespace {

std::pair<std::uint64_t, std::uint64_t> seeds() {
  const char* asked = std::getenv("MUSTER_SEEDS");
  if (!asked) return {1, 60};
  const std::string text = asked;
  const std::size_t dash = text.find('-');
  return {std::stoull(text), std::stoull(dash == std::string::npos ? text : text.substr(dash + 1))};
}

TEST(Promises, AreKeptWhateverGoesWrongAndEverythingIsThereOnceTheTroubleEnds) {
  const auto [first, last] = seeds();
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    Chaos chaos(seed);
    chaos.disturb(150);
    chaos.heal();
    EXPECT_TRUE(chaos.promises().breaches().empty()) << chaos.story();
  }
}

}  // namespace
}  // namespace muster::tests
