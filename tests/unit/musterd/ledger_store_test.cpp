// SPDX-License-Identifier: GPL-2.0-or-later
#include "musterd/ledger_store.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "sys/files.hpp"
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
    slot.index = slot.attempt = i;
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
  std::unique_ptr<LedgerStore> open_to_read() {
    auto store = LedgerStore::open(path());
    EXPECT_TRUE(store) << store.error().message;
    return *std::move(store);
  }
  std::unique_ptr<LedgerStore> open(const std::string& host = "head") {
    auto store = open_to_read();
    EXPECT_TRUE(store->take_over(host, now_));
    return store;
  }
  LedgerStore::Content content() {
    auto content = open_to_read()->load(limits(100), now_);
    EXPECT_TRUE(content) << content.error().message;
    return *std::move(content);
  }
  static LedgerStore::EventLimits limits(int count) { return {count, std::chrono::hours{1}}; }
  std::string path() const { return directory_.path() + "/ledger.sqlite"; }
  const logic::Time now_ = logic::time_from_milliseconds(99);
  sys::TemporaryDirectory directory_;
};

TEST_F(LedgerStoreTest, BringsBackWhatWasCommitted) {
  Ledger ledger = ledger_with(12);  // more than nine: the order of slots is that of their index, not of their names
  ledger.released_by_others = {7, 9};
  std::vector<StoredEvent> events{event_of("one"), event_of("two")};
  ASSERT_TRUE(open()->commit({}, ledger, events, limits(100)));
  const auto found = content();
  EXPECT_TRUE(found.ledger.groups == ledger.groups);
  EXPECT_EQ(found.ledger.released_by_others, ledger.released_by_others);
  ASSERT_EQ(found.events.size(), 2u);
  EXPECT_EQ(found.events[1].event.text, "two");
  EXPECT_LT(found.events[0].sequence, found.events[1].sequence);
}

TEST_F(LedgerStoreTest, WritesOnlyWhatChangedAndLosesNothingElse) {
  auto store = open();
  const Ledger before = ledger_with(3);
  std::vector<StoredEvent> none;
  ASSERT_TRUE(store->commit({}, before, none, limits(100)));
  Ledger after = before;
  after.groups.begin()->second.slots[1].attempt = 42;
  ASSERT_TRUE(store->commit(before, after, none, limits(100)));
  EXPECT_TRUE(content().ledger.groups == after.groups);
}

TEST_F(LedgerStoreTest, KeepsNoSlotOrGroupThatIsGone) {
  auto store = open();
  Ledger before = ledger_with(4);
  logic::GroupRecord& old = before.groups[logic::GroupName{"old"}];
  old.name = logic::GroupName{"old"};
  old.slots.resize(1);
  old.slots[0].name = logic::NodeName{"old-1"};
  old.slots[0].index = 1;
  std::vector<StoredEvent> none;
  ASSERT_TRUE(store->commit({}, before, none, limits(100)));
  Ledger after = ledger_with(4);
  auto& slots = after.groups.begin()->second.slots;
  slots.erase(slots.begin() + 1);
  ASSERT_TRUE(store->commit(before, after, none, limits(100)));
  EXPECT_TRUE(content().ledger.groups == after.groups);
}

TEST_F(LedgerStoreTest, KeepsTheNewestEventsAndTheirNumbersGoOn) {
  auto store = open();
  for (int i = 0; i < 30; ++i) {
    std::vector<StoredEvent> events{event_of(std::to_string(i))};
    ASSERT_TRUE(store->commit({}, {}, events, limits(10)));
    EXPECT_EQ(events[0].sequence, i + 1);
  }
  const auto found = content();
  ASSERT_EQ(found.events.size(), 10u);
  EXPECT_EQ(found.events.front().event.text, "20");
}

TEST_F(LedgerStoreTest, ForgetsEventsThatAreTooOld) {
  auto store = open();
  std::vector<StoredEvent> old{event_of("old"), event_of("old, too")};
  ASSERT_TRUE(store->commit({}, {}, old, limits(100)));
  const logic::Time later = now_ + std::chrono::hours{2};
  EXPECT_TRUE(store->load(limits(100), later)->events.empty()) << "also while nothing is written";
  std::vector<StoredEvent> young{event_of("young")};
  young[0].time = later;
  ASSERT_TRUE(store->commit({}, {}, young, limits(100)));
  const auto found = content();
  ASSERT_EQ(found.events.size(), 1u);
  EXPECT_EQ(found.events[0].event.text, "young");
  EXPECT_EQ(found.events[0].sequence, 3);
}

