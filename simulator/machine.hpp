// SPDX-License-Identifier: GPL-2.0-or-later
//
// A machine of the simulated provider: it boots (or does not), runs noded's own steps (logic/node_steps) and a slurmd,
// and may be cut off, restarted or lost.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "logic/cluster_spec.hpp"
#include "logic/node_steps.hpp"
#include "simulator/chance.hpp"
#include "simulator/event_queue.hpp"
#include "simulator/slurm.hpp"

namespace muster::simulator {

/// What is wrong with a machine from its birth.
struct MachineFaults {
  bool never_boots = false;
  bool lacks_devices = false;  ///< noded's own checks find it out
  bool is_rejected = false;    ///< slurmd finds fewer devices than its --conf says; noded does not look
  bool slurmd_ends = false;    ///< at once, each time
};

/// musterd as a noded meets it.
class HeadDoor {
 public:
  virtual ~HeadDoor() = default;
  /// A request of noded; none: musterd does not answer.
  virtual std::optional<logic::Assignment> sync(const logic::NodeReport& report) = 0;
};

class Machine {
 public:
  struct Origin {
    logic::InstanceId id;
    logic::LaunchToken token;
    logic::GroupName group;
    logic::NodeName name;  ///< that it was launched for
    std::string type;
    std::string address;
    logic::Time made_at = logic::no_time;
    Spread boot_time;
    MachineFaults faults;
  };
  struct Surroundings {
    EventQueue& clock;
    const Chance& chance;
    SimulatedSlurm& slurm;
    HeadDoor& head;
  };
  Machine(Origin origin, const logic::GroupSpec& shape, Surroundings around);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const Origin& origin() const { return origin_; }
  bool exists() const { return exists_; }
  logic::Time ended_at() const { return ended_at_; }

  /// Power on; also after a restart.
  void boot();
  /// It is gone for good.
  void end();
  /// Cut off from musterd and slurmctld, or no longer.
  void cut_off(bool yes);
  bool is_cut_off() const { return is_cut_off_; }
  /// Its noded has a request open at musterd, which is answered as soon as there is news.
  bool is_listening() const { return exists_ && is_up_ && !is_cut_off_ && listening_; }
  /// The assignment has changed, or musterd has closed the request.
  void wake();
  void wake_when_head_is_back();
  std::int64_t known_generation() const { return view_.assignment ? view_.assignment->generation : -1; }
  /// noded has passed its checks and Slurm has been told of a running slurmd.
  bool runs_slurmd() const { return exists_ && is_up_ && view_.slurmd.alive; }
  /// What it would say now.
  const logic::NodeReport& report() const { return report_; }
  /// When musterd could last hear it.
  logic::Time last_contact() const { return is_listening() ? around_.clock.now() : last_contact_; }

 private:
  void begin_noded();
  void sync();
  void sync_after(logic::Duration delay);
  void stop_listening();
  void look();
  void look_at(logic::Time time);
  void end_checks();
  void start_slurmd();
  void slurmd_started(std::int64_t start);
  void slurmd_registers();
  void tell_slurm(bool answers);
  /// Runs it later, if the machine has neither ended nor restarted by then.
  void later(logic::Duration delay, std::function<void()> happening);
  logic::Duration pick(const Spread& spread, const char* what);

  const Origin origin_;
  const logic::GroupSpec& shape_;
  Surroundings around_;
  bool exists_ = true;
  logic::Time ended_at_ = logic::no_time;
  int boots_ = 0;
  bool is_up_ = false;
  bool is_cut_off_ = false;
  bool listening_ = false;
  bool checking_ = false;
  std::uint64_t sync_number_ = 0;
  std::uint64_t look_number_ = 0;
  std::uint64_t picks_ = 0;
  int failed_syncs_ = 0;
  logic::Time last_contact_ = logic::no_time;
  logic::NodeView view_;
  std::optional<logic::NodeReport> told_;
  logic::NodeReport report_;
};

/// The machines of a world, also those that have ended.
class MachinePark {
 public:
  Machine* find(const logic::InstanceId& id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
  }
  Machine& add(std::unique_ptr<Machine> machine) {
    by_id_[machine->origin().id] = machine.get();
    Machine*& newest = by_name_[machine->origin().name];
    if (!machine->origin().name.empty() && newest && newest->exists()) ++doubles_;
    newest = machine.get();
    return *all_.emplace_back(std::move(machine));
  }
  /// The newest machine that was made for a node; null if none was.
  Machine* newest(const logic::NodeName& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  /// How often a machine was made for a node while another one was there.
  int doubles() const { return doubles_; }
  /// In the order in which they were made.
  const std::vector<std::unique_ptr<Machine>>& all() const { return all_; }

 private:
  std::vector<std::unique_ptr<Machine>> all_;
  std::unordered_map<logic::InstanceId, Machine*> by_id_;
  std::unordered_map<logic::NodeName, Machine*> by_name_;
  int doubles_ = 0;
};

}  // namespace muster::simulator
