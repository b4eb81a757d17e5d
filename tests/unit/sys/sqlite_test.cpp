// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/sqlite.hpp"

#include <gtest/gtest.h>

#include "sys/files.hpp"
#include "tests/unit/sys/temporary_directory.hpp"

namespace muster::sys {
namespace {

class SqliteTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = Database::open(path_);
    ASSERT_TRUE(opened) << opened.error().message;
    database_ = std::move(*opened);
    ASSERT_TRUE(database_->run_script("CREATE TABLE slot(name TEXT PRIMARY KEY, count INTEGER, share REAL);"));
  }
  std::int64_t count_rows() {
    std::int64_t count = -1;
    EXPECT_TRUE(database_->run("SELECT count(*) FROM slot", {}, [&](const SqlRow& row) { count = row.integer(0); }));
    return count;
  }
  logic::Status insert(const std::string& name) {
    return database_->run("INSERT INTO slot VALUES(?,?,?)", {name, std::int64_t{7}, 0.5});
  }
  TemporaryDirectory directory_;
  std::string path_ = directory_.file("ledger.db");
  std::unique_ptr<Database> database_;
};

TEST_F(SqliteTest, ReadsBackWhatWasBound) {
  const std::string odd("quote ' nul \0 end", 17);
  ASSERT_TRUE(database_->run("INSERT INTO slot VALUES(?,?,?)", {odd, std::int64_t{1} << 40, std::monostate{}}));
  int rows = 0;
  ASSERT_TRUE(
      database_->run("SELECT name, count, share FROM slot WHERE count > ?", {std::int64_t{1}}, [&](const SqlRow& row) {
        ++rows;
        EXPECT_EQ(row.text(0), odd);
        EXPECT_EQ(row.integer(1), std::int64_t{1} << 40);
        EXPECT_TRUE(row.is_null(2));
        EXPECT_EQ(row.real(2), 0);
      }));
  EXPECT_EQ(rows, 1);
}

TEST_F(SqliteTest, RollsBackATransactionThatIsNotCommitted) {
  {
    auto transaction = database_->begin();
    ASSERT_TRUE(transaction);
    ASSERT_TRUE(insert("a"));
  }
  EXPECT_EQ(count_rows(), 0);
}

TEST_F(SqliteTest, KeepsACommittedTransactionAfterReopening) {
  auto transaction = database_->begin();
  ASSERT_TRUE(transaction);
  ASSERT_TRUE(insert("a"));
  ASSERT_TRUE(transaction->commit());
  database_.reset();
  auto again = Database::open(path_);
  ASSERT_TRUE(again);
  database_ = std::move(*again);
  EXPECT_EQ(count_rows(), 1);
}

TEST_F(SqliteTest, SaysWhatIsWrongWithAStatement) {
  const auto status = database_->run("SELEKT 1");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, logic::ErrorKind::bug);
  EXPECT_NE(status.error().message.find(path_ + ": SELEKT 1: near \"SELEKT\""), std::string::npos);
}

TEST_F(SqliteTest, RefusesAWrongNumberOfValues) {
  EXPECT_FALSE(database_->run("INSERT INTO slot VALUES(?,?,?)", {"a"}));
}

TEST_F(SqliteTest, RefusesAKeyThatIsThere) {
  ASSERT_TRUE(insert("a"));
  const auto status = insert("a");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, logic::ErrorKind::reject);
  EXPECT_EQ(count_rows(), 1);
}

TEST_F(SqliteTest, TellsAFullDiskClearly) {
  ASSERT_TRUE(database_->run_script("PRAGMA max_page_count=3;"));
  logic::Status status = logic::Done{};
  for (int index = 0; index < 1000 && status; ++index)
    status = insert("name " + std::to_string(index) + std::string(500, 'x'));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, logic::ErrorKind::retry);
  EXPECT_EQ(status.error().message, path_ + " cannot be written: the file system is full");
}

TEST_F(SqliteTest, TellsAReadOnlyFileClearly) {
  auto reader = Database::open(path_, Database::Access::read_only);
  ASSERT_TRUE(reader);
  const auto status = (*reader)->run("DELETE FROM slot");
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("read-only"), std::string::npos);
}

TEST_F(SqliteTest, RefusesAFileThatIsNoDatabase) {
  ASSERT_TRUE(replace_file(directory_.file("other"), std::string(4096, 'x')));
  const auto opened = Database::open(directory_.file("other"));
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("is no database"), std::string::npos) << opened.error().message;
}

TEST_F(SqliteTest, SaysThatItsDirectoryIsMissing) {
  const auto opened = Database::open("/nonexistent/ledger.db");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message, "/nonexistent/ledger.db cannot be opened (No such file or directory)");
}

TEST_F(SqliteTest, TellsWhatAnOperatorCanChangeAndNoStatement) {
  const auto status =
      (*Database::open(path_, Database::Access::read_only))->run("INSERT INTO slot VALUES('a', 1, 0.5)");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message.find("INSERT"), std::string::npos) << status.error().message;
}

TEST_F(SqliteTest, SaysThatAnotherProgramWrites) {
  auto transaction = database_->begin();
  ASSERT_TRUE(transaction);
  auto other = Database::open(path_);
  ASSERT_TRUE(other) << other.error().message;
  const auto refused = (*other)->begin();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, logic::ErrorKind::retry);
  EXPECT_EQ(refused.error().message, path_ + " is in use: another program has it open for writing");
}

TEST_F(SqliteTest, HasNoWriteAheadLogWhateverWasSet) {
  ASSERT_TRUE(database_->run_script("PRAGMA journal_mode=WAL;"));
  {
    // With others at work in it, it cannot be taken back, and then it is not used.
    const auto transaction = database_->begin_read();
    EXPECT_EQ(count_rows(), 0);
    EXPECT_FALSE(Database::open(path_));
  }
  database_.reset();
  auto again = Database::open(path_);
  ASSERT_TRUE(again) << again.error().message;
  std::string mode;
  int synchronous = 0;
  ASSERT_TRUE((*again)->run("PRAGMA journal_mode", {}, [&](const SqlRow& row) { mode = row.text(0); }));
  ASSERT_TRUE((*again)->run("PRAGMA synchronous", {},
                            [&](const SqlRow& row) { synchronous = static_cast<int>(row.integer(0)); }));
  EXPECT_EQ(mode, "delete");
  EXPECT_EQ(synchronous, 2) << "FULL";
}

}  // namespace
}  // namespace muster::sys
