// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/departure.hpp"

#include <gtest/gtest.h>

namespace muster::logic {
namespace {

TEST(AskedAction, UnderstandsAnySpelling) {
  for (const char* reason :
       {"Action:Replace", "action:replace", "ACTION: REPLACE", " Action : Replace.", "Action=Replace", "Action Replace",
        "action_replace", "Action:Replace (fan 3 is dead)", "\"Action:Replace\""}) {
    const auto asked = asked_action(reason);
    ASSERT_TRUE(asked && asked->wish) << reason;
    EXPECT_EQ(*asked->wish, Wish::replace) << reason;
  }
  for (const char* reason : {"Action:Reboot", "action: reboot", "ACTION:REBOOT"}) {
    const auto asked = asked_action(reason);
    ASSERT_TRUE(asked && asked->wish) << reason;
    EXPECT_EQ(*asked->wish, Wish::reboot) << reason;
  }
}

TEST(AskedAction, KnowsARequestThatItDoesNotUnderstand) {
  for (const char* reason : {"Action:Repalce", "Action:", "action: re-boot now"}) {
    const auto asked = asked_action(reason);
    ASSERT_TRUE(asked) << reason;
    EXPECT_FALSE(asked->wish) << reason;
  }
}

TEST(AskedAction, LeavesOtherReasonsAlone) {
  for (const char* reason :
       {"", "bad fan", "action needed", "Reaction:Replace", "muster: group gpu gathers", "Actions:Replace"}) {
    EXPECT_FALSE(asked_action(reason)) << reason;
  }
}

class Departures : public ::testing::Test {
 protected:
  SlotRecord& add(SlotState state, int launched_at) {
    SlotRecord slot;
    slot.index = static_cast<int>(group_.slots.size()) + 1;
    slot.name = NodeName{"n" + std::to_string(slot.index)};
    slot.state = state;
    slot.launched_at = time_from_milliseconds(launched_at);
    group_.slots.push_back(slot);
    return group_.slots.back();
  }
  void see(const std::string& name, NodeBase base) {
    SeenNode node;
    node.base = base;
    nodes_[NodeName{name}] = node;
  }
  std::string chosen(int number, DepartureOrder order) {
    seen_.nodes = std::make_shared<const SeenNodes>(nodes_);
    std::string text;
    for (const std::size_t position : choose_departures(group_, seen_, number, order))
      text += group_.slots[position].name.str() + " ";
    return text;
  }
  GroupRecord group_;
  SeenNodes nodes_;
  Seen seen_;
};

TEST_F(Departures, WithoutAMachineThenUnhealthyThenOnTheirWayThenIdleThenBusy) {
  add(SlotState::in_service, 5);
  add(SlotState::in_service, 4);
  add(SlotState::in_service, 3);
  add(SlotState::booting, 2);
  add(SlotState::waiting, 0);
  see("n1", NodeBase::allocated);
  see("n2", NodeBase::idle);
  see("n3", NodeBase::down);
  EXPECT_EQ(chosen(5, DepartureOrder::scale_down), "n5 n3 n4 n2 n1 ");
}

TEST_F(Departures, ARollbackTakesTheNewestWhateverItDoes) {
  add(SlotState::in_service, 5);
  add(SlotState::in_service, 9);
  add(SlotState::in_service, 7);
  see("n1", NodeBase::idle);
  see("n2", NodeBase::allocated);
  see("n3", NodeBase::down);
  EXPECT_EQ(chosen(3, DepartureOrder::rollback), "n3 n2 n1 ");
}

TEST_F(Departures, NeverWhatOthersDrainedOrReservedAndNeverMoreThanAsked) {
  add(SlotState::in_service, 1).foreign_reason = "bad fan";
  add(SlotState::in_service, 2);
  add(SlotState::in_service, 3);
  add(SlotState::in_service, 4).wish = Wish::remove;
  for (const char* name : {"n1", "n2", "n3", "n4"}) see(name, NodeBase::idle);
  seen_.reservations = {{"upkeep", {NodeName{"n3"}}, no_time, no_time}};
  EXPECT_EQ(chosen(4, DepartureOrder::scale_down), "n2 ");
  EXPECT_EQ(chosen(0, DepartureOrder::scale_down), "");
}

}  // namespace
}  // namespace muster::logic
