// SPDX-License-Identifier: GPL-2.0-or-later
//
// What muster promises, checked on the simulated world itself: on machines, records and what was asked for, not on what
// the planner believes. It keeps its own small book of counts and deadlines for that, by HyperPod's MinCount table.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "simulator/world.hpp"

namespace muster::simulator {

enum class Promise {
  closed_until_open,  ///< never an undrained node in a group that is not yet open
  opened_when_ready,  ///< no node is opened before it is there and in shape
  others_untouched,   ///< never a touch on what is not ours
  ended_on_evidence,  ///< never a termination on absent or single data
  exact_deadlines,
  one_machine_a_slot,  ///< and none launched twice
  written_first,       ///< a decision is in the ledger before it is acted on
  independent_groups,
  counts_as_asked,
  converges,
};
std::string_view promise_name(Promise promise);

struct Breach {
  Promise promise = Promise::converges;
  logic::Time time = logic::no_time;
  std::string text;
};

class Promises : public HeadObserver {
 public:
  explicit Promises(World& world);

  const std::vector<Breach>& breaches() const { return breaches_; }
  /// Every so many passes each group is planned by itself and compared; 0 = never.
  void compare_groups_every(int passes) { compare_every_ = passes; }
  /// Everything that was asked for is there, and nothing else. Asked when all trouble is over.
  void check_end();
  /// Everything that was asked for is there: a world to stop at.
  bool has_converged() const;

  void saw_plan(const logic::Ledger& before, const logic::Seen& seen, const logic::Plan& plan) override;
  void before_action(const logic::Action& action) override;
  void after_action(const logic::Action& action, const logic::Status& outcome) override;
  void pass_ended(bool slurm_was_read) override;
  void saw_events(const std::vector<logic::Event>& events) override;
  void saw_list(const logic::GroupName& group, const logic::Seen::Machines& list) override;
  void saw_command(const logic::Command& command) override;
  void saw_file() override;
  void head_died() override;

 private:
  /// The book of one group.
  struct Book {
    logic::Counts counts;
    logic::Counts restore;
    bool gathers = true;  ///< for its first InService, or for a raised MinCount
    bool is_below_floor = false;
    logic::Time deadline = logic::no_time;
    logic::Time began_at = logic::no_time;
    int passes_below_floor = 0;
    bool floor_is_waived = false;  ///< opened by an operator, until it has been reached
  };
  struct Asked {
    logic::Wish wish = logic::Wish::keep;
    logic::Time at = logic::no_time;
  };
  /// What lists have shown of a machine.
  struct Sightings {
    logic::Time first_absent = logic::no_time;  ///< of the lists in a row that lacked it
    logic::Time last_absent = logic::no_time;
    logic::Time first_present = logic::no_time;
    logic::Time last_present = logic::no_time;
  };
  /// How far a machine is known to be.
  struct Progress {
    logic::Time answered_at = logic::no_time;  ///< the launch's answer was taken in
    logic::Time ready_at = logic::no_time;     ///< its noded had passed its checks
    logic::Time last_good = logic::no_time;    ///< it was what it should be
    bool is_given_up = false;                  ///< rightly, and so it is written
    bool is_being_ended = false;
  };

  void breach(Promise promise, const std::string& text);
  void note_groups();
  void set_counts(const logic::GroupName& group, const logic::Counts& counts);
  void note_asked(const std::vector<logic::NodeName>& names, logic::Wish wish);
  /// Whoever deletes a group names all that is in it.
  void waive_marks(const logic::GroupName& group);
  void note_progress();
  bool is_visibly_ready(const logic::GroupSpec& spec, const logic::NodeName& name) const;
  bool was_open_before(const logic::NodeName& name) const;
  int ready_nodes(const logic::GroupSpec& spec) const;
  bool is_good(const logic::GroupSpec& spec, const Machine& machine) const;
  bool may_be_open(const logic::GroupSpec& spec, const logic::NodeName& name);
  bool may_open(const logic::GroupSpec& spec);
  const logic::GroupSpec* group_of(const logic::NodeName& name) const;

  void note_verdict(const logic::GroupName& group, const logic::InstanceId& instance);
  void note_end_of_record(const logic::GroupName& group, const logic::NodeName& name);
  void check_ours(const logic::Action& action, const std::vector<logic::NodeName>& names);
  void check_undrain(const logic::UndrainNodes& action);
  void note_open(const logic::NodeName& name);
  void check_launch(const logic::LaunchMachine& action);
  void check_end_of_machine(const logic::TerminateMachine& action);
  std::string reason_to_end(const logic::GroupSpec& spec, const Machine& machine) const;
  bool is_asked_for(const Machine& machine) const;
  bool is_too_many(const logic::GroupSpec& spec, const Machine& machine) const;
  bool is_over_time(const logic::GroupSpec& spec, const Machine& machine) const;
  bool is_lost(const Machine& machine) const;
  bool is_orphan(const Machine& machine) const;
  void check_jobs_were_waited_for(const logic::GroupSpec& spec, const Machine& machine);

  void check_closed(bool after_pass);
  void check_floor(const logic::GroupSpec& spec);
  void check_marks();
  void check_deadlines();
  void check_counts();
  void check_independence(const logic::Ledger& before, const logic::Seen& seen, const logic::Plan& plan);
  std::vector<std::string> missing() const;
  std::vector<std::string> missing_of_group(const logic::GroupSpec& spec) const;
  std::vector<const Machine*> machines_of(const logic::GroupName& group) const;
  bool was_awake_since(logic::Time time) const { return awake_since_ != logic::no_time && awake_since_ <= time; }

  World& world_;
  std::vector<Breach> breaches_;
  std::map<logic::GroupName, Book> books_;
  std::map<logic::NodeName, Asked> asked_;
  std::map<logic::NodeName, logic::Time> requested_at_;  ///< the last reason "Action:..." that a pass saw
  std::map<logic::InstanceId, Sightings> sightings_;
  std::map<logic::InstanceId, Progress> progress_;
  std::set<logic::NodeName> opened_;                             ///< rightly, and not closed since
  std::map<logic::NodeName, logic::InstanceId> machine_opened_;  ///< what stood behind it then
  std::map<logic::NodeName, int> passes_left_open_;              ///< that somebody else opened
  std::map<logic::NodeName, int> passes_without_mark_;
  std::set<logic::LaunchToken> launched_;
  logic::Time awake_since_ = logic::no_time;       ///< passes have been made as they fall due since then
  logic::Time slurm_read_since_ = logic::no_time;  ///< and Slurm could be read in each
  int compare_every_ = 0;
  int passes_ = 0;
};

}  // namespace muster::simulator
