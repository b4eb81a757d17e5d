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
                     {"index", slot.index},
                     {"state", slot_state_name(slot.state)},
                     {"state_since", time_value(slot.state_since)},
                     {"deadline", time_value(slot.deadline)},
                     {"retry_at", time_value(slot.retry_at)},
                     {"wish", wish_name(slot.wish)},
                     {"by_name", slot.by_name},
                     {"wish_reason", slot.wish_reason},
                     {"wish_since", time_value(slot.wish_since)},
                     {"drain_deadline", time_value(slot.drain_deadline)},
                     {"attempt", slot.attempt},
                     {"instance_type", slot.instance_type},
                     {"token", slot.token.str()},
                     {"instance", slot.instance.str()},
                     {"address", slot.address},
                     {"launched_at", time_value(slot.launched_at)},
                     {"missing_since", time_value(slot.missing_since)},
                     {"failures", slot.failures},
                     {"last_failure", failure_class_name(slot.last_failure)},
                     {"last_problem", slot.last_problem},
                     {"last_problem_at", time_value(slot.last_problem_at)},
                     {"given_up", slot.given_up},
                     {"slurmd_start", slot.slurmd_start},
                     {"generation", slot.generation},
                     {"boot_id", slot.boot_id},
                     {"earlier_boot_id", slot.earlier_boot_id},
                     {"refused_boot_id", slot.refused_boot_id},
                     {"node_step", slot.node_step},
                     {"node_message", slot.node_message},
                     {"node_slurmd_start", slot.node_slurmd_start},
                     {"node_slurmd_alive", slot.node_slurmd_alive},
                     {"checks", std::move(checks)},
                     {"has_record", slot.has_record},
                     {"mends", slot.mends},
                     {"mended_at", time_value(slot.mended_at)},
                     {"our_reason", slot.our_reason},
                     {"lifted_reason", slot.lifted_reason},
                     {"foreign_reason", slot.foreign_reason},
                     {"record_is_over", slot.record_is_over},
                     {"refused_action", slot.refused_action}});
}

SlotRecord slot_from_value(const Value& value) {
  SlotRecord slot;
  slot.name = NodeName{value.text_or("name")};
  slot.index = int_member(value, "index");
  slot.state = slot_state_from_name(value.text_or("state"));
  slot.state_since = time_member(value, "state_since");
  slot.deadline = time_member(value, "deadline");
  slot.retry_at = time_member(value, "retry_at");
  slot.wish = wish_from_name(value.text_or("wish", "keep"));
  slot.by_name = value.boolean_or("by_name");
  slot.wish_reason = value.text_or("wish_reason");
  slot.wish_since = time_member(value, "wish_since");
  slot.drain_deadline = time_member(value, "drain_deadline");
  slot.attempt = int_member(value, "attempt");
  slot.instance_type = value.text_or("instance_type");
  slot.token = LaunchToken{value.text_or("token")};
  slot.instance = InstanceId{value.text_or("instance")};
  slot.address = value.text_or("address");
  slot.launched_at = time_member(value, "launched_at");
  slot.missing_since = time_member(value, "missing_since");
  slot.failures = int_member(value, "failures");
  slot.last_failure = failure_class_from_name(value.text_or("last_failure", "none"));
  slot.last_problem = value.text_or("last_problem");
  slot.last_problem_at = time_member(value, "last_problem_at");
  slot.given_up = value.boolean_or("given_up");
  slot.slurmd_start = int_member(value, "slurmd_start");
  slot.generation = value.integer_or("generation");
  slot.boot_id = value.text_or("boot_id");
  slot.earlier_boot_id = value.text_or("earlier_boot_id");
  slot.refused_boot_id = value.text_or("refused_boot_id");
  slot.node_step = value.text_or("node_step");
  slot.node_message = value.text_or("node_message");
  slot.node_slurmd_start = int_member(value, "node_slurmd_start");
  slot.node_slurmd_alive = value.boolean_or("node_slurmd_alive");
  for (const Value& check : value.list_or_empty("checks")) {
    slot.checks.push_back({check.text_or("name"), check.boolean_or("ok"), check.text_or("text")});
  }
  slot.has_record = value.boolean_or("has_record");
  slot.mends = int_member(value, "mends");
  slot.mended_at = time_member(value, "mended_at");
  slot.our_reason = value.text_or("our_reason");
  slot.lifted_reason = value.text_or("lifted_reason");
  slot.foreign_reason = value.text_or("foreign_reason");
  slot.record_is_over = value.boolean_or("record_is_over");
  slot.refused_action = value.text_or("refused_action");
  return slot;
}

