// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/sqlite.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

namespace muster::sys {
namespace {

using logic::Done;
using logic::Error;
using logic::Result;
using logic::Status;

constexpr int busy_wait_ms = 2000;  // the caller's loop stands still meanwhile

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using StatementHandle = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

/// A statement in use; reset when it goes out of use, so that it holds no lock and no value.
class InUse {
 public:
  explicit InUse(sqlite3_stmt* statement) : statement_(statement) {}
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  ~InUse() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }

 private:
  sqlite3_stmt* statement_;
};

class Row final : public SqlRow {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  bool is_null(int column) const override { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::int64_t integer(int column) const override { return sqlite3_column_int64(statement_, column); }
  double real(int column) const override { return sqlite3_column_double(statement_, column); }
  std::string text(int column) const override {
    // The bytes after the text, since that is the call which may convert.
    const void* bytes = sqlite3_column_blob(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    return bytes == nullptr ? std::string()
                            : std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
  }

 private:
  sqlite3_stmt* statement_;
};

/// Why nothing can be made or changed beside the file, where that is its directory's doing: SQLite does not tell.
std::string directory_trouble(const std::string& path) {
  const std::string directory = path.substr(0, path.rfind('/') + 1);
  if (::access(directory.empty() ? "." : directory.c_str(), W_OK) == 0) return "";
  switch (errno) {
    case EROFS: return "the file system is read-only";
    case EACCES: return "its directory belongs to somebody else";
    default: return "";
  }
}

/// What happened to the file, in an operator's words: of no use to them is which statement met it. Empty where the
/// cause is a statement of ours. code is SQLite's, system_code the errno behind it, if there was one.
std::string file_trouble(const std::string& path, int code, int system_code) {
  const std::string words = system_code == 0 ? "" : std::string(" (") + std::strerror(system_code) + ")";
  switch (code & 0xff) {
    case SQLITE_FULL: return "cannot be written: the file system is full";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      // Each write makes a journal beside it.
      if (const std::string trouble = directory_trouble(path); !trouble.empty()) return "cannot be written: " + trouble;
      if (system_code == ENOSPC) return "cannot be written: the file system is full";
      if ((code & 0xff) == SQLITE_CANTOPEN) return "cannot be opened" + words;
      return "cannot be written: it is read-only or belongs to somebody else";
    case SQLITE_IOERR:
      if (system_code == EDQUOT) return "cannot be written: the disk quota of its owner is used up";
      return "input or output error" + words;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "is in use: another program has it open for writing";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return "is damaged or is no database; restore it from a copy";
    default: return "";
  }
}

logic::ErrorKind kind_of(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_FULL:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_INTERRUPT: return logic::ErrorKind::retry;
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
    case SQLITE_ERROR: return logic::ErrorKind::bug;  // a statement of ours that SQLite does not understand
    default: return logic::ErrorKind::reject;
  }
}

class SqliteDatabase final : public Database {
 public:
  SqliteDatabase(std::string path, Access access) : path_(std::move(path)), access_(access) {}

