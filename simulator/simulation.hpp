// SPDX-License-Identifier: GPL-2.0-or-later
//
// One run of a scenario: what happened, as a timeline for people, and what came of it, as a summary.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "logic/value.hpp"
#include "simulator/promises.hpp"
#include "simulator/scenario.hpp"

namespace muster::simulator {

/// One line of the timeline: like things of one group that happened close together.
struct TimelineEntry {
  logic::Duration at{0};
  std::string level;  ///< Info, Warn, Error; "Act" for what was done from outside
  std::string group;  ///< "3 groups" where it happened in many at once
  std::string kind;
  int count = 1;
  std::string text;
};

/// Gathers what happens into lines. The more alike things happen, the longer they are gathered into one line.
class Timeline : public HeadObserver {
 public:
  Timeline(const World& world, std::function<void(const TimelineEntry&)> tell);
  void saw_events(const std::vector<logic::Event>& events) override;
  void saw_act(const std::string& text);
  void finish() { tell_due(true); }

 private:
  struct Gathered {
    TimelineEntry entry;
    std::map<logic::GroupName, int> groups;
    std::vector<logic::NodeName> nodes;
    logic::Time told_at = logic::no_time;
    logic::Duration wait{0};
  };
  void tell_due(bool all);
  void tell(Gathered& gathered);

  const World& world_;
  std::function<void(const TimelineEntry&)> tell_;
  bool has_many_groups_;
  logic::Duration first_wait_;
  std::map<std::string, Gathered> gathered_;
};

/// Counts what the summary tells.
class Tally : public HeadObserver {
 public:
  explicit Tally(World& world) : world_(world) {}
  void saw_events(const std::vector<logic::Event>& events) override;
  void before_action(const logic::Action& action) override;
  void after_action(const logic::Action& action, const logic::Status& outcome) override;
  logic::Value summary(const Scenario& scenario) const;

 private:
  struct GroupTally {
    logic::Time min_reached = logic::no_time;
    logic::Time target_reached = logic::no_time;
    std::map<std::string, int> failures;
    int terminated = 0;
    int reboots = 0;
    int rolled_back = 0;
  };
  logic::Value group_summary(const logic::GroupSpec& spec, double idle_hours) const;
  std::map<logic::GroupName, double> idle_hours() const;

  World& world_;
  std::map<logic::GroupName, GroupTally> groups_;
  std::unordered_map<logic::InstanceId, bool> terminated_;
  std::unordered_map<logic::NodeName, logic::InstanceId> machine_of_;
  std::unordered_map<logic::InstanceId, logic::Time> opened_at_;
};

/// Runs a scenario to its end; every line of the timeline is told as it is known. The summary as a document:
/// Scenario, Ended, Groups, Slurm, Jobs, BrokenPromises.
logic::Value run_scenario(const Scenario& scenario, const std::function<void(const TimelineEntry&)>& tell);

}  // namespace muster::simulator