Value group_to_value(const GroupRecord& group) {
  Value arrivals = Value::list();
  for (const Time arrival : group.arrivals) arrivals.push(time_value(arrival));
  Value orphans = Value::list();
  for (const auto& [instance, orphan] : group.orphans) {
    orphans.push(Value::map({{"instance", instance.str()},
                             {"since", time_value(orphan.since)},
                             {"tries", orphan.tries},
                             {"retry_at", time_value(orphan.retry_at)}}));
  }
  Value troubles = Value::list();
  for (const auto& [type, trouble] : group.troubles) {
    troubles.push(Value::map({{"instance_type", type},
                              {"failure", failure_class_name(trouble.failure)},
                              {"failures", trouble.failures},
                              {"failed_at", time_value(trouble.failed_at)},
                              {"retry_at", time_value(trouble.retry_at)},
                              {"probe", trouble.probe.str()},
                              {"stopped", trouble.stopped},
                              {"problem", trouble.problem}}));
  }
  return Value::map({{"name", group.name.str()},
                     {"status", group_status_name(group.status)},
                     {"status_reason", group.status_reason},
                     {"target_count", group.counts.target},
                     {"min_count", group.counts.min},
                     {"restore_target_count", group.restore.target},
                     {"restore_min_count", group.restore.min},
                     {"gathering", gathering_name(group.gathering)},
                     {"gate_open", group.gate_open},
                     {"created_at", time_value(group.created_at)},
                     {"gate_opened_at", time_value(group.gate_opened_at)},
                     {"gathering_since", time_value(group.gathering_since)},
                     {"deadline", time_value(group.deadline)},
                     {"idle_spent", std::int64_t{group.idle_spent.count()}},
                     {"floor_is_waived", group.floor_is_waived},
                     {"rolled_back", group.rolled_back},
                     {"deleting", group.deleting},
                     {"deleted", group.deleted},
                     {"launches", group.launches},
                     {"retries", group.retries},
                     {"arrivals", std::move(arrivals)},
                     {"orphans", std::move(orphans)},
                     {"troubles", std::move(troubles)}});
}

GroupRecord group_from_value(const Value& value) {
  GroupRecord group;
  group.name = GroupName{value.text_or("name")};
  group.status = group_status_from_name(value.text_or("status"));
  group.status_reason = value.text_or("status_reason");
  group.counts = {int_member(value, "target_count"), int_member(value, "min_count")};
  group.restore = {int_member(value, "restore_target_count"), int_member(value, "restore_min_count")};
  group.gathering = gathering_from_name(value.text_or("gathering"));
  group.gate_open = value.boolean_or("gate_open");
  group.created_at = time_member(value, "created_at");
  group.gate_opened_at = time_member(value, "gate_opened_at");
  group.gathering_since = time_member(value, "gathering_since");
  group.deadline = time_member(value, "deadline");
  group.idle_spent = Duration{value.integer_or("idle_spent")};
  group.floor_is_waived = value.boolean_or("floor_is_waived");
  group.rolled_back = value.text_or("rolled_back");
  group.deleting = value.text_or("deleting");
  group.deleted = value.boolean_or("deleted");
  group.launches = int_member(value, "launches");
  group.retries = int_member(value, "retries");
  for (const Value& arrival : value.list_or_empty("arrivals")) {
    if (arrival.as_integer()) group.arrivals.push_back(time_from_milliseconds(*arrival.as_integer()));
  }
  for (const Value& orphan : value.list_or_empty("orphans")) {
    group.orphans[InstanceId{orphan.text_or("instance")}] = {time_member(orphan, "since"), int_member(orphan, "tries"),
                                                             time_member(orphan, "retry_at")};
  }
  for (const Value& record : value.list_or_empty("troubles")) {
    LaunchTrouble trouble;
    trouble.failure = failure_class_from_name(record.text_or("failure", "none"));
    trouble.failures = int_member(record, "failures");
    trouble.failed_at = time_member(record, "failed_at");
    trouble.retry_at = time_member(record, "retry_at");
    trouble.probe = NodeName{record.text_or("probe")};
    trouble.stopped = record.boolean_or("stopped");
    trouble.problem = record.text_or("problem");
    group.troubles.emplace(record.text_or("instance_type"), std::move(trouble));
  }
  return group;
}

Value cluster_to_value(const ClusterRecord& cluster) {
  return Value::map({{"in_service_at", time_value(cluster.in_service_at)},
                     {"failure", cluster.failure},
                     {"deleting", cluster.deleting},
                     {"reconfigure_owed", cluster.reconfigure_owed},
                     {"reconfigured_at", time_value(cluster.reconfigured_at)},
                     {"reconfigures", std::int64_t{cluster.reconfigures}},
                     {"node_file_needs", cluster.node_file_needs}});
}

ClusterRecord cluster_from_value(const Value& value) {
  ClusterRecord cluster;
  cluster.in_service_at = time_member(value, "in_service_at");
  cluster.failure = value.text_or("failure");
  cluster.deleting = value.text_or("deleting");
  cluster.reconfigure_owed = value.boolean_or("reconfigure_owed");
  cluster.reconfigured_at = time_member(value, "reconfigured_at");
  cluster.reconfigures = int_member(value, "reconfigures");
  cluster.node_file_needs = value.text_or("node_file_needs");
  return cluster;
}

}  // namespace muster::logic