TEST_F(LedgerStoreTest, RemembersTheAppliedFileTogetherWithWhatItAsksFor) {
  std::vector<StoredEvent> none;
  const LedgerStore::AppliedFile file{"c.yaml", "cluster: lab\n", "/etc", logic::time_from_milliseconds(5)};
  ASSERT_TRUE(open()->commit({}, ledger_with(1), none, limits(100), &file));
  ASSERT_TRUE(open()->commit(ledger_with(1), ledger_with(2), none, limits(100)));
  const auto found = content();
  EXPECT_EQ(found.file.text, "cluster: lab\n");
  EXPECT_EQ(found.file.created_at, logic::time_from_milliseconds(5));
  EXPECT_TRUE(found.ledger.groups == ledger_with(2).groups);
}

TEST_F(LedgerStoreTest, ForgetsAClusterAndKeepsItsEvents) {
  const LedgerStore::AppliedFile file{"c.yaml", "cluster: lab\n", "/etc", logic::time_from_milliseconds(5)};
  std::vector<StoredEvent> events{event_of("one")};
  Ledger ledger = ledger_with(1);
  ledger.cluster.deleting = "uid 0";
  ASSERT_TRUE(open()->commit({}, ledger, events, limits(100), &file));
  std::vector<StoredEvent> none;
  const LedgerStore::AppliedFile nothing;
  ASSERT_TRUE(open()->commit(ledger, {}, none, limits(100), &nothing));
  const auto found = content();
  EXPECT_EQ(found.file.text, "");
  EXPECT_TRUE(found.ledger == Ledger{});
  EXPECT_EQ(found.events.size(), 1u);
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

// ---- Two of them ----

TEST_F(LedgerStoreTest, WritesNothingBeforeItIsTakenOver) {
  auto store = open_to_read();
  std::vector<StoredEvent> events{event_of("one")};
  EXPECT_FALSE(store->commit({}, ledger_with(1), events, limits(100)));
  EXPECT_FALSE(store->confirm_ours());
  EXPECT_FALSE(store->successor());
  EXPECT_EQ(sys::read_file(path())->size(), 0u);
}

TEST_F(LedgerStoreTest, OneThatWasTakenOverFromWritesNothingAnyMore) {
  auto stale = open("head");
  const Ledger first = ledger_with(3);
  std::vector<StoredEvent> events{event_of("before")};
  ASSERT_TRUE(stale->commit({}, first, events, limits(100)));
  ASSERT_TRUE(stale->confirm_ours());

  auto fresh = open_to_read();
  const auto before = fresh->take_over("head2", now_ + std::chrono::seconds{1});
  ASSERT_TRUE(before);
  EXPECT_EQ(before->host, "head");
  EXPECT_EQ(before->since, now_);

  Ledger second = first;
  second.groups.begin()->second.slots[0].attempt = 77;
  second.released_by_others = {5};
  std::vector<StoredEvent> late{event_of("late")};
  const auto refused = stale->commit(first, second, late, limits(100));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, path() + " was taken over by musterd on head2");
  EXPECT_FALSE(stale->try_write(now_));
  EXPECT_FALSE(stale->confirm_ours());
  ASSERT_TRUE(stale->successor());
  EXPECT_EQ(stale->successor()->host, "head2");

  const auto found = content();
  EXPECT_TRUE(found.ledger.groups == first.groups);
  EXPECT_TRUE(found.ledger.released_by_others.empty());
  EXPECT_EQ(found.events.size(), 1u);
  EXPECT_TRUE(found.file.text.empty());
  EXPECT_TRUE(fresh->commit(first, second, late, limits(100)));
}

TEST_F(LedgerStoreTest, TheOneThatWasTakenOverFromMayTakeItBack) {
  auto first = open("head");
  auto second = open("head2");
  ASSERT_FALSE(first->confirm_ours());
  ASSERT_TRUE(first->take_over("head", now_));
  EXPECT_FALSE(first->successor());
  EXPECT_TRUE(first->confirm_ours());
  EXPECT_FALSE(second->confirm_ours());
  EXPECT_EQ(content().owner.generation, 3);
}

TEST_F(LedgerStoreTest, OneThatLooksOnHearsOfEachWriteOnce) {
  auto writer = open();
  auto reader = open_to_read();
  EXPECT_TRUE(reader->has_news());
  ASSERT_TRUE(reader->load(limits(100), now_));
  EXPECT_FALSE(reader->has_news());
  std::vector<StoredEvent> events{event_of("one")};
  ASSERT_TRUE(writer->commit({}, ledger_with(1), events, limits(100)));
  EXPECT_TRUE(reader->has_news());
  EXPECT_EQ(reader->load(limits(100), now_)->events.size(), 1u);
  EXPECT_FALSE(reader->has_news());
}

TEST_F(LedgerStoreTest, TellsThatItCanBeWrittenAgain) {
  auto store = open();
  EXPECT_TRUE(store->try_write(now_));
  auto other = sys::Database::open(path());
  ASSERT_TRUE(other);
  const auto transaction = (*other)->begin();
  ASSERT_TRUE(transaction);
  EXPECT_FALSE(store->try_write(now_));
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
