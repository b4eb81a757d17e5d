// SPDX-License-Identifier: GPL-2.0-or-later
//
// The ledger on disk: one SQLite file in the state directory. A commit is one transaction with what changed, its events
// included; when it has returned, it survives a crash.
//
// Several musterd may have it open, on shared storage; one of them owns it. Whoever takes it over raises its
// generation, and every write is refused, within its transaction, where the generation is not the writer's own any
// more. So one that was stopped, was taken over from and goes on can write nothing.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "logic/head_state.hpp"
#include "logic/result.hpp"
#include "sys/sqlite.hpp"

namespace muster::musterd {

class LedgerStore {
 public:
  /// The cluster file as it was applied.
  struct AppliedFile {
    std::string name;
    std::string text;
    std::string base_directory;
    logic::Time created_at = logic::no_time;
  };

  /// Who may write, since when.
  struct Owner {
    std::int64_t generation = 0;  ///< 0: nobody yet
    std::string host;
    logic::Time since = logic::no_time;
  };
  struct EventLimits {
    int count = 10000;
    logic::Duration age = std::chrono::hours{30 * 24};
  };

  /// Writes nothing.
  static logic::Result<std::unique_ptr<LedgerStore>> open(const std::string& path);

  /// What is on disk. file.text is empty before the first apply.
  struct Content {
    Owner owner;
    AppliedFile file;
    logic::Ledger ledger;
    std::deque<logic::StoredEvent> events;  ///< those within the limits, oldest first
  };
  /// All of one moment, whoever writes meanwhile.
  logic::Result<Content> load(const EventLimits& limits, logic::Time now);
  /// Another program has written since the last load; true if that cannot be told.
  bool has_news();

  /// Makes us the only one that may write. What was loaded before may be old then. Returns the owner before.
  logic::Result<Owner> take_over(const std::string& host, logic::Time now);
  /// We write no more.
  void let_go() { generation_ = 0; }
  /// A look on disk: nobody has taken it from us. An error also where that cannot be told.
  logic::Status confirm_ours();
  /// Who has taken it from us, once a write or a look has met that.
  const std::optional<Owner>& successor() const { return successor_; }

  /// Writes nothing but the time: whether it can be written again.
  logic::Status try_write(logic::Time now);
  /// Writes what differs between before and after, and the events (whose sequence numbers it sets); and the cluster
  /// file where there is one, since what it asks for must not be on disk without it, nor it alone.
  logic::Status commit(const logic::Ledger& before, const logic::Ledger& after, std::vector<logic::StoredEvent>& events,
                       const EventLimits& limits, const AppliedFile* file = nullptr);

 private:
  explicit LedgerStore(std::unique_ptr<sys::Database> database, std::string path)
      : database_(std::move(database)), path_(std::move(path)) {}
  logic::Result<bool> has_schema();
  logic::Status check_schema();
  logic::Result<Owner> read_owner();
  logic::Result<std::int64_t> read_data_version();
  logic::Result<sys::Database::Transaction> begin_write();

  std::unique_ptr<sys::Database> database_;
  const std::string path_;
  std::int64_t generation_ = 0;  ///< 0: we own nothing
  std::optional<Owner> successor_;
  std::int64_t loaded_version_ = -1;
};

}  // namespace muster::musterd
