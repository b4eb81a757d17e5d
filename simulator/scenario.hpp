// SPDX-License-Identifier: GPL-2.0-or-later
//
// A scenario file: a cluster as in cluster.yaml, and in its section "simulate" what happens to it. See
// muster-scenario.yaml(5).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "logic/cluster_spec.hpp"
#include "logic/result.hpp"
#include "logic/value.hpp"
#include "simulator/world.hpp"

namespace muster::simulator {

/// Something that happens at a time.
struct ScenarioStep {
  logic::Duration at{0};
  std::string text;  ///< for people; empty: not worth telling
  /// Does it; an error is a refusal, which is told and no more.
  std::function<logic::Status(World&)> act;
};

struct Scenario {
  std::string title;
  logic::ClusterSpec cluster;
  logic::Duration duration{std::chrono::hours{1}};
  bool ends_when_there = true;  ///< as soon as all steps are over and everything is there
  WorldSettings settings;
  std::vector<ScenarioStep> steps;  ///< in the order of time; those of one time in the order of the file
};

/// The keys of the section simulate and of its lists.
const std::vector<logic::KeyInfo>& scenario_file_keys();

/// The scenario, or all that is wrong with it: one sentence a line, each with FILE:LINE:COLUMN.
logic::Result<Scenario> parse_scenario(const logic::Value& document, const std::string& file_name);

}  // namespace muster::simulator
