// SPDX-License-Identifier: GPL-2.0-or-later
//
// The ledger on disk: one SQLite file in the state directory. A commit is one transaction with what changed, its events
// included; when it has returned, it survives a crash.
#pragma once

#include <memory>
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

  static logic::Result<std::unique_ptr<LedgerStore>> open(const std::string& path);

  /// What is on disk. file.text is empty before the first apply.
  struct Content {
    AppliedFile file;
    logic::Ledger ledger;
    std::deque<logic::StoredEvent> events;  ///< the newest event_keep, oldest first
  };
  logic::Result<Content> load(int event_keep);

  logic::Status save_file(const AppliedFile& file);
  /// Writes what differs between before and after, and the events (whose sequence numbers it sets).
  logic::Status commit(const logic::Ledger& before, const logic::Ledger& after, std::vector<logic::StoredEvent>& events,
                       int event_keep);

 private:
  explicit LedgerStore(std::unique_ptr<sys::Database> database) : database_(std::move(database)) {}
  std::unique_ptr<sys::Database> database_;
};

}  // namespace muster::musterd
