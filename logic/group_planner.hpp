// SPDX-License-Identifier: GPL-2.0-or-later
//
// Plans one group: its records in Slurm, its machines, its gate. Part of plan(); knows nothing of other groups.
//
// The order of a pass: take in what happened, bring the number of slots to the target, each slot's record to what it
// should be, move machines on, open the gate. Each rule stands in one member function.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "logic/departure.hpp"
#include "logic/plan.hpp"

namespace muster::logic {

/// What came in for one group since the last pass.
struct GroupMail {
  std::vector<const LaunchResult*> launch_results;
  std::vector<const TerminateResult*> terminate_results;
  std::vector<const RebootResult*> reboot_results;
  std::vector<const NodeReport*> reports;
  std::unordered_map<InstanceId, NodeName> taken_instances;  ///< of all groups; filled where a launch was answered
};

class GroupPlanner {
 public:
  /// may_launch is false while groups that come first are not there (HyperPod: controllers, then the others).
  GroupPlanner(const GroupSpec& spec, const ProviderSpec& provider, const std::string& cluster, const Seen& seen,
               const GroupMail& mail, bool may_launch, Time now, GroupRecord& group, Plan& plan);
  void run();

 private:
  // Taking in what happened (group_planner.cpp).
  void begin_group();
  void take_launch_result(SlotRecord& slot, const LaunchResult& result);
  void take_terminate_result(SlotRecord& slot, const TerminateResult& result);
  void note_orphan_that_stays(const TerminateResult& result);
  void take_reboot_result(SlotRecord& slot, const RebootResult& result);
  static void end_reboot_wish(SlotRecord& slot);
  void take_report(SlotRecord& slot, const NodeReport& report);
  void refuse_rival(SlotRecord& slot);
  void take_mail();
  void take_list();
  void take_absence(SlotRecord& slot, const Seen::Machines& list);
  void end_orphans(const Seen::Machines& list);
  std::string holder_of(const InstanceId& instance, const SlotRecord& slot) const;
  bool is_heard_or_seen(const SlotRecord& slot) const;

  // How many slots there are, and who goes (group_size.cpp).
  void plan_size();
  void take_back(int number);
  void add_slots(int number);
  void send_away(int number);
  void forget_departed();

  // One slot's record in Slurm (group_records.cpp).
  void plan_record(SlotRecord& slot);
  void plan_address(const SlotRecord& slot, const SeenNode& node);
  void plan_listed_record(SlotRecord& slot);
  void note_taken_name(SlotRecord& slot);
  bool may_prune(const SlotRecord& slot, const SeenNode& node);
  void note_foreign_drain(SlotRecord& slot, const SeenNode& node);
  void note_asked_action(SlotRecord& slot, const SeenNode& node);
  bool mend_gres(SlotRecord& slot, const SeenNode& node);
  void keep_closed(SlotRecord& slot, const SeenNode& node);
  void keep_open(SlotRecord& slot, const SeenNode& node);
  void put_reasons_back();
  void undrain(const SlotRecord& slot, const SeenNode& node);
  void registration_lost(SlotRecord& slot, const std::string& how);
  std::string closing_reason(const SlotRecord& slot) const;

  // One slot's machine (group_machines.cpp).
  void plan_machine(SlotRecord& slot);
  void step_machine(SlotRecord& slot);
  void plan_waiting(SlotRecord& slot, const SeenNode* node);
  void plan_launching(SlotRecord& slot);
  void plan_booting(SlotRecord& slot, const SeenNode* node);
  void plan_registering(SlotRecord& slot, const SeenNode* node);
  void plan_in_slurm(SlotRecord& slot, const SeenNode* node);
  void plan_rebooting(SlotRecord& slot);
  bool is_overdue(const SlotRecord& slot);
  bool is_somebody_elses(const SlotRecord& slot) const;
  void keep_after_all(SlotRecord& slot);
  void wait_for_slurm(SlotRecord& slot);
  void plan_leaving(SlotRecord& slot, const SeenNode* node);
  void become_ready(SlotRecord& slot);
  void fail_attempt(SlotRecord& slot, FailureClass failure, const std::string& problem, bool machine_exists);
  void note_problem(SlotRecord& slot, FailureClass failure, const std::string& problem);
  void forget_machine(SlotRecord& slot);
  bool asks_again(const SlotRecord& slot) const;
  Time answer_known_by(const SlotRecord& slot) const;
  bool is_slot_prepared(const SlotRecord& slot, const SeenNode* node) const;

  // The gate (group_gate.cpp).
  void plan_gate();
  void keep_floor();
  int count_usable() const;
  void end_gathering(const char* kind, const std::string& why);
  void roll_back(const std::string& why);
  void open_ready_nodes();
  void tell_status();

  // Helpers.
  const SeenNode* seen_node(const SlotRecord& slot) const;
  void move_to(SlotRecord& slot, SlotState state, Duration limit = Duration{0});
  void fall_due(Time time);
  void event(EventLevel level, const char* kind, const SlotRecord* slot, const std::string& text);
  void emit_batches();

  const GroupSpec& spec_;
  const ProviderSpec& provider_;
  const std::string& cluster_;
  const std::string wanted_gres_;
  const Seen& seen_;
  const GroupMail& mail_;
  const bool may_launch_;
  const Time now_;
  GroupRecord& group_;
  Plan& plan_;
  int launches_under_way_ = 0;

  // Batches of this pass: one call each, whatever the number of nodes.
  std::vector<NodeName> create_;
  std::vector<NodeName> delete_;
  std::map<std::string, std::vector<NodeName>> drain_;  ///< by reason
  std::vector<const SlotRecord*> without_reason_;       ///< drained by us, but the record does not say so
  std::map<bool, std::vector<NodeName>> undrain_;       ///< by whether they are idle
  std::vector<NodeName> resume_;
  std::vector<NodeName> to_future_;
  SetAddresses addresses_;
  std::vector<NodeName> closed_again_;  ///< somebody opened them while the group gathers
  std::vector<NodeName> lost_records_;
  std::vector<NodeName> damaged_records_;
  std::vector<Action> machine_actions_;
};

/// A group as it begins, and the event that tells so.
GroupRecord new_group(const GroupSpec& spec, Time now, std::vector<Event>& events);
/// Node time of machines that wait behind the closed gate, in the present gathering.
Duration idle_node_time(const GroupRecord& group, Time now);

}  // namespace muster::logic
