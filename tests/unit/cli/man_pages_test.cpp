// SPDX-License-Identifier: GPL-2.0-or-later
//
// The man pages of the YAML files say what the tables of keys say: every key, its type and its default, and no other
// key.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "logic/cluster_spec.hpp"
#include "musterd/settings.hpp"
#include "simulator/scenario.hpp"

namespace muster {
namespace {

using logic::KeyInfo;

/// "min_count (count, default 0)", in the order of the page.
std::vector<std::string> keys_of_page(const std::string& page) {
  const char* top = std::getenv("top_srcdir");
  std::ifstream file(std::string(top ? top : ".") + "/man/" + page);
  EXPECT_TRUE(file) << "man/" << page << " is not below " << (top ? top : ".");
  std::vector<std::string> keys;
  std::string bold;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(".B ", 0) == 0 && line.find(' ', 3) == std::string::npos) {
      bold = line.substr(3);
      continue;
    }
    if (!bold.empty() && line.rfind('(', 0) == 0) keys.push_back(bold + " " + line.substr(0, line.find(')') + 1));
    bold.clear();
  }
  return keys;
}

std::vector<std::string> keys_of_table(const std::vector<KeyInfo>& table) {
  std::vector<std::string> keys;
  for (const KeyInfo& key : table) {
    const std::string fallback = key.fallback == "required" ? "required" : "default " + std::string(key.fallback);
    keys.push_back(std::string(key.key) + " (" + std::string(key.type) + ", " + fallback + ")");
  }
  return keys;
}

TEST(ManPages, ClusterFilePageHasEveryKeyWithTypeAndDefault) {
  EXPECT_EQ(keys_of_page("muster-cluster.yaml.5"), keys_of_table(logic::cluster_file_keys()));
}

TEST(ManPages, SettingsPageHasEveryKeyWithTypeAndDefault) {
  EXPECT_EQ(keys_of_page("musterd.yaml.5"), keys_of_table(musterd::settings_keys()));
}

TEST(ManPages, ScenarioFilePageHasEveryKeyWithTypeAndDefault) {
  EXPECT_EQ(keys_of_page("muster-scenario.yaml.5"), keys_of_table(simulator::scenario_file_keys()));
}

}  // namespace
}  // namespace muster
