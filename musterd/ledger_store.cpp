// SPDX-License-Identifier: GPL-2.0-or-later
#include "musterd/ledger_store.hpp"

#include <algorithm>
#include <limits>

#include "logic/ledger_text.hpp"
#include "sys/json.hpp"

namespace muster::musterd {

using logic::Done;
using logic::GroupName;
using logic::GroupRecord;
using logic::Ledger;
using logic::Result;
using logic::SlotRecord;
using logic::Status;
using logic::StoredEvent;
using logic::Value;
using sys::SqlRow;

namespace {

constexpr std::int64_t schema_version = 2;
constexpr const char* schema = R"(
  CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS instance_groups (name TEXT PRIMARY KEY, record TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS slots (name TEXT PRIMARY KEY, group_name TEXT NOT NULL, position INTEGER NOT NULL, record TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS released_by_others (job_id INTEGER PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS events (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, time INTEGER NOT NULL, level INTEGER NOT NULL, kind TEXT NOT NULL,
    group_name TEXT NOT NULL, node TEXT NOT NULL, instance TEXT NOT NULL, text TEXT NOT NULL);
)";

/// Runs statements until one fails; the first failure is kept.
class Steps {
 public:
  explicit Steps(sys::Database& database) : database_(database) {}
  void run(std::string_view statement, const std::vector<sys::SqlValue>& values = {},
           const std::function<void(const SqlRow&)>& each_row = {}) {
    if (status_) status_ = database_.run(statement, values, each_row);
  }
  void run_script(const std::string& statements) {
    if (status_) status_ = database_.run_script(statements);
  }
  void fail(logic::Error error) {
    if (status_) status_ = std::move(error);
  }
  bool good() const { return static_cast<bool>(status_); }
  const Status& status() const { return status_; }

 private:
  sys::Database& database_;
  Status status_ = Done{};
};

Value parsed(Steps& steps, const std::string& text) {
  auto value = sys::parse_json(text);
  if (value) return *std::move(value);
  steps.fail(logic::bug_error("the ledger holds a record that is no JSON: " + value.error().message));
  return {};
}

void write_group(Steps& steps, const GroupRecord* before, const GroupRecord& after) {
  if (!before || !logic::is_same_group_state(*before, after)) {
    steps.run(
        "INSERT INTO instance_groups (name, record) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET record = "
        "excluded.record",
        {after.name.str(), sys::to_json(logic::group_to_value(after))});
  }
  // Both are in the order of their index.
  static const std::vector<SlotRecord> no_slots;
  const std::vector<SlotRecord>& old_slots = before ? before->slots : no_slots;
  auto old_slot = old_slots.begin();
  const auto forget_until = [&](int index) {
    for (; old_slot != old_slots.end() && old_slot->index < index; ++old_slot)
      steps.run("DELETE FROM slots WHERE name = ? AND group_name = ?", {old_slot->name.str(), after.name.str()});
  };
  for (const SlotRecord& slot : after.slots) {
    if (!steps.good()) return;
    forget_until(slot.index);
    const bool was_there = old_slot != old_slots.end() && old_slot->index == slot.index;
    const bool is_same = was_there && *old_slot == slot;
    if (was_there) ++old_slot;
    if (is_same) continue;
    steps.run(
        "INSERT INTO slots (name, group_name, position, record) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (name) DO UPDATE SET group_name = excluded.group_name, position = excluded.position, record = "
        "excluded.record",
        {slot.name.str(), after.name.str(), std::int64_t{slot.index}, sys::to_json(logic::slot_to_value(slot))});
  }
  forget_until(std::numeric_limits<int>::max());
}

void forget_group(Steps& steps, const GroupName& name) {
  steps.run("DELETE FROM slots WHERE group_name = ?", {name.str()});
  steps.run("DELETE FROM instance_groups WHERE name = ?", {name.str()});
}

void write_meta(Steps& steps, const std::vector<std::pair<std::string, std::string>>& rows) {
  for (const auto& [key, value] : rows) {
    steps.run("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
              {key, value});
  }
}

void write_released(Steps& steps, const Ledger& before, const Ledger& after) {
  if (before.released_by_others == after.released_by_others) return;
  steps.run("DELETE FROM released_by_others");
  for (const logic::JobId job : after.released_by_others) {
    steps.run("INSERT INTO released_by_others (job_id) VALUES (?)", {std::int64_t{job}});
  }
}

void write_file(Steps& steps, const LedgerStore::AppliedFile& file) {
  write_meta(steps, {{"file_name", file.name},
                     {"file_text", file.text},
                     {"base_directory", file.base_directory},
                     {"created_at", std::to_string(logic::to_milliseconds(file.created_at))}});
}

}  // namespace

Result<std::unique_ptr<LedgerStore>> LedgerStore::open(const std::string& path) {
  auto database = sys::Database::open(path);
  if (!database) return database.error();
  std::unique_ptr<LedgerStore> store(new LedgerStore(*std::move(database), path));
  if (const Status good = store->check_schema(); !good) return good.error();
  return store;
}

Result<bool> LedgerStore::has_schema() {
  bool found = false;
  const Status read = database_->run("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'", {},
                                     [&](const SqlRow&) { found = true; });
  if (!read) return read.error();
  return found;
}

/// A file that nobody has written yet is good.
Status LedgerStore::check_schema() {
  const auto made = has_schema();
  if (!made) return made.error();
  std::int64_t version = schema_version;
  Steps steps(*database_);
  if (*made) {
    steps.run("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'schema'", {},
              [&](const SqlRow& row) { version = row.integer(0); });
  }
  if (version != schema_version) {
    return logic::reject_error(path_ + ": expected ledger schema " + std::to_string(schema_version) + ", found " +
                               std::to_string(version) + "; it was written by another version of muster");
  }
  return steps.status();
}

Result<LedgerStore::Owner> LedgerStore::read_owner() {
  Owner owner;
  const Status read =
      database_->run("SELECT key, value FROM meta WHERE key IN ('generation', 'owner_host', 'owner_since')", {},
                     [&](const SqlRow& row) {
                       if (row.text(0) == "generation") owner.generation = row.integer(1);
                       if (row.text(0) == "owner_host") owner.host = row.text(1);
                       if (row.text(0) == "owner_since") owner.since = logic::time_from_milliseconds(row.integer(1));
                     });
  if (!read) return read.error();
  return owner;
}

Result<std::int64_t> LedgerStore::read_data_version() {
  std::int64_t version = 0;
  const Status read = database_->run("PRAGMA data_version", {}, [&](const SqlRow& row) { version = row.integer(0); });
  if (!read) return read.error();
  return version;
}

bool LedgerStore::has_news() {
  const auto version = read_data_version();
  return !version || *version != loaded_version_;
}

Result<LedgerStore::Owner> LedgerStore::take_over(const std::string& host, logic::Time now) {
  generation_ = 0;
  auto transaction = database_->begin();
  if (!transaction) return transaction.error();
  Steps steps(*database_);
  steps.run_script(schema);
  steps.run("INSERT INTO meta (key, value) VALUES ('schema', ?) ON CONFLICT (key) DO NOTHING",
            {std::to_string(schema_version)});
  if (!steps.good()) return steps.status().error();
  if (const Status good = check_schema(); !good) return good.error();
  const auto before = read_owner();
  if (!before) return before.error();
  write_meta(steps, {{"generation", std::to_string(before->generation + 1)},
                     {"owner_host", host},
                     {"owner_since", std::to_string(logic::to_milliseconds(now))}});
  if (!steps.good()) return steps.status().error();
  if (const Status committed = transaction->commit(); !committed) return committed.error();
  generation_ = before->generation + 1;
  successor_.reset();
  return before;
}

Status LedgerStore::confirm_ours() {
  if (generation_ == 0) return logic::retry_error(path_ + " is not ours to write: this musterd is on standby");
  const auto owner = read_owner();
  if (!owner) return owner.error();
  if (owner->generation == generation_) return Done{};
  successor_ = *owner;
  return logic::retry_error(path_ + " was taken over by musterd on " + owner->host);
}

/// A transaction in which the ledger is ours and stays so until it ends.
Result<sys::Database::Transaction> LedgerStore::begin_write() {
  auto transaction = database_->begin();
  if (!transaction) return transaction.error();
  if (const Status ours = confirm_ours(); !ours) return ours.error();
  return transaction;
}

Result<LedgerStore::Content> LedgerStore::load(const EventLimits& limits, logic::Time now) {
  const auto made = has_schema();
  if (!made) return made.error();
  if (!*made) return Content{};
  auto moment = database_->begin_read();
  if (!moment) return moment.error();
  if (const Status good = check_schema(); !good) return good.error();
  const auto version = read_data_version();
  if (!version) return version.error();
  const auto owner = read_owner();
  if (!owner) return owner.error();
  Content content;
  content.owner = *owner;
  Steps steps(*database_);
  std::map<std::string, std::string> meta;
  steps.run("SELECT key, value FROM meta", {}, [&](const SqlRow& row) { meta[row.text(0)] = row.text(1); });
  content.file.name = meta["file_name"];
  content.file.text = meta["file_text"];
  content.file.base_directory = meta["base_directory"];
  if (!meta["created_at"].empty())
    content.file.created_at = logic::time_from_milliseconds(std::stoll(meta["created_at"]));
  if (!meta["cluster"].empty()) content.ledger.cluster = logic::cluster_from_value(parsed(steps, meta["cluster"]));
  steps.run("SELECT record FROM instance_groups", {}, [&](const SqlRow& row) {
    GroupRecord group = logic::group_from_value(parsed(steps, row.text(0)));
    content.ledger.groups[group.name] = std::move(group);
  });
  steps.run("SELECT group_name, record FROM slots ORDER BY group_name, position", {}, [&](const SqlRow& row) {
    content.ledger.groups[GroupName{row.text(0)}].slots.push_back(logic::slot_from_value(parsed(steps, row.text(1))));
  });
  steps.run("SELECT job_id FROM released_by_others", {}, [&](const SqlRow& row) {
    content.ledger.released_by_others.insert(static_cast<logic::JobId>(row.integer(0)));
  });
  steps.run(
      "SELECT sequence, id, time, level, kind, group_name, node, instance, text FROM events WHERE time >= ? "
      "ORDER BY sequence DESC LIMIT ?",
      {logic::to_milliseconds(now - limits.age), std::int64_t{limits.count}}, [&](const SqlRow& row) {
        StoredEvent event;
        event.sequence = row.integer(0);
        event.id = row.text(1);
        event.time = logic::time_from_milliseconds(row.integer(2));
        event.event = {static_cast<logic::EventLevel>(std::clamp<std::int64_t>(row.integer(3), 0, 2)),
                       row.text(4),
                       GroupName{row.text(5)},
                       logic::NodeName{row.text(6)},
                       logic::InstanceId{row.text(7)},
                       row.text(8)};
        content.events.push_front(std::move(event));
      });
  if (!steps.good()) return steps.status().error();
  loaded_version_ = *version;
  return content;
}

Status LedgerStore::try_write(logic::Time now) {
  auto transaction = begin_write();
  if (!transaction) return transaction.error();
  Steps steps(*database_);
  // What stays the same SQLite does not write.
  write_meta(steps, {{"tried_at", std::to_string(logic::to_milliseconds(now))}});
  if (!steps.good()) return steps.status();
  return transaction->commit();
}

Status LedgerStore::commit(const Ledger& before, const Ledger& after, std::vector<StoredEvent>& events,
                           const EventLimits& limits, const AppliedFile* file) {
  auto transaction = begin_write();
  if (!transaction) return transaction.error();
  Steps steps(*database_);
  if (file) write_file(steps, *file);
  for (const auto& [name, group] : after.groups) {
    const auto old_group = before.groups.find(name);
    write_group(steps, old_group == before.groups.end() ? nullptr : &old_group->second, group);
  }
  for (const auto& [name, group] : before.groups) {
    if (after.groups.count(name) == 0) forget_group(steps, name);
  }
  if (!(before.cluster == after.cluster)) {
    steps.run(
        "INSERT INTO meta (key, value) VALUES ('cluster', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        {sys::to_json(logic::cluster_to_value(after.cluster))});
  }
  write_released(steps, before, after);
  for (StoredEvent& stored : events) {
    const logic::Event& event = stored.event;
    steps.run(
        "INSERT INTO events (id, time, level, kind, group_name, node, instance, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        {stored.id, logic::to_milliseconds(stored.time), static_cast<std::int64_t>(event.level), event.kind,
         event.group.str(), event.node.str(), event.instance.str(), event.text});
    stored.sequence = database_->last_insert_id();
  }
  if (!events.empty()) {
    // From the oldest on, and no further than to the first that is young enough.
    steps.run(
        "DELETE FROM events WHERE sequence <= ? OR "
        "sequence < (SELECT sequence FROM events WHERE time >= ? ORDER BY sequence LIMIT 1)",
        {events.back().sequence - limits.count, logic::to_milliseconds(events.back().time - limits.age)});
  }
  if (!steps.good()) return steps.status();
  return transaction->commit();
}

}  // namespace muster::musterd