  Status open_file() {
    const int flags = access_ == Access::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    sqlite3* database = nullptr;
    const int code = sqlite3_open_v2(path_.c_str(), &database, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    database_.reset(database);
    if (code != SQLITE_OK) return error("open", code);
    sqlite3_extended_result_codes(database, 1);
    sqlite3_busy_timeout(database, busy_wait_ms);
    if (auto set = run_script("PRAGMA foreign_keys=ON; PRAGMA synchronous=FULL;"); !set) return set;
    // Reads the file, so that one which is no database is found here.
    return access_ == Access::create ? keep_rollback_journal() : run_script("PRAGMA schema_version;");
  }

  Status run(std::string_view text, const std::vector<SqlValue>& values,
             const std::function<void(const SqlRow&)>& each_row) override {
    auto prepared = prepare(text);
    if (!prepared) return prepared.error();
    sqlite3_stmt* statement = *prepared;
    const InUse in_use(statement);
    if (auto bound = bind(statement, values); !bound) return bound;
    for (;;) {
      const int code = sqlite3_step(statement);
      if (code == SQLITE_DONE) return Done{};
      if (code != SQLITE_ROW) return error(text, code);
      if (each_row) each_row(Row(statement));
    }
  }

  Status run_script(const std::string& statements) override {
    const int code = sqlite3_exec(database_.get(), statements.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return error(statements, code);
    return Done{};
  }

  std::int64_t last_insert_id() const override { return sqlite3_last_insert_rowid(database_.get()); }
  std::int64_t changes() const override { return sqlite3_changes(database_.get()); }

 private:
  Status make_writable() override {
    if (access_ == Access::read_only || sqlite3_db_readonly(database_.get(), nullptr) != 1) return Done{};
    statements_.clear();
    return open_file();
  }

  /// A write-ahead log needs memory that its users share, which hosts on shared storage do not have.
  Status keep_rollback_journal() {
    std::string mode;
    if (auto set = run("PRAGMA journal_mode=DELETE", {}, [&](const SqlRow& row) { mode = row.text(0); }); !set)
      return set;
    if (mode == "delete") return Done{};
    return logic::retry_error(path_ + " cannot be taken out of journal mode \"" + mode +
                              "\", which shared storage does not carry: another program has it open");
  }

  Result<sqlite3_stmt*> prepare(std::string_view text) {
    const auto found = statements_.find(text);
    if (found != statements_.end()) return found->second.get();
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(database_.get(), text.data(), static_cast<int>(text.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) return error(text, code);
    if (statement == nullptr) return logic::bug_error(path_ + ": an empty statement");
    statements_.emplace(std::string(text), StatementHandle(statement));
    return statement;
  }

  Status bind(sqlite3_stmt* statement, const std::vector<SqlValue>& values) {
    const int wanted = sqlite3_bind_parameter_count(statement);
    if (wanted != static_cast<int>(values.size()))
      return logic::bug_error(path_ + ": " + std::to_string(values.size()) + " values for " + std::to_string(wanted) +
                              " places in: " + sqlite3_sql(statement));
    for (std::size_t index = 0; index < values.size(); ++index) {
      const int code = bind_one(statement, static_cast<int>(index) + 1, values[index]);
      if (code != SQLITE_OK) return error(sqlite3_sql(statement), code);
    }
    return Done{};
  }

  static int bind_one(sqlite3_stmt* statement, int place, const SqlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return sqlite3_bind_int64(statement, place, *integer);
    if (const auto* real = std::get_if<double>(&value)) return sqlite3_bind_double(statement, place, *real);
    // Without a copy: the values outlive the use of the statement.
    if (const auto* text = std::get_if<std::string>(&value))
      return sqlite3_bind_text64(statement, place, text->data(), text->size(), nullptr, SQLITE_UTF8);
    return sqlite3_bind_null(statement, place);
  }

  Error error(std::string_view what, int code) const {
    const std::string trouble = file_trouble(path_, code, database_ ? sqlite3_system_errno(database_.get()) : 0);
    if (!trouble.empty()) return {kind_of(code), path_ + " " + trouble};
    const char* words = database_ ? sqlite3_errmsg(database_.get()) : sqlite3_errstr(code);
    return {kind_of(code), path_ + ": " + std::string(what.substr(0, 200)) + ": " + words};
  }

  const std::string path_;
  const Access access_;
  std::unique_ptr<sqlite3, CloseDatabase> database_;
  std::map<std::string, StatementHandle, std::less<>> statements_;
};

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const std::string& path, Access access) {
  auto database = std::make_unique<SqliteDatabase>(path, access);
  if (auto opened = database->open_file(); !opened) return opened.error();
  return std::unique_ptr<Database>(std::move(database));
}

Result<Database::Transaction> Database::begin() {
  if (auto writable = make_writable(); !writable) return writable.error();
  if (auto begun = run("BEGIN IMMEDIATE"); !begun) return begun.error();
  return Transaction(*this);
}

Result<Database::Transaction> Database::begin_read() {
  if (auto begun = run("BEGIN"); !begun) return begun.error();
  return Transaction(*this);
}

Database::Transaction::~Transaction() {
  // Fails only where SQLite has rolled back by itself (disk full), which is the same to us.
  if (database_ != nullptr) static_cast<void>(database_->run("ROLLBACK"));
}

Status Database::Transaction::commit() {
  auto committed = database_->run("COMMIT");
  if (committed) database_ = nullptr;
  return committed;
}

}  // namespace muster::sys
