// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <iterator>

#include "tests/unit/sys/temporary_directory.hpp"

namespace muster::sys {
namespace {

std::size_t files_in(const std::string& directory) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(directory), std::filesystem::directory_iterator()));
}

TEST(Files, ReadsWhatItReplaced) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("table");
  ASSERT_TRUE(replace_file(path, "old"));
  ASSERT_TRUE(replace_file(path, "new", 0600));
  EXPECT_EQ(*read_file(path), "new");
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
  EXPECT_EQ(files_in(directory.path()), 1u);
}

TEST(Files, ReplacesAlsoWithoutFsync) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(replace_file(directory.file("table"), "text", 0644, false));
  EXPECT_EQ(*read_file(directory.file("table")), "text");
}

TEST(Files, SaysWhichFileIsAbsent) {
  const auto content = read_file("/nonexistent/file");
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().kind, logic::ErrorKind::reject);
  EXPECT_EQ(content.error().message, "cannot open /nonexistent/file: No such file or directory");
}

TEST(Files, RefusesAFileLargerThanAllowed) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(replace_file(directory.file("large"), std::string(100, 'x')));
  EXPECT_TRUE(read_file(directory.file("large"), 100));
  EXPECT_FALSE(read_file(directory.file("large"), 99));
}

TEST(Files, RefusesADirectory) { EXPECT_FALSE(read_file("/")); }

TEST(Files, LeavesNoTemporaryFileWhereItFails) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(make_directories(directory.file("taken/inside")));
  EXPECT_FALSE(replace_file(directory.file("taken"), "text"));
  EXPECT_EQ(files_in(directory.path()), 1u);
}

TEST(Files, MakesDirectoriesThatAreThereAlready) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(make_directories(directory.file("a/b/c")));
  ASSERT_TRUE(make_directories(directory.file("a/b/c")));
  ASSERT_TRUE(replace_file(directory.file("file"), ""));
  EXPECT_FALSE(make_directories(directory.file("file")));
}

TEST(LockFile, IsHeldByOneAndFreeAgainWhenThatOneIsGone) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("lock");
  {
    const auto first = lock_file(path);
    ASSERT_TRUE(first) << first.error().message;
    const auto second = lock_file(path);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find(path), std::string::npos);
  }
  EXPECT_TRUE(lock_file(path));
}

}  // namespace
}  // namespace muster::sys
