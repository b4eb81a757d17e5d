// SPDX-License-Identifier: GPL-2.0-or-later
#include "musterd/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "sys/files.hpp"
#include "sys/yaml.hpp"

namespace muster::musterd {
namespace {

logic::Result<Settings> parse(const std::string& text) {
  auto document = sys::parse_yaml(text, "m.yaml");
  if (!document) return document.error();
  return parse_settings(*document, "m.yaml");
}

TEST(Settings, AnEmptyFileGivesTheDefaults) {
  const auto settings = parse("");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->port, 6820);
  EXPECT_EQ(settings->socket, settings->run_directory + "/musterd.sock");
}

TEST(Settings, TheSocketAndTheGateTableFollowTheRunDirectory) {
  const auto settings = parse("run_directory: /tmp/m\n");
  EXPECT_EQ(settings->socket, "/tmp/m/musterd.sock");
  EXPECT_EQ(settings->gate_table, "/tmp/m/gate-table");
}

TEST(Settings, NameTheLineAndColumnOfAnUnknownKey) {
  EXPECT_EQ(parse("port: 1\nprot: 2\n").error().message,
            "m.yaml:2:7: musterd: unknown key \"prot\"; did you mean \"port\"?");
}

TEST(Settings, RefuseAWrongTypeAValueOutOfRangeAndARelativePath) {
  EXPECT_EQ(parse("port: many\n").error().message,
            "m.yaml:1:7: musterd: port: expected a whole number from 1 to 65535, found \"many\"");
  EXPECT_EQ(parse("port: 70000\n").error().message,
            "m.yaml:1:7: musterd: port: expected a whole number from 1 to 65535, found 70000");
  EXPECT_EQ(parse("socket: here\n").error().message,
            "m.yaml:1:9: musterd: socket: expected an absolute path, found \"here\"");
}

TEST(Settings, EveryKeyOfTheTableIsReadAndNoOther) {
  // A key that the table has and the parser does not know would be refused as unknown.
  for (const logic::KeyInfo& key : settings_keys()) {
    const auto settings = parse(std::string(key.key) + ": {}\n");
    ASSERT_FALSE(settings) << key.key;
    EXPECT_EQ(settings.error().message.find("unknown key"), std::string::npos) << key.key;
  }
}

TEST(Settings, TheShippedExampleShowsEveryKeyAndItsLinesAreGood) {
  const char* source = std::getenv("top_srcdir");
  if (!source) GTEST_SKIP() << "top_srcdir is set by make check";
  auto example = sys::read_file(std::string(source) + "/conf/musterd.yaml");
  ASSERT_TRUE(example) << example.error().message;
  std::string text = *example;
  for (const logic::KeyInfo& key : settings_keys()) {
    const std::string commented = "#" + std::string(key.key) + ":";
    const std::size_t at = text.find("\n" + commented);
    ASSERT_NE(at, std::string::npos) << key.key << " is not shown";
    text.erase(at + 1, 1);
  }
  const auto settings = parse(text);
  EXPECT_TRUE(settings) << settings.error().message;
}

}  // namespace
}  // namespace muster::musterd
