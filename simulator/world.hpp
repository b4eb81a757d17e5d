// SPDX-License-Identifier: GPL-2.0-or-later
//
// A whole site in virtual time: slurmctld, providers and their machines, musterd, and what admins and fate do to them.
// The same seed gives the same run.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "logic/cluster_spec.hpp"
#include "simulator/chance.hpp"
#include "simulator/event_queue.hpp"
#include "simulator/head.hpp"
#include "simulator/machine.hpp"
#include "simulator/provider.hpp"
#include "simulator/slurm.hpp"

namespace muster::simulator {

struct WorldSettings {
  std::uint64_t seed = 1;
  SlurmSettings slurm;  ///< node_sets are filled from the cluster
  HeadSettings head;
};

/// What an admin has set on a node and not lifted.
struct AdminMark {
  std::string reason;
  bool is_down = false;   ///< no drain: a registration ends it
  bool was_seen = false;  ///< by a pass: what comes and goes between two passes nobody can know
};

class World {
 public:
  World(logic::ClusterSpec spec, WorldSettings settings);

  /// When the world began; everything happens after it.
  static constexpr logic::Time begin{std::chrono::hours{490'000}};
  logic::Time now() const { return clock_.now(); }
  logic::Duration elapsed() const { return clock_.now() - begin; }
  EventQueue& clock() { return clock_; }
  const Chance& chance() const { return chance_; }
  SimulatedSlurm& slurm() { return slurm_; }
  SimulatedHead& head() { return head_; }
  const SimulatedHead& head() const { return head_; }
  MachinePark& machines() { return machines_; }
  SimulatedProvider& provider(const std::string& name) { return *providers_.at(name); }
  SimulatedProvider& provider_of(const logic::GroupName& group);
  const SimulatedHead::Providers& providers() const { return providers_; }
  const logic::ClusterSpec& spec() const { return head_.spec(); }
  /// Sets the behaviour towards each type of a group.
  template <typename Change>
  void towards(const logic::GroupSpec& group, Change change) {
    const std::vector<std::string> only{""};
    for (const std::string& type : group.instance_types.empty() ? only : group.instance_types)
      change(provider(group.provider).towards(group.name, type));
  }

  /// musterd is started.
  void start();
  void run_for(logic::Duration duration) { clock_.run_until(clock_.now() + duration); }
  logic::Status apply(logic::ClusterSpec spec);

  // ---- What admins do ----
  void admin_drains(const std::vector<logic::NodeName>& names, const std::string& reason);
  void admin_downs(const std::vector<logic::NodeName>& names, const std::string& reason);
  void admin_resumes(const std::vector<logic::NodeName>& names);
  void admin_resumes_all();
  void admin_deletes(const std::vector<logic::NodeName>& names);
  /// scontrol reboot ASAP nextstate=RESUME
  void admin_reboots(const logic::NodeName& name);
  const std::map<logic::NodeName, AdminMark>& admin_marks() const { return marks_; }
  void note_marks_seen();
  void waive_mark(const logic::NodeName& name) { marks_.erase(name); }

  // ---- What fate does ----
  void slurmctld_restarts(logic::Duration away, logic::Duration forgets);
  void slurmctld_loses_records();
  void machine_dies(const logic::InstanceId& id);
  /// The machine that stands behind a node; null if none does.
  Machine* machine_behind(const logic::NodeName& name);

 private:
  void sweep();
  void forget_void_marks();

  EventQueue clock_{begin};
  Chance chance_;
  SimulatedSlurm slurm_;
  MachinePark machines_;
  SimulatedHead::Providers providers_;
  SimulatedHead head_;
  /// Machines refer to the shape that they were made by, so no specification is ever let go.
  std::vector<std::shared_ptr<const logic::ClusterSpec>> specs_;
  std::map<logic::NodeName, AdminMark> marks_;
};

}  // namespace muster::simulator
