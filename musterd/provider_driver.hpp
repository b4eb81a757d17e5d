// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs the providers' programs: a lane per group, so that calls that hang in one group delay no other. Bounded at once,
// each call with a deadline; what is queued or running is known by token, so that nothing is begun twice.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "logic/cluster_spec.hpp"
#include "logic/plan.hpp"
#include "logic/provider_messages.hpp"
#include "sys/child_process.hpp"
#include "sys/event_loop.hpp"

namespace muster::musterd {

class ProviderDriver {
 public:
  struct Events {
    std::function<void(logic::LaunchResult)> launched;
    std::function<void(logic::TerminateResult)> terminated;
    std::function<void(logic::RebootResult)> rebooted;
    std::function<void(const logic::GroupName&, logic::Time asked_at, logic::Result<std::vector<logic::SeenMachine>>)>
        listed;
    /// Asked right before each launch and terminate, which may have waited in a queue for long.
    std::function<bool()> may_begin;
  };
  ProviderDriver(sys::EventLoop& loop, Events events);

  /// Takes the present specification; lanes of groups that are gone end with their calls.
  void configure(const logic::ClusterSpec& spec);
  void launch(const logic::LaunchMachine& action);
  void terminate(const logic::TerminateMachine& action);
  void reboot(const logic::RebootMachine& action);
  /// Forgets what is queued and ends what runs; nothing of it is told any more.
  void stop();
  /// Lists the group's machines, unless a list is under way.
  void list(const logic::GroupName& group, logic::Time now);

  std::set<logic::LaunchToken> launches_in_flight() const;
  std::set<logic::InstanceId> terminations_in_flight() const;
  std::set<logic::InstanceId> reboots_in_flight() const;

 private:
  struct Call {
    std::string operation;
    std::string input;
    std::function<void(logic::ProviderRun)> done;
    logic::LaunchToken launch;      ///< empty unless it is one
    logic::InstanceId termination;  ///< empty unless it is one
    logic::InstanceId reboot;       ///< empty unless it is one
  };
  struct Lane {
    logic::GroupSpec group;
    logic::ProviderSpec provider;
    bool listing = false;
    std::deque<Call> queue;
    std::map<std::uint64_t, std::pair<Call, std::unique_ptr<sys::Run>>> running;
  };

  std::set<logic::InstanceId> in_flight(logic::InstanceId Call::*of) const;
  void enqueue(Lane& lane, Call call);
  void start_next(Lane& lane);
  void finished(const logic::GroupName& group, std::uint64_t number, const logic::ProviderRun& run);
  Lane* lane_of(const logic::GroupName& group);

  sys::EventLoop& loop_;
  Events events_;
  std::string cluster_;
  std::uint64_t next_number_ = 1;
  std::map<logic::GroupName, Lane> lanes_;
};

}  // namespace muster::musterd
