// SPDX-License-Identifier: GPL-2.0-or-later
//
// musterd in virtual time: the real planner, called as musterd calls it (after each thing that came in, when something
// falls due, and at an interval); the ledger is written before anything is done, calls of the provider have lanes and
// deadlines. It can die at any moment and starts with what the ledger says.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "logic/commands.hpp"
#include "logic/gate_table.hpp"
#include "logic/plan.hpp"
#include "simulator/event_queue.hpp"
#include "simulator/machine.hpp"
#include "simulator/provider.hpp"
#include "simulator/slurm.hpp"

namespace muster::simulator {

struct HeadSettings {
  logic::Duration pass_interval{std::chrono::seconds{2}};
  logic::Duration call_time{0};    ///< a call of Slurm takes this
  logic::Duration record_time{0};  ///< and this for every thousand records
  bool passes_on_grid = false;     ///< only at multiples of the interval, so that no event anywhere moves a pass
};

/// Watches what the head does. Actions are told one by one, before and after.
class HeadObserver {
 public:
  virtual ~HeadObserver() = default;
  virtual void saw_plan(const logic::Ledger& before, const logic::Seen& seen, const logic::Plan& plan) {
    (void)before, (void)seen, (void)plan;
  }
  virtual void before_action(const logic::Action& action) { (void)action; }
  virtual void after_action(const logic::Action& action, const logic::Status& outcome) { (void)action, (void)outcome; }
  virtual void pass_ended(bool slurm_was_read) { (void)slurm_was_read; }
  virtual void saw_events(const std::vector<logic::Event>& events) { (void)events; }
  virtual void saw_list(const logic::GroupName& group, const logic::Seen::Machines& list) { (void)group, (void)list; }
  virtual void saw_command(const logic::Command& command) { (void)command; }
  virtual void saw_file() {}
  virtual void head_died() {}
};

struct HeadCounts {
  std::int64_t passes = 0;
  std::int64_t slurm_calls = 0;
  std::int64_t provider_calls = 0;
  int deaths = 0;
};

class SimulatedHead : public HeadDoor {
 public:
  using Planner =
      std::function<logic::Plan(const logic::ClusterSpec&, const logic::Ledger&, const logic::Seen&, logic::Time)>;
  using Providers = std::map<std::string, std::unique_ptr<SimulatedProvider>>;

  SimulatedHead(EventQueue& clock, SimulatedSlurm& slurm, Providers& providers, MachinePark& machines,
                HeadSettings settings);

  void observe(HeadObserver* observer) { observers_.push_back(observer); }
  /// Instead of logic::plan.
  void plan_with(Planner planner) { planner_ = std::move(planner); }
  /// Asked, where there is something to write or to do, before the ledger is written, after it, and after each action;
  /// true: it dies there.
  void die_when(std::function<bool()> dies) { dies_ = std::move(dies); }
  /// The disk says "written", but forgets when the head dies.
  void lie_about_writing(bool yes) { disk_lies_ = yes; }

  /// The cluster file was applied before it starts.
  void install(std::shared_ptr<const logic::ClusterSpec> spec) { spec_ = std::move(spec); }
  void start();
  /// It dies and is started again after a while.
  void die(logic::Duration away);
  bool is_running() const { return running_; }

  logic::Status run_command(const logic::Command& command);
  logic::Status apply(std::shared_ptr<const logic::ClusterSpec> spec);

  const logic::Ledger& ledger() const { return *ledger_; }
  const logic::Ledger& written() const { return *written_; }
  const Planner& planner() const { return planner_; }
  const logic::ClusterSpec& spec() const { return *spec_; }
  const HeadCounts& counts() const { return counts_; }
  logic::GateTable gate_table() const;

  std::optional<logic::Assignment> sync(const logic::NodeReport& report) override;
  /// Every noded that has a request open asks again about once a minute.
  void hear_everybody();

 private:
  struct Call {
    logic::LaunchToken launch;
    logic::InstanceId termination;
    logic::InstanceId reboot;
    bool is_list = false;
    std::function<void(std::uint64_t number)> begin;
    std::function<void(std::uint64_t number)> timed_out;
  };
  struct Lane {
    std::deque<Call> queue;
    std::map<std::uint64_t, Call> running;
    bool listing = false;
  };

  void request_pass();
  void pass_at(logic::Time time);
  void begin_pass();
  void take_view(bool was_read);
  logic::Seen look_at_all(bool slurm_was_read) const;
  void decide_and_act(bool slurm_was_read);
  void commit(std::shared_ptr<const logic::Ledger> after, const std::vector<logic::Event>& events);
  void wake_machines(const logic::Ledger& before, const logic::Ledger& after);
  void wake_group(const logic::GroupRecord* before, const logic::GroupRecord* after);
  void wake(const logic::InstanceId& instance);
  void index_group(const logic::GroupRecord& group);
  void act(const std::shared_ptr<std::vector<logic::Action>>& actions, std::size_t next, bool again, bool was_read);
  logic::Status do_action(const logic::Action& action);
  logic::Duration time_of(const logic::Action& action) const;
  void end_pass(bool again, bool was_read);
  bool dies_here();

  void list_machines();
  void enqueue(const logic::GroupName& group, Call call);
  void start_next(const logic::GroupName& group, Lane& lane);
  bool take_off(const logic::GroupName& group, std::uint64_t number);
  template <typename Result>
  void call_provider(const logic::GroupName& group, Call call,
                     std::function<void(SimulatedProvider&, std::function<void(Result)>)> ask, Result when_timed_out,
                     std::vector<Result>& inbox);
  SimulatedProvider* provider_of(const logic::GroupSpec& group);
  const logic::SlotRecord* find_slot(const logic::InstanceId& instance, const logic::GroupSpec** spec) const;

  EventQueue& clock_;
  SimulatedSlurm& slurm_;
  Providers& providers_;
  MachinePark& machines_;
  const HeadSettings settings_;
  std::vector<HeadObserver*> observers_;
  Planner planner_ = logic::plan;
  std::function<bool()> dies_;
  bool disk_lies_ = false;

  // On disk.
  std::shared_ptr<const logic::Ledger> written_ = std::make_shared<logic::Ledger>();
  std::shared_ptr<const logic::ClusterSpec> spec_;

  // In memory.
  bool running_ = false;
  std::uint64_t life_ = 0;  ///< what an earlier life began is not heard of any more
  std::shared_ptr<const logic::Ledger> ledger_ = written_;
  logic::Seen inbox_;
  std::map<logic::GroupName, Lane> lanes_;
  std::unordered_map<logic::InstanceId, logic::Time> heard_at_;
  logic::Time listening_since_ = logic::no_time;
  std::unordered_map<logic::InstanceId, std::pair<logic::GroupName, std::size_t>> instances_;
  std::map<logic::GroupName, logic::Time> listed_at_;
  bool pass_runs_ = false;
  bool pass_wanted_ = false;
  std::uint64_t timer_ = 0;
  int failed_passes_ = 0;
  std::string last_actions_text_;
  logic::Time passed_at_ = logic::no_time;
  int passes_now_ = 0;  ///< since time last went on
  logic::Time next_deadline_ = logic::no_time;
  std::uint64_t next_call_ = 1;

  // The gate table's file.
  logic::Time table_written_at_ = logic::no_time;
  std::optional<logic::GateTable> table_of_the_dead_;

  HeadCounts counts_;
};

}  // namespace muster::simulator
