// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/ledger_text.hpp"

#include <gtest/gtest.h>

namespace muster::logic {
namespace {

SlotRecord full_slot() {
  SlotRecord slot;
  slot.name = NodeName{"gpu-7"};
  slot.index = 7;
  slot.state = SlotState::registering;
  slot.wish = Wish::replace;
  slot.by_name = true;
  slot.wish_reason = "a bad fan";
  slot.wish_since = time_from_milliseconds(1007);
  slot.drain_deadline = time_from_milliseconds(1008);
  slot.instance_type = "big";
  slot.given_up = true;
  slot.record_is_over = true;
  slot.refused_action = "Action:Repaint";
  slot.state_since = time_from_milliseconds(1001);
  slot.deadline = time_from_milliseconds(1002);
  slot.retry_at = time_from_milliseconds(1003);
  slot.attempt = 3;
  slot.token = LaunchToken{"lab.gpu-7.3"};
  slot.instance = InstanceId{"i-9"};
  slot.address = "10.0.0.7";
  slot.launched_at = time_from_milliseconds(1004);
  slot.missing_since = time_from_milliseconds(1005);
  slot.failures = 2;
  slot.last_failure = FailureClass::capacity;
  slot.last_problem = "none \"left\"";
  slot.last_problem_at = time_from_milliseconds(1006);
  slot.slurmd_start = 4;
  slot.generation = 11;
  slot.boot_id = "b";
  slot.earlier_boot_id = "a";
  slot.refused_boot_id = "c";
  slot.node_step = "running";
  slot.node_message = "well";
  slot.node_slurmd_start = 4;
  slot.node_slurmd_alive = true;
  slot.checks = {{"munge", true, "good"}, {"gres", false, "7 of 8"}};
  slot.has_record = true;
  slot.mends = 2;
  slot.mended_at = time_from_milliseconds(1007);
  slot.our_reason = "muster: group gpu gathers";
  slot.lifted_reason = "muster: to be rebooted";
  slot.foreign_reason = "bad fan";
  return slot;
}

TEST(LedgerText, ASlotComesBackAsItWent) { EXPECT_TRUE(slot_from_value(slot_to_value(full_slot())) == full_slot()); }

TEST(LedgerText, NoFieldOfASlotIsLeftOut) {
  // A record that differs from the default in every field must not lose any on its way: each member of the document is
  // told apart from that of an empty record.
  const Value full = slot_to_value(full_slot());
  const Value empty = slot_to_value(SlotRecord{});
  for (const auto& [key, value] : full.members()) {
    if (key == "checks") continue;
    const Value* other = empty.find(key);
    ASSERT_NE(other, nullptr) << key;
    const bool differs = value.as_text()      ? *value.as_text() != *other->as_text()
                         : value.as_integer() ? *value.as_integer() != *other->as_integer()
                                              : *value.as_boolean() != *other->as_boolean();
    EXPECT_TRUE(differs) << key;
  }
  EXPECT_EQ(full.members().size(), 41u);
}

TEST(LedgerText, AGroupComesBackAsItWent) {
  GroupRecord group;
  group.name = GroupName{"gpu"};
  group.status = GroupStatus::in_service;
  group.status_reason = "why";
  group.gate_open = true;
  group.created_at = time_from_milliseconds(1);
  group.gate_opened_at = time_from_milliseconds(2);
  group.deadline = time_from_milliseconds(3);
  group.counts = {6, 4};
  group.restore = {3, 2};
  group.gathering = Gathering::updating;
  group.gathering_since = time_from_milliseconds(4);
  group.idle_spent = Duration{12};
  group.rolled_back = "too late";
  group.deleting = "uid 0";
  group.deleted = true;
  LaunchTrouble trouble;
  trouble.failure = FailureClass::quota;
  trouble.failures = 2;
  trouble.failed_at = time_from_milliseconds(5);
  trouble.retry_at = time_from_milliseconds(6);
  trouble.probe = NodeName{"gpu-3"};
  trouble.stopped = true;
  trouble.problem = "no more";
  group.troubles["big"] = trouble;
  group.launches = 5;
  group.retries = 2;
  group.orphans[InstanceId{"i-4"}] = {time_from_milliseconds(8), 2, time_from_milliseconds(10)};
  group.floor_is_waived = true;
  group.arrivals = {time_from_milliseconds(7), time_from_milliseconds(9)};
  EXPECT_TRUE(group_from_value(group_to_value(group)) == group);
}

TEST(LedgerText, TheClusterComesBackAsItWent) {
  ClusterRecord cluster;
  cluster.in_service_at = time_from_milliseconds(1);
  cluster.failure = "no controller";
  cluster.deleting = "uid 0";
  cluster.reconfigured_at = time_from_milliseconds(2);
  cluster.node_file_needs = "restart slurmctld";
  EXPECT_TRUE(cluster_from_value(cluster_to_value(cluster)) == cluster);
}

}  // namespace
}  // namespace muster::logic
