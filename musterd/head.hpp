// SPDX-License-Identifier: GPL-2.0-or-later
//
// The head: runs the pass (look, decide, write down, act) and holds the state that the HTTP interface shows. All on the
// loop's thread; what takes time is done by children with deadlines.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "logic/cluster_change.hpp"
#include "logic/commands.hpp"
#include "logic/head_state.hpp"
#include "musterd/ledger_store.hpp"
#include "musterd/provider_driver.hpp"
#include "musterd/role.hpp"
#include "musterd/settings.hpp"
#include "musterd/slurm_driver.hpp"
#include "sys/event_loop.hpp"
#include "sys/fd.hpp"

namespace muster::musterd {

/// What apply would do or did.
struct ApplyOutcome {
  std::vector<logic::GroupChange> changes;
  std::vector<std::string> warnings;
  std::vector<std::string> plan;  ///< what the next pass does, for people
};

/// What was seen afresh, and what follows.
struct ResyncOutcome {
  logic::Plan plan;
  std::map<logic::GroupName, std::string> failed;  ///< whose machines could not be listed, and why
  std::string message;                             ///< of what is tried again; empty for a dry run
};

class Head {
 public:
  static logic::Result<std::unique_ptr<Head>> create(sys::EventLoop& loop, const Settings& settings);

  /// Begins with passes.
  void start();

  const logic::HeadState& state() const { return state_; }
  const Settings& settings() const { return settings_; }
  /// The slot that a machine stands behind; nulls if there is none.
  struct SlotPlace {
    const logic::GroupSpec* spec = nullptr;
    const logic::SlotRecord* slot = nullptr;
  };
  SlotPlace find_slot(const logic::InstanceId& instance) const;

  /// Checks the file against itself and against Slurm; unless dry_run, takes it over. The answer comes on the loop.
  /// Nothing is changed if anything is wrong, or if Slurm has not answered before give_up_at.
  void apply(LedgerStore::AppliedFile file, bool dry_run, std::int64_t by, logic::Time give_up_at,
             std::function<void(logic::Result<ApplyOutcome>)> done);
  /// What a noded says; taken in with the next pass, which is at once if it is news.
  void take_report(logic::NodeReport report);
  /// A request of the machine's noded came in.
  void note_heard(const logic::InstanceId& instance, const std::string& boot_id);
  /// This boot belongs to another machine than the one whose id it says.
  bool is_refused(const logic::InstanceId& instance, const std::string& boot_id) const;
  /// Decides on a command and writes it down; what it asks for is done by the passes that follow. by is the caller's
  /// uid. The answer is the sentence for who asked.
  logic::Result<std::string> run_command(const logic::Command& command, std::int64_t by);
  /// What the next pass would do, by what was seen last.
  logic::Plan preview() const;
  /// Reads Slurm whole and lists the machines of all groups, then calls with the plan of what is seen; unless dry_run,
  /// what waits for another try is tried, and the plan is done. A list that does not come within its provider's
  /// call_timeout, or before give_up_at, has failed.
  void resync(bool dry_run, std::int64_t by, logic::Time give_up_at,
              std::function<void(logic::Result<ResyncOutcome>)> done);

  /// Reads Slurm's configuration now.
  void read_facts(std::function<void(logic::Result<logic::SlurmFacts>)> done) { slurm_.read_facts(std::move(done)); }
  /// Looks at Slurm now, and calls once that look is over (also when it failed).
  void look_then(std::function<void()> done);
  /// Called after each pass that changed the ledger or the events.
  void on_change(std::function<void()> callback) { changed_ = std::move(callback); }

 private:
  Head(sys::EventLoop& loop, Settings settings, std::unique_ptr<LedgerStore> store);
  logic::Status load();
  LedgerStore::EventLimits event_limits() const { return {settings_.event_keep, settings_.event_age}; }
  void forget_old_events();

  void request_pass();
  void begin_pass();
  void look_at_slurm();
  void settle_role(bool slurm_was_read);
  void begin_to_act();
  void stop_acting();
  void reload();
  void take_view(const SlurmDriver::View& view);
  void decide_and_act(bool slurm_was_read);
  void hold_the_gate(const logic::Plan& plan);
  void end_pass(bool again);
  void note_slurm(bool up, const std::string& trouble);
  void log_events(const std::vector<logic::StoredEvent>& events);
  void list_machines();
  void write_gate_table();
  logic::SeenNodeFile look_at_node_file() const;
  void write_node_file(const logic::WriteNodeFile& file);
  logic::Status confirm_ours();
  logic::Status note_store(const logic::Status& outcome);
  logic::Status commit(const logic::Ledger& after, const std::vector<logic::Event>& events,
                       const LedgerStore::AppliedFile* file = nullptr);
  logic::Seen look_at_all(bool slurm_was_read) const;
  void check_and_take(LedgerStore::AppliedFile file, logic::ClusterSpec spec, bool dry_run, std::int64_t by,
                      logic::Time give_up_at, std::function<void(logic::Result<ApplyOutcome>)> done);
  /// A look at everything that somebody asked for. Its lists are kept until all of them are there, so that what follows
  /// from them is decided at once and can be told.
  struct Resync {
    bool dry_run = false;
    std::int64_t by = 0;
    logic::Time begun_at = logic::no_time;
    logic::Time give_up_at = logic::no_time;
    bool has_looked = false;
    std::set<logic::GroupName> awaited;  ///< groups whose machines are still to be listed
    std::map<logic::GroupName, logic::Seen::Machines> lists;
    std::map<logic::GroupName, std::string> failed;
    std::function<void(logic::Result<ResyncOutcome>)> done;
    sys::EventLoop::Handle timer;
  };
  void take_list(const logic::GroupName& group, logic::Time asked_at,
                 logic::Result<std::vector<logic::SeenMachine>> machines);
  void note_list(Resync& resync, const logic::GroupName& group, logic::Time asked_at,
                 const logic::Result<std::vector<logic::SeenMachine>>& machines);
  void end_resyncs();
  void end_resync(Resync resync);
  /// A cluster that is to be deleted and has nothing left is forgotten: then it is as before the first apply.
  void end_deleted_cluster();
  void index_instances();

  sys::EventLoop& loop_;
  const Settings settings_;
  sys::Fd lock_;  ///< one musterd per host and state directory
  std::unique_ptr<LedgerStore> store_;
  Role role_;
  SlurmDriver slurm_;
  ProviderDriver providers_;
  logic::HeadState state_;
  std::vector<logic::Controller> controllers_;  ///< as of this pass; empty = not known
  logic::Seen inbox_;  ///< results and reports since the last commit, and the last lists of machines
  logic::Time listening_since_;
  std::unordered_map<logic::InstanceId, std::pair<logic::GroupName, std::size_t>> instances_;
  std::function<void()> changed_;

  std::uint64_t pass_number_ = 0;
  std::multimap<std::uint64_t, std::function<void()>> after_look_;  ///< by the pass whose look they wait for
  bool pass_runs_ = false;
  bool pass_wanted_ = false;
  int failed_passes_ = 0;
  std::string last_actions_text_;  ///< of the pass before, for people and for comparing
  logic::Time next_deadline_ = logic::no_time;
  logic::Time facts_read_at_ = logic::no_time;
  logic::Time gate_table_written_at_ = logic::no_time;
  std::string gate_table_body_;  ///< without its time
  std::string node_file_write_trouble_;
  std::map<logic::GroupName, logic::Time> listed_at_;
  std::list<Resync> resyncs_;
  sys::EventLoop::Handle timer_;
};

}  // namespace muster::musterd
