// SPDX-License-Identifier: GPL-2.0-or-later
#include "musterd/ledger_store.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/sys/temporary_directory.hpp"

namespace muster::musterd {
namespace {

using logic::Ledger;
using logic::StoredEvent;

Ledger ledger_with(int slots) {
  Ledger ledger;
  logic::GroupRecord& group = ledger.groups[logic::GroupName{"gpu"}];
  group.name = logic::GroupName{"gpu"};
  group.deadline = logic::time_from_milliseconds(1234567);
  for (int i = 1; i <= slots; ++i) {
    logic::SlotRecord slot;
    slot.name = logic::NodeName{"gpu-" + std::to_string(i)};
    slot.attempt = i;
    group.slots.push_back(slot);
  }
  return ledger;
}

StoredEvent event_of(const std::string& text) {
  StoredEvent event;
  event.id = "id-" + text;
  event.time = logic::time_from_milliseconds(99);
  event.event = {logic::EventLevel::warn,  "Kind", logic::GroupName{"gpu"}, logic::NodeName{"gpu-1"},
                 logic::InstanceId{"i-1"}, text};
  return event;
}

class LedgerStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<LedgerStore> open() {
    auto store = LedgerStore::open(path());
    EXPECT_TRUE(store) << store.error().message;
    return *std::move(store);
  }
  std::string path() const { return directory_.path() + "/ledger.sqlite"; }
  sys::TemporaryDirectory directory_;
};

TEST_F(LedgerStoreTest, BringsBackWhatWasCommitted) {
  Ledger ledger = ledger_with(12);  // more than nine: the order of slots is that of their index, not of their names
  ledger.released_by_others = {7, 9};
  std::vector<StoredEvent> events{event_of("one"), event_of("two")};
  ASSERT_TRUE(open()->commit({}, ledger, events, 100));
  const auto content = open()->load(100);
  ASSERT_TRUE(content);
  EXPECT_TRUE(content->ledger.groups == ledger.groups);
  EXPECT_EQ(content->ledger.released_by_others, ledger.released_by_others);
  ASSERT_EQ(content->events.size(), 2u);
  EXPECT_EQ(content->events[1].event.text, "two");
  EXPECT_LT(content->events[0].sequence, content->events[1].sequence);
}

TEST_F(LedgerStoreTest, WritesOnlyWhatChangedAndLosesNothingElse) {
  auto store = open();
  const Ledger before = ledger_with(3);
  std::vector<StoredEvent> none;
  ASSERT_TRUE(store->commit({}, before, none, 100));
  Ledger after = before;
  after.groups.begin()->second.slots[1].attempt = 42;
  ASSERT_TRUE(store->commit(before, after, none, 100));
  EXPECT_TRUE(open()->load(100)->ledger.groups == after.groups);
}

TEST_F(LedgerStoreTest, KeepsTheNewestEventsAndTheirNumbersGoOn) {
  auto store = open();
  for (int i = 0; i < 30; ++i) {
    std::vector<StoredEvent> events{event_of(std::to_string(i))};
    ASSERT_TRUE(store->commit({}, {}, events, 10));
    EXPECT_EQ(events[0].sequence, i + 1);
  }
  const auto content = open()->load(10);
  ASSERT_EQ(content->events.size(), 10u);
  EXPECT_EQ(content->events.front().event.text, "20");
}

TEST_F(LedgerStoreTest, RemembersTheAppliedFile) {
  ASSERT_TRUE(open()->save_file({"c.yaml", "cluster: lab\n", "/etc", logic::time_from_milliseconds(5)}));
  const auto content = open()->load(10);
  EXPECT_EQ(content->file.text, "cluster: lab\n");
  EXPECT_EQ(content->file.created_at, logic::time_from_milliseconds(5));
}

TEST_F(LedgerStoreTest, RefusesALedgerOfAnotherVersion) {
  open();
  {
    auto database = sys::Database::open(path());
    ASSERT_TRUE(database);
    ASSERT_TRUE((*database)->run("UPDATE meta SET value = '99' WHERE key = 'schema'"));
  }
  const auto store = LedgerStore::open(path());
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().message.find("expected ledger schema 2, found 99"), std::string::npos);
}

TEST_F(LedgerStoreTest, SaysWhyAFileThatIsNoLedgerCannotBeOpened) {
  ASSERT_TRUE(
      std::ofstream(path()) << "this is no database, though it is long enough to be taken for one at first sight"
                            << std::string(4096, 'x'));
  const auto store = LedgerStore::open(path());
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().message.find(path()), std::string::npos);
}

}  // namespace
}  // namespace muster::musterd
