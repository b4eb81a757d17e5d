// SPDX-License-Identifier: GPL-2.0-or-later
#include "spank_plugin/gate_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace muster::spank_plugin {
namespace {

class GateFileTest : public testing::Test {
 protected:
  GateFileTest() {
    std::string pattern = testing::TempDir() + "muster-gate.XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ + "/gate-table";
  }
  ~GateFileTest() override {
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
  }

  static std::string table_of(const std::string& cluster) {
    logic::GateTable table;
    table.time = logic::time_from_seconds(1764576000);
    table.cluster = cluster;
    return logic::write_gate_table(table);
  }

  /// As musterd does it: a new file, renamed over the old one.
  void replace(const std::string& text) const {
    std::ofstream(path_ + ".new") << text;
    ASSERT_EQ(std::rename((path_ + ".new").c_str(), path_.c_str()), 0);
  }

  std::string cluster() {
    const auto& table = file().read();
    return table ? table->cluster : "error: " + table.error().message;
  }

  GateFile& file() {
    if (!file_) { file_.emplace(path_); }
    return *file_;
  }

  std::string folder_;
  std::string path_;
  std::optional<GateFile> file_;
};

TEST_F(GateFileTest, AnAbsentFileIsAnEmptyTable) {
  const auto& table = file().read();
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->partitions.empty());
}

TEST_F(GateFileTest, IsReadAgainWhenItWasReplaced) {
  replace(table_of("one"));
  EXPECT_EQ(cluster(), "one");
  replace(table_of("two"));
  EXPECT_EQ(cluster(), "two");
}

TEST_F(GateFileTest, IsNotReadAgainWhenItDidNotChange) {
  replace(table_of("one"));
  EXPECT_EQ(cluster(), "one");
  const auto* before = &file().read().value().cluster;
  const auto* text = before->data();
  EXPECT_EQ(file().read().value().cluster.data(), text);
}

TEST_F(GateFileTest, IsForgottenWhenItGoes) {
  replace(table_of("one"));
  EXPECT_EQ(cluster(), "one");
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  EXPECT_EQ(cluster(), "");
}

TEST_F(GateFileTest, ATornFileIsAnErrorUntilItIsWholeAgain) {
  replace(table_of("one").substr(0, 30));
  EXPECT_EQ(cluster(), "error: gate table: torn: no end line");
  EXPECT_EQ(cluster(), "error: gate table: torn: no end line");
  replace(table_of("two"));
  EXPECT_EQ(cluster(), "two");
}

TEST_F(GateFileTest, WhatIsNoRegularFileIsAnErrorAndNobodyWaitsForIt) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(cluster(), "error: gate table " + path_ + ": is not a regular file");
}

TEST_F(GateFileTest, AFileBeyondTheLimitIsNotRead) {
  replace("");
  ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(logic::gate_table_size_limit) + 1), 0);
  EXPECT_EQ(cluster(), "error: gate table " + path_ + ": is too large");
}

TEST_F(GateFileTest, APathThroughAFileIsAnError) {
  replace(table_of("one"));
  GateFile below(path_ + "/gate-table");
  ASSERT_FALSE(below.read());
  EXPECT_EQ(below.read().error().message, "gate table " + path_ + "/gate-table: Not a directory");
}

}  // namespace
}  // namespace muster::spank_plugin
