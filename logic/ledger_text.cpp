// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/ledger_text.hpp"

namespace muster::logic {
namespace {

Value time_value(Time time) { return Value(to_milliseconds(time)); }
Time time_member(const Value& value, std::string_view key) { return time_from_milliseconds(value.integer_or(key)); }
int int_member(const Value& value, std::string_view key) { return static_cast<int>(value.integer_or(key)); }

}  // namespace

Value slot_to_value(const SlotRecord& slot) {
  Value checks = Value::list();
  for (const NodeCheck& check : slot.checks) {
    checks.push(Value::map({{"name", check.name}, {"ok", check.ok}, {"text", check.text}}));
  }
  return Value::map({{"name", slot.name.str()},
                     {"state", slot_state_name(slot.state)},
                     {"state_since", time_value(slot.state_since)},
                     {"deadline", time_value(slot.deadline)},
                     {"retry_at", time_value(slot.retry_at)},
                     {"attempt", slot.attempt},
                     {"token", slot.token.str()},
                     {"instance", slot.instance.str()},
                     {"address", slot.address},
                     {"launched_at", time_value(slot.launched_at)},
                     {"missing_since", time_value(slot.missing_since)},
                     {"failures", slot.failures},
                     {"last_failure", failure_class_name(slot.last_failure)},
                     {"last_problem", slot.last_problem},
                     {"last_problem_at", time_value(slot.last_problem_at)},
                     {"slurmd_start", slot.slurmd_start},
                     {"generation", slot.generation},
                     {"boot_id", slot.boot_id},
                     {"node_step", slot.node_step},
                     {"node_message", slot.node_message},
                     {"node_slurmd_start", slot.node_slurmd_start},
                     {"node_slurmd_alive", slot.node_slurmd_alive},
                     {"checks", std::move(checks)},
                     {"our_reason", slot.our_reason},
                     {"foreign_reason", slot.foreign_reason}});
}

SlotRecord slot_from_value(const Value& value) {
  SlotRecord slot;
  slot.name = NodeName{value.text_or("name")};
  slot.state = slot_state_from_name(value.text_or("state"));
  slot.state_since = time_member(value, "state_since");
  slot.deadline = time_member(value, "deadline");
  slot.retry_at = time_member(value, "retry_at");
  slot.attempt = int_member(value, "attempt");
  slot.token = LaunchToken{value.text_or("token")};
  slot.instance = InstanceId{value.text_or("instance")};
  slot.address = value.text_or("address");
  slot.launched_at = time_member(value, "launched_at");
  slot.missing_since = time_member(value, "missing_since");
  slot.failures = int_member(value, "failures");
  slot.last_failure = failure_class_from_name(value.text_or("last_failure", "none"));
  slot.last_problem = value.text_or("last_problem");
  slot.last_problem_at = time_member(value, "last_problem_at");
  slot.slurmd_start = int_member(value, "slurmd_start");
  slot.generation = value.integer_or("generation");
  slot.boot_id = value.text_or("boot_id");
  slot.node_step = value.text_or("node_step");
  slot.node_message = value.text_or("node_message");
  slot.node_slurmd_start = int_member(value, "node_slurmd_start");
  slot.node_slurmd_alive = value.boolean_or("node_slurmd_alive");
  for (const Value& check : value.list_or_empty("checks")) {
    slot.checks.push_back({check.text_or("name"), check.boolean_or("ok"), check.text_or("text")});
  }
  slot.our_reason = value.text_or("our_reason");
  slot.foreign_reason = value.text_or("foreign_reason");
  return slot;
}

Value group_to_value(const GroupRecord& group) {
  Value arrivals = Value::list();
  for (const Time arrival : group.arrivals) arrivals.push(time_value(arrival));
  Value orphans = Value::list();
  for (const auto& [instance, since] : group.orphans) {
    orphans.push(Value::map({{"instance", instance.str()}, {"since", time_value(since)}}));
  }
  return Value::map({{"name", group.name.str()},
                     {"status", group_status_name(group.status)},
                     {"status_reason", group.status_reason},
                     {"gate_open", group.gate_open},
                     {"created_at", time_value(group.created_at)},
                     {"gate_opened_at", time_value(group.gate_opened_at)},
                     {"deadline", time_value(group.deadline)},
                     {"deadline_told", group.deadline_told},
                     {"launches", group.launches},
                     {"retries", group.retries},
                     {"arrivals", std::move(arrivals)},
                     {"orphans", std::move(orphans)}});
}

GroupRecord group_from_value(const Value& value) {
  GroupRecord group;
  group.name = GroupName{value.text_or("name")};
  group.status = group_status_from_name(value.text_or("status"));
  group.status_reason = value.text_or("status_reason");
  group.gate_open = value.boolean_or("gate_open");
  group.created_at = time_member(value, "created_at");
  group.gate_opened_at = time_member(value, "gate_opened_at");
  group.deadline = time_member(value, "deadline");
  group.deadline_told = value.boolean_or("deadline_told");
  group.launches = int_member(value, "launches");
  group.retries = int_member(value, "retries");
  for (const Value& arrival : value.list_or_empty("arrivals")) {
    if (arrival.as_integer()) group.arrivals.push_back(time_from_milliseconds(*arrival.as_integer()));
  }
  for (const Value& orphan : value.list_or_empty("orphans")) {
    group.orphans.emplace(InstanceId{orphan.text_or("instance")}, time_member(orphan, "since"));
  }
  return group;
}

}  // namespace muster::logic
