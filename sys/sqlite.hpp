// SPDX-License-Identifier: GPL-2.0-or-later
//
// An SQLite database behind plain types: statements with bound values, rows by callback, transactions that roll back by
// themselves. Every change is on disk when its transaction is committed (synchronous=FULL), and several hosts may have
// the file open on shared storage (journal_mode=DELETE). Errors name the file and what is wrong with it; of a statement
// of ours that is wrong, SQLite's words. For one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "logic/result.hpp"

namespace muster::sys {

/// A value to bind; monostate is NULL.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;

/// The row a statement stands on; columns count from 0. A NULL reads as 0 or as an empty text.
class SqlRow {
 public:
  virtual bool is_null(int column) const = 0;
  virtual std::int64_t integer(int column) const = 0;
  virtual double real(int column) const = 0;
  virtual std::string text(int column) const = 0;

 protected:
  ~SqlRow() = default;
};

class Database {
 public:
  enum class Access { create, read_only };

  static logic::Result<std::unique_ptr<Database>> open(const std::string& path, Access access = Access::create);
  virtual ~Database() = default;

  /// One statement, prepared once and kept. The callback comes for each row.
  virtual logic::Status run(std::string_view statement, const std::vector<SqlValue>& values = {},
                            const std::function<void(const SqlRow&)>& each_row = {}) = 0;
  /// Several statements with nothing to bind: a schema.
  virtual logic::Status run_script(const std::string& statements) = 0;
  virtual std::int64_t last_insert_id() const = 0;
  /// Rows that the last statement changed.
  virtual std::int64_t changes() const = 0;

  /// Rolls back unless it was committed.
  class Transaction {
   public:
    Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
    Transaction& operator=(Transaction&& other) = delete;
    ~Transaction();
    logic::Status commit();

   private:
    friend class Database;
    explicit Transaction(Database& database) : database_(&database) {}
    Database* database_;
  };
  /// Begins a transaction that may write (BEGIN IMMEDIATE). They do not nest. A file that could only be opened to read
  /// is opened anew, as it may be writable by now.
  logic::Result<Transaction> begin();
  /// Begins one that reads: all of it sees the same moment, and nobody else's commit ends before it does.
  logic::Result<Transaction> begin_read();

 private:
  virtual logic::Status make_writable() = 0;
};

}  // namespace muster::sys
