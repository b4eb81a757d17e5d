// SPDX-License-Identifier: GPL-2.0-or-later
//
// A provider in memory: per group and instance type it is slow, short of machines, forbidding, broken or hanging, and
// its list may lag, lie, be empty or fail. What it does at a time is set from outside, so it may change over time.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "logic/cluster_spec.hpp"
#include "logic/plan.hpp"
#include "logic/result.hpp"
#include "simulator/machine.hpp"

namespace muster::simulator {

/// Towards one group and instance type.
struct LaunchBehaviour {
  Spread launch_time{std::chrono::seconds{1}, std::chrono::seconds{3}};
  Spread boot_time{std::chrono::seconds{60}, std::chrono::seconds{120}};
  std::optional<int> capacity;         ///< machines at once; none = no bound
  logic::Duration supply_interval{0};  ///< a machine is to be had once in so long; 0 = at any time
  double fails = 0;                    ///< the part of launches that fail as failure says
  logic::FailureClass failure = logic::FailureClass::transient;
  bool hangs = false;  ///< calls are never answered
  /// The part of machines that are so.
  double never_boots = 0;
  double lacks_devices = 0;
  double is_rejected = 0;
  double slurmd_ends = 0;
  double machine_life_hours = 0;  ///< mean, then it is gone; 0 = for ever
};

/// Towards everybody.
struct ServiceBehaviour {
  std::optional<int> quota;  ///< machines of all types at once
  logic::Duration list_lag{0};
  double list_omits = 0;  ///< each machine, with this probability
  bool list_is_empty = false;
  double list_fails = 0;
  bool hangs = false;  ///< list, terminate and reboot are never answered
  double terminate_fails = 0;
  bool refuses_reboot = false;
};

class SimulatedProvider {
 public:
  template <typename Answer>
  using Done = std::function<void(Answer)>;

  SimulatedProvider(std::string name, bool is_idempotent, Machine::Surroundings around, MachinePark& machines);

  /// The behaviour towards a group and type; anything set there holds from now on.
  LaunchBehaviour& towards(const logic::GroupName& group, const std::string& type) { return launching_[{group, type}]; }
  ServiceBehaviour& service() { return service_; }
  const ServiceBehaviour& service() const { return service_; }

  // ---- The calls of muster-provider(7). An answer may never come; what was begun may happen all the same. ----
  void launch(const logic::GroupSpec& group, const logic::LaunchMachine& call, Done<logic::LaunchResult> done);
  void terminate(const logic::InstanceId& instance, Done<logic::TerminateResult> done);
  void reboot(const logic::InstanceId& instance, Done<logic::RebootResult> done);
  void list(const logic::GroupName& group, Done<logic::Result<std::vector<logic::SeenMachine>>> done);

  /// The machine is gone, without anybody having asked.
  void lose(Machine& machine);
  /// A machine that somebody else made, with a token that is none of ours.
  logic::InstanceId add_foreign_machine(const logic::GroupSpec& group, const std::string& token);
  /// How many machines were ever made for a token.
  int machines_made(const logic::LaunchToken& token) const;

 private:
  void make(const logic::GroupSpec& group, const logic::LaunchMachine& call, const LaunchBehaviour& behaviour,
            logic::LaunchResult& result);
  std::optional<std::pair<logic::FailureClass, std::string>> refusal(const logic::LaunchMachine& call,
                                                                     const LaunchBehaviour& behaviour);
  Machine& add(Machine::Origin origin, const logic::GroupSpec& group);
  /// How often this was asked before: each subject has dice of its own.
  std::uint64_t turn(const std::string& subject) { return turns_[subject]++; }

  const std::string name_;
  const bool is_idempotent_;
  Machine::Surroundings around_;
  MachinePark& machines_;
  std::map<std::pair<logic::GroupName, std::string>, LaunchBehaviour> launching_;
  std::map<std::pair<logic::GroupName, std::string>, logic::Time> next_supply_;
  std::map<std::pair<logic::GroupName, std::string>, int> alive_;
  ServiceBehaviour service_;
  std::unordered_map<logic::LaunchToken, std::vector<Machine*>> by_token_;
  std::unordered_map<logic::GroupName, std::deque<Machine*>> by_group_;
  std::unordered_map<logic::GroupName, std::uint64_t> made_;
  std::unordered_map<std::string, std::uint64_t> turns_;
};

}  // namespace muster::simulator
