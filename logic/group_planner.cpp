// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/group_planner.hpp"

#include <algorithm>
#include <set>

#include "logic/field_reader.hpp"
#include "logic/launch_trouble.hpp"
#include "logic/retry_policy.hpp"
#include "logic/slot_rules.hpp"

namespace muster::logic {
namespace {

/// A machine that the provider does not list is gone only if a later list, so much later, lacks it too.
constexpr Duration second_look_after = std::chrono::seconds{5};
/// An idle noded asks once a minute.
constexpr Duration silence_proves_after = std::chrono::seconds{90};

/// A token that this very group made: "CLUSTER.NODE.TIME" with a name that it could make and a time since it was made.
/// One of an earlier group of that name, or of a ledger that was lost, is not ours.
bool is_token_of(const GroupSpec& spec, const std::string& cluster, Time created_at, const std::string& token) {
  const std::string begin = cluster + "." + spec.node_prefix;
  if (token.compare(0, begin.size(), begin) != 0) return false;
  const std::string rest = token.substr(begin.size());
  const std::size_t dot = rest.find('.');
  const auto is_number = [](const std::string& text) {
    return !text.empty() && text.size() < 16 && text.find_first_not_of("0123456789") == std::string::npos;
  };
  return dot != std::string::npos && is_number(rest.substr(0, dot)) && is_number(rest.substr(dot + 1)) &&
         std::stoll(rest.substr(dot + 1)) >= to_milliseconds(created_at);
}

}  // namespace

// ---- The pass ----

GroupPlanner::GroupPlanner(const GroupSpec& spec, const ProviderSpec& provider, const std::string& cluster,
                           const Seen& seen, const GroupMail& mail, bool may_launch, Time now, GroupRecord& group,
                           Plan& plan)
    : spec_(spec),
      provider_(provider),
      cluster_(cluster),
      wanted_gres_(gres_text(spec.gres)),
      seen_(seen),
      mail_(mail),
      may_launch_(may_launch),
      now_(now),
      group_(group),
      plan_(plan) {}

void GroupPlanner::run() {
  const int ready_before = ready_count(group_);
  begin_group();
  take_mail();
  take_list();
  plan_size();
  launches_under_way_ =
      static_cast<int>(std::count_if(group_.slots.begin(), group_.slots.end(),
                                     [](const SlotRecord& slot) { return slot.state == SlotState::launching; }));
  if (spec_.joins_slurm()) {
    for (SlotRecord& slot : group_.slots) plan_record(slot);
  }
  for (SlotRecord& slot : group_.slots) plan_machine(slot);
  plan_gate();
  put_reasons_back();
  forget_departed();
  tell_status();
  emit_batches();
  const int ready = ready_count(group_);
  if (ready_before < ready && ready == group_.counts.target) {
    event(EventLevel::info, "TargetReached", nullptr, "all " + std::to_string(ready) + " nodes are ready");
  }
}

void GroupPlanner::begin_group() {
  if (!group_.name.empty()) return;
  group_ = new_group(spec_, now_, plan_.events);
}

GroupRecord new_group(const GroupSpec& spec, Time now, std::vector<Event>& events) {
  GroupRecord group;
  group.name = spec.name;
  group.created_at = now;
  group.counts = {spec.target_count, spec.min_count};
  group.gathering_since = now;
  group.deadline = now + spec.deadline;
  Event event;
  event.kind = "GroupCreating";
  event.group = spec.name;
  event.text = "target " + std::to_string(spec.target_count) + ", MinCount " + std::to_string(spec.min_count) +
               ", deadline in " + duration_text(spec.deadline);
  events.push_back(std::move(event));
  return group;
}

void GroupPlanner::take_mail() {
  if (mail_.launch_results.empty() && mail_.terminate_results.empty() && mail_.reboot_results.empty() &&
      mail_.reports.empty())
    return;
  std::unordered_map<LaunchToken, SlotRecord*> by_token;
  for (SlotRecord& slot : group_.slots) {
    if (!slot.token.empty()) by_token.emplace(slot.token, &slot);
  }
  for (const LaunchResult* result : mail_.launch_results) {
    if (const auto slot = by_token.find(result->token); slot != by_token.end())
      take_launch_result(*slot->second, *result);
  }
  std::unordered_map<InstanceId, SlotRecord*> by_instance;
  for (SlotRecord& slot : group_.slots) {
    if (!slot.instance.empty()) by_instance.emplace(slot.instance, &slot);
  }
  for (const TerminateResult* result : mail_.terminate_results) {
    if (const auto slot = by_instance.find(result->instance); slot != by_instance.end())
      take_terminate_result(*slot->second, *result);
    else
      note_orphan_that_stays(*result);
  }
  for (const RebootResult* result : mail_.reboot_results) {
    if (const auto slot = by_instance.find(result->instance); slot != by_instance.end())
      take_reboot_result(*slot->second, *result);
  }
  for (const NodeReport* report : mail_.reports) {
    if (const auto slot = by_instance.find(report->instance); slot != by_instance.end())
      take_report(*slot->second, *report);
  }
}

void GroupPlanner::take_launch_result(SlotRecord& slot, const LaunchResult& result) {
  if (slot.state != SlotState::launching || slot.token != result.token) return;  // an answer that came too late
  if (result.failure == FailureClass::none) {
    if (const std::string holder = holder_of(result.instance, slot); !holder.empty()) {
      // To take it would be to end that node's machine some day.
      fail_attempt(slot, FailureClass::configuration,
                   "the provider answered with machine " + result.instance.str() + ", which stands behind " + holder,
                   false);
      return;
    }
    slot.instance = result.instance;
    slot.address = result.address;
    slot.launched_at = now_;
    slot.missing_since = no_time;
    slot.retry_at = no_time;
    note_type_success(group_, slot, false);
    ++slot.generation;
    move_to(slot, SlotState::booting, spec_.boot_timeout);
    event(EventLevel::info, "MachineLaunched", &slot,
          "attempt " + std::to_string(slot.attempt) + " accepted by provider " + spec_.provider);
    return;
  }
  if (result.outcome_unknown) {
    // The machine may exist: the same token again, which the provider answers with the same machine.
    note_problem(slot, result.failure, result.message);
    slot.retry_at = now_ + retry_delay(result.failure, slot.failures, slot.name.str());
    event(EventLevel::warn, "LaunchUnknown", &slot,
          "attempt " + std::to_string(slot.attempt) + ": " + result.message +
              (asks_again(slot) ? "; asked again with the same token in " + duration_text(slot.retry_at - now_)
                                : "; a list of " + duration_text(answer_known_by(slot) - now_) +
                                      " from now shows whether a machine exists"));
    return;
  }
  fail_attempt(slot, result.failure, result.message, false);
}

std::string GroupPlanner::holder_of(const InstanceId& instance, const SlotRecord& slot) const {
  if (const auto taken = mail_.taken_instances.find(instance); taken != mail_.taken_instances.end()) {
    if (taken->second != slot.name) return taken->second.str();
  }
  for (const SlotRecord& other : group_.slots) {
    if (other.instance == instance && other.name != slot.name) return other.name.str();
  }
  return "";
}

void GroupPlanner::take_terminate_result(SlotRecord& slot, const TerminateResult& result) {
  if (slot.state != SlotState::terminating || slot.instance != result.instance) return;
  if (!result.ok) {
    slot.retry_at = now_ + retry_delay(FailureClass::transient, ++slot.failures, slot.name.str());
    event(EventLevel::warn, "TerminateFailed", &slot,
          result.message + "; tried again in " + duration_text(slot.retry_at - now_));
    return;
  }
  event(EventLevel::info, "MachineTerminated", &slot, "the machine is gone");
  forget_machine(slot);
  move_to(slot, SlotState::waiting);
}

void GroupPlanner::note_orphan_that_stays(const TerminateResult& result) {
  const auto orphan = group_.orphans.find(result.instance);
  if (result.ok || orphan == group_.orphans.end() || orphan->second.tries != 1) return;  // told once
  Event told;
  told.level = EventLevel::error;
  told.kind = "OrphanNotEnded";
  told.group = spec_.name;
  told.instance = result.instance;
  told.text = "machine " + result.instance.str() + " cannot be ended: " + result.message +
              "; it is tried again, more and more seldom";
  plan_.events.push_back(std::move(told));
}

void GroupPlanner::take_reboot_result(SlotRecord& slot, const RebootResult& result) {
  if (slot.state != SlotState::rebooting) return;
  if (result.ok) {
    // From now on its boot id tells.
    slot.retry_at = slot.deadline;
    return;
  }
  event(EventLevel::error, "RebootRefused", &slot, result.message + "; the node is registered again as it is");
  end_reboot_wish(slot);
  move_to(slot, SlotState::booting, spec_.boot_timeout);
}

/// Somebody may have asked for more since.
void GroupPlanner::end_reboot_wish(SlotRecord& slot) {
  if (slot.wish != Wish::reboot) return;
  slot.wish = Wish::keep;
  slot.wish_reason.clear();
}

void GroupPlanner::take_report(SlotRecord& slot, const NodeReport& report) {
  if (slot.state == SlotState::waiting || slot.state == SlotState::launching || slot.state == SlotState::terminating)
    return;
  if (!report.boot_id.empty() && report.boot_id == slot.refused_boot_id) return;
  if (!report.boot_id.empty() && report.boot_id == slot.earlier_boot_id) refuse_rival(slot);
  const bool is_other_boot = !slot.boot_id.empty() && !report.boot_id.empty() && slot.boot_id != report.boot_id;
  // A machine that had not been heard before its reboot has no boot id to compare with.
  const bool is_first_boot_heard = slot.boot_id.empty() && slot.retry_at == slot.deadline;
  if (slot.state == SlotState::rebooting && (is_other_boot || is_first_boot_heard)) {
    event(EventLevel::info, "MachineRebooted", &slot, "as it was asked for; it is checked and registered again");
    end_reboot_wish(slot);
    slot.retry_at = no_time;
    move_to(slot, SlotState::booting, spec_.boot_timeout);
  } else if (is_other_boot && (slot.slurmd_start > 0 || was_registered(slot))) {
    event(EventLevel::warn, "MachineRebooted", &slot, "its boot id changed; it is checked and registered again");
    slot.node_slurmd_start = 0;
    slot.node_slurmd_alive = false;
    if (slot.state != SlotState::booting) move_to(slot, SlotState::booting, spec_.boot_timeout);
  }
  if (is_other_boot) {
    // Whoever still waits for news of the earlier boot is answered, and so shows that it is alive.
    slot.earlier_boot_id = slot.boot_id;
    ++slot.generation;
  }
  if (!report.boot_id.empty()) slot.boot_id = report.boot_id;
  if (!report.address.empty()) slot.address = report.address;
  if (report.step == NodeStep::failed && slot.node_step != step_name(NodeStep::failed))
    event(EventLevel::warn, "NodeNotReady", &slot, report.message);
  slot.node_step = step_name(report.step);
  slot.node_message = report.message;
  slot.node_slurmd_start = static_cast<int>(report.slurmd_start);
  slot.node_slurmd_alive = report.slurmd_alive;
  slot.checks = report.checks;
}

// A boot that was taken to be over reports again: it was no reboot, but another machine with the same instance id,
// cloned together with its identity. The one that was there first keeps the node.
void GroupPlanner::refuse_rival(SlotRecord& slot) {
  event(EventLevel::error, "IdentityClaimedTwice", &slot,
        "another machine, at " + slot.address + ", reports under the id of this node's machine, " +
            slot.instance.str() + "; it is refused");
  slot.refused_boot_id = slot.boot_id;
  slot.boot_id = slot.earlier_boot_id;
  slot.earlier_boot_id.clear();
  ++slot.generation;
}

// A machine that carries a token of this group, but of an attempt that is over: its launch was taken for failed, or its
// answer was lost in a crash. Or a second one of a present attempt, from a provider that is not idempotent after all:
// that it is one too many shows in a list that has the node's own machine, too. Seen in two lists, it is ended.
void GroupPlanner::end_orphans(const Seen::Machines& list) {
  std::unordered_map<LaunchToken, const SlotRecord*> by_token;
  std::unordered_map<InstanceId, const SlotRecord*> by_instance;
  for (const SlotRecord& slot : group_.slots) {
    if (!slot.token.empty()) by_token.emplace(slot.token, &slot);
    if (!slot.instance.empty()) by_instance.emplace(slot.instance, &slot);
  }
  const auto is_over = [](const SeenMachine& machine) {
    return machine.state == "terminated" || machine.state == "stopping";
  };
  std::set<InstanceId> listed;
  for (const SeenMachine& machine : list.machines) {
    if (!is_over(machine)) listed.insert(machine.instance);
  }
  std::map<InstanceId, Orphan> orphans;
  for (const SeenMachine& machine : list.machines) {
    if (is_over(machine) || by_instance.count(machine.instance) > 0) continue;
    const auto attempt = by_token.find(machine.token);
    const bool is_twin = attempt != by_token.end() && listed.count(attempt->second->instance) > 0;
    if (attempt != by_token.end() && !is_twin) continue;
    const std::string& token = machine.token.str();
    if (!is_token_of(spec_, cluster_, group_.created_at, token)) continue;
    const auto known = group_.orphans.find(machine.instance);
    Orphan& orphan = orphans[machine.instance];
    if (known != group_.orphans.end()) orphan = known->second;
    if (orphan.since == no_time) orphan.since = list.listed_at;
    if (list.listed_at < orphan.since + second_look_after || now_ < orphan.retry_at ||
        seen_.terminations_in_flight.count(machine.instance) > 0)
      continue;
    orphan.retry_at = now_ + retry_delay(FailureClass::transient, ++orphan.tries, machine.instance.str());
    Event told;
    told.level = EventLevel::warn;
    told.kind = "OrphanEnded";
    told.group = spec_.name;
    told.node = NodeName{token.substr(cluster_.size() + 1, token.rfind('.') - cluster_.size() - 1)};
    told.instance = machine.instance;
    told.text = "machine " + machine.instance.str() + " is " +
                (is_twin ? "a second one of this launch" : "of an earlier attempt") + " (" + token + ") and is ended";
    machine_actions_.emplace_back(TerminateMachine{spec_.name, told.node, machine.instance, machine.token});
    if (orphan.tries == 1) plan_.events.push_back(std::move(told));
  }
  group_.orphans = std::move(orphans);
}

bool GroupPlanner::is_heard_or_seen(const SlotRecord& slot) const {
  const SeenNode* node = seen_node(slot);
  const bool answers = node && answers_slurm(*node);
  if (!seen_.heard_at) return answers;
  const auto heard = seen_.heard_at->find(slot.instance);
  const bool was_heard = heard != seen_.heard_at->end();
  const Time last = was_heard ? std::max(heard->second, seen_.listening_since) : seen_.listening_since;
  if (now_ - last < silence_proves_after) return true;
  // Slurm is slow to notice (SlurmdTimeout): where noded has spoken before, its silence is enough.
  return answers && !was_heard;
}

// One list without a machine proves nothing, and neither do many: a provider may lag, fail or lie. A second witness is
// needed, its silence.
void GroupPlanner::take_absence(SlotRecord& slot, const Seen::Machines& list) {
  if (slot.missing_since == no_time) {
    slot.missing_since = list.listed_at;
    return;
  }
  if (list.listed_at < slot.missing_since + second_look_after) return;
  if (is_heard_or_seen(slot)) {
    const std::string text = "the provider does not list machine " + slot.instance.str() + ", but it answers";
    if (slot.last_problem == text) return;
    slot.last_problem = text;
    slot.last_problem_at = now_;
    event(EventLevel::warn, "ListContradicted", &slot, text + "; it is left alone");
    return;
  }
  fail_attempt(slot, FailureClass::lost, "the provider no longer lists machine " + slot.instance.str(), true);
}

void GroupPlanner::take_list() {
  const auto found = seen_.machines.find(spec_.name);
  if (found == seen_.machines.end()) return;
  const Seen::Machines& list = found->second;
  end_orphans(list);
  std::unordered_map<LaunchToken, const SeenMachine*> by_token;
  for (const SeenMachine& machine : list.machines) by_token.emplace(machine.token, &machine);
  for (SlotRecord& slot : group_.slots) {
    if (slot.token.empty()) continue;
    const auto entry = by_token.find(slot.token);
    const bool is_there = entry != by_token.end() && entry->second->state != "terminated";
    if (slot.state == SlotState::launching && is_there && seen_.launches_in_flight.count(slot.token) == 0) {
      // Launched, but the answer was lost: take the machine back.
      LaunchResult adopted;
      adopted.token = slot.token;
      adopted.instance = entry->second->instance;
      adopted.address = entry->second->address;
      take_launch_result(slot, adopted);
      continue;
    }
    if (slot.state == SlotState::launching && !asks_again(slot) && seen_.launches_in_flight.count(slot.token) == 0 &&
        list.listed_at >= answer_known_by(slot)) {
      fail_attempt(slot, FailureClass::transient,
                   "the launch was not answered, and the provider lists no machine of it", false);
      continue;
    }
    if (slot.instance.empty() || slot.state == SlotState::terminating || slot.state == SlotState::waiting) continue;
    if (list.listed_at <= slot.launched_at + provider_.list_lag) continue;  // lists lag: too early to miss it
    if (is_there) {
      slot.missing_since = no_time;
    } else {
      take_absence(slot, list);
    }
  }
}

// ---- Helpers ----

const SeenNode* GroupPlanner::seen_node(const SlotRecord& slot) const {
  if (!seen_.nodes) return nullptr;
  const auto node = seen_.nodes->find(slot.name);
  return node == seen_.nodes->end() ? nullptr : &node->second;
}

void GroupPlanner::move_to(SlotRecord& slot, SlotState state, Duration limit) {
  slot.state = state;
  slot.state_since = now_;
  slot.deadline = limit.count() > 0 ? now_ + limit : no_time;
}

void GroupPlanner::fall_due(Time time) {
  if (time > now_ && (plan_.next_deadline == no_time || time < plan_.next_deadline)) plan_.next_deadline = time;
}

void GroupPlanner::event(EventLevel level, const char* kind, const SlotRecord* slot, const std::string& text) {
  Event event;
  event.level = level;
  event.kind = kind;
  event.group = spec_.name;
  if (slot) {
    event.node = slot->name;
    event.instance = slot->instance;
  }
  event.text = text;
  plan_.events.push_back(std::move(event));
}

void GroupPlanner::emit_batches() {
  if (!closed_again_.empty()) {
    event(EventLevel::warn, "NodesClosedAgain", nullptr,
          "somebody opened " + names_text(closed_again_) +
              (group_.gate_open ? " before it was ready; closed again"
                                : " while the group gathers; closed again (the deliberate way is: muster open " +
                                      spec_.name.str() + ")"));
  }
  if (!damaged_records_.empty()) {
    event(EventLevel::warn, "RecordsDamaged", nullptr,
          "the records of " + names_text(damaged_records_) + " are not as they were made (" + gres_text(spec_.gres) +
              " is missing, as after a restart of slurmctld); they are made again");
  }
  if (!lost_records_.empty()) {
    event(EventLevel::warn, "RecordsLost", nullptr,
          "Slurm has lost the records of " + names_text(lost_records_) + "; they are made again");
  }
  // Closing first: whatever else a pass does, it never leaves a node open for longer than it must.
  for (auto& [reason, names] : drain_) plan_.actions.emplace_back(DrainNodes{spec_.name, std::move(names), reason});
  if (!to_future_.empty()) plan_.actions.emplace_back(ReturnToFuture{spec_.name, std::move(to_future_)});
  if (!delete_.empty()) plan_.actions.emplace_back(DeleteRecords{spec_.name, std::move(delete_)});
  if (!create_.empty())
    plan_.actions.emplace_back(CreateRecords{
        spec_.name, std::move(create_),
        node_conf(spec_) + " NodeAddr=" + placeholder_address +
            (seen_.slurm_takes_topology && !spec_.topology.empty() ? " Topology=" + spec_.topology : "")});
  if (!addresses_.names.empty()) {
    addresses_.group = spec_.name;
    plan_.actions.emplace_back(std::move(addresses_));
  }
  for (auto& [are_idle, names] : undrain_)
    plan_.actions.emplace_back(UndrainNodes{spec_.name, std::move(names), are_idle});
  if (!resume_.empty()) plan_.actions.emplace_back(ResumeNodes{spec_.name, std::move(resume_)});
  for (Action& action : machine_actions_) plan_.actions.push_back(std::move(action));
}

}  // namespace muster::logic
