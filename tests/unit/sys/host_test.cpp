// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/host.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "sys/clock.hpp"
#include "sys/files.hpp"
#include "tests/unit/sys/temporary_directory.hpp"

namespace muster::sys {
namespace {

using Kind = logic::FileState::Kind;

TEST(Host, TellsWhatStandsAtAPath) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(replace_file(directory.file("file"), "text", 0640));
  const logic::FileState file = look_at_file(directory.file("file"));
  EXPECT_EQ(file.kind, Kind::file);
  EXPECT_EQ(file.mode, 0640u);
  EXPECT_FALSE(file.is_public);
  EXPECT_EQ(look_at_file("/tmp").kind, Kind::directory);
  const logic::FileState absent = look_at_file(directory.file("absent"));
  EXPECT_EQ(absent.kind, Kind::absent);
  EXPECT_EQ(absent.trouble, "");
  EXPECT_EQ(look_at_file(directory.file("file/below")).trouble, directory.file("file/below") + ": Not a directory");
}

TEST(Host, CountsAFileAsPublicOnlyIfEverybodyCanGetThere) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(make_directories(directory.file("open"), 0755));
  ASSERT_TRUE(replace_file(directory.file("open/file"), "text", 0644));
  ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(directory.file("open").c_str(), 0755), 0);
  EXPECT_TRUE(look_at_file(directory.file("open/file")).is_public);
  ASSERT_EQ(::chmod(directory.file("open").c_str(), 0750), 0);
  EXPECT_FALSE(look_at_file(directory.file("open/file")).is_public);
}

TEST(Host, TriesToWriteAndLeavesNothingBehind) {
  const TemporaryDirectory directory;
  EXPECT_EQ(try_writing(directory.path()), "");
  EXPECT_EQ(look_at_file(directory.file(".write-test")).kind, Kind::absent);
  EXPECT_NE(try_writing(directory.file("absent")).find("No such file or directory"), std::string::npos);
}

TEST(Host, TellsWhyAProgramCannotBeRun) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("program");
  EXPECT_EQ(program_trouble(path), "nothing at " + path);
  ASSERT_TRUE(replace_file(path, "#!/bin/sh\n", 0644));
  EXPECT_EQ(program_trouble(path), path + ", which may not be executed");
  ASSERT_TRUE(replace_file(path, "#!/bin/sh\n", 0755));
  EXPECT_EQ(program_trouble(path), "");
}

TEST(Host, KnowsItsFileSystemAndItself) {
  const logic::FileSystemState state = look_at_file_system("/tmp");
  EXPECT_TRUE(state.is_known);
  EXPECT_GT(state.free_bytes, 0);
  EXPECT_FALSE(look_at_file_system("/nonexistent").is_known);
  EXPECT_NE(host_name(), "");
}

TEST(Host, ResolvesNamesOrSaysWhyNot) {
  const auto here = resolve("localhost");
  ASSERT_TRUE(here) << here.error().message;
  EXPECT_FALSE(here->empty());
  EXPECT_FALSE(resolve("no-such-host.invalid"));
}

}  // namespace
}  // namespace muster::sys
