// SPDX-License-Identifier: GPL-2.0-or-later
//
// The scenarios that are shipped, and how a scenario file is read.
#include "simulator/scenario.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "simulator/simulation.hpp"
#include "sys/files.hpp"
#include "sys/yaml.hpp"

namespace muster::simulator {
namespace {

using logic::Value;

logic::Result<Scenario> scenario_of(const std::string& text) {
  const auto document = sys::parse_yaml(text, "s.yaml");
  if (!document) return document.error();
  return parse_scenario(*document, "s.yaml");
}

std::string shipped(const std::string& name) {
  const char* top = std::getenv("top_srcdir");
  const auto text = sys::read_file((top ? std::string(top) : ".") + "/conf/scenarios/" + name + ".yaml");
  EXPECT_TRUE(text) << (text ? "" : text.error().message);
  return text ? *text : "";
}

struct Played {
  explicit Played(const std::string& text) {
    auto scenario = scenario_of(text);
    EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message);
    if (!scenario) return;
    summary = run_scenario(*scenario, [this](const TimelineEntry& entry) { kinds.insert(entry.kind); });
    for (const Value& breach : summary.list_or_empty("BrokenPromises"))
      ADD_FAILURE() << breach.text_or("Promise") << ": " << breach.text_or("Text");
    EXPECT_TRUE(summary.boolean_or("PromisesChecked"));
    EXPECT_EQ(summary.find("Machines")->integer_or("LaunchedTwice"), 0);
  }
  const Value& group(std::size_t index = 0) const { return summary.list_or_empty("Groups").at(index); }
  double hours(const char* key, std::size_t index = 0) const { return group(index).real_or(key, -3600) / 3600; }
  Value summary;
  std::set<std::string> kinds;
};

TEST(Scenario, ASlowTrickleOpensAtMinCountAndGoesOnToTheTarget) {
  const Played run(shipped("slow-trickle"));
  EXPECT_GT(run.hours("SecondsToOpen"), 0.25);
  EXPECT_LT(run.hours("SecondsToOpen"), 0.5);
  EXPECT_GT(run.hours("SecondsToTarget"), run.hours("SecondsToOpen"));
  EXPECT_EQ(run.group().integer_or("Open"), 12);
  EXPECT_EQ(run.summary.find("Jobs")->integer_or("Ended"), 2);
}

TEST(Scenario, AStockOutIsWaitedForAndItsJobStartsByItself) {
  const Played run(shipped("stock-out"));
  EXPECT_LT(run.hours("SecondsToOpen"), 0.25);
  EXPECT_GT(run.hours("SecondsToTarget"), 2);
  EXPECT_LT(run.hours("SecondsToTarget"), 2.25);
  EXPECT_EQ(run.group().find("Failures")->integer_or("transient"), 0);
  EXPECT_GT(run.group().find("Failures")->integer_or("capacity"), 10);
  EXPECT_EQ(run.summary.find("Jobs")->integer_or("Ended"), 1);
}

TEST(Scenario, AQuotaThatIsRaisedIsNoticedWithinItsBackOff) {
  const Played run(shipped("quota"));
  EXPECT_GT(run.hours("SecondsToTarget"), 1);
  EXPECT_LT(run.hours("SecondsToTarget"), 1.5);
  EXPECT_GT(run.group().find("Failures")->integer_or("quota"), 0);
}

TEST(Scenario, AHangingProviderHoldsUpOneGroupOnly) {
  const Played run(shipped("hanging-provider"));
  EXPECT_GT(run.hours("SecondsToTarget", 0), 1);
  EXPECT_LT(run.hours("SecondsToTarget", 1), 0.1);
}

TEST(Scenario, AMassRebootEndsNoJobAndNoMachine) {
  const Played run(shipped("mass-reboot"));
  EXPECT_EQ(run.group().integer_or("Reboots"), 40);
  EXPECT_EQ(run.group().integer_or("Terminated"), 0);
  EXPECT_EQ(run.group().integer_or("Open"), 40);
  EXPECT_EQ(run.summary.find("Jobs")->integer_or("Interrupted"), 0);
  EXPECT_EQ(run.summary.find("Jobs")->integer_or("Ended"), 2);
}

TEST(Scenario, ANewGroupThatMissesItsMinCountIsRolledBackToNothingAtItsDeadline) {
  const Played run(shipped("rollback-new-group"));
  EXPECT_EQ(run.group().integer_or("RolledBack"), 1);
  EXPECT_EQ(run.group().integer_or("TargetCount"), 0);
  EXPECT_EQ(run.group().integer_or("Terminated"), 6);
  EXPECT_EQ(run.kinds.count("RollbackStarted"), 1u);
}

TEST(Scenario, AnOldGroupIsRolledBackToWhatItHad) {
  const Played run(shipped("rollback-old-group"));
  EXPECT_EQ(run.group().integer_or("RolledBack"), 1);
  EXPECT_EQ(run.group().integer_or("TargetCount"), 4);
  EXPECT_EQ(run.group().integer_or("MinCount"), 4);
  EXPECT_EQ(run.group().integer_or("Open"), 4);
  EXPECT_EQ(run.group().integer_or("Terminated"), 2);
}

TEST(Scenario, ManyGroupsOpenEachByItself) {
  std::string text = shipped("hundred-groups");
  const auto smaller = [&text](const std::string& was, const std::string& is) {
    ASSERT_NE(text.find(was), std::string::npos);
    text.replace(text.find(was), was.size(), is);
  };
  smaller("copies: 100", "copies: 20");
  smaller("target_count: 1000", "target_count: 10");
  smaller("min_count: 900", "min_count: 9");
  const Played run(text);
  ASSERT_EQ(run.summary.list_or_empty("Groups").size(), 20u);
  for (std::size_t index = 0; index < 20; ++index) {
    EXPECT_EQ(run.group(index).integer_or("Open"), 10);
    EXPECT_LT(run.hours("SecondsToOpen", index), 0.2);
  }
}

TEST(Scenario, TheSameSeedGivesTheSameRunAndAnotherSeedAnotherOne) {
  const std::string text = shipped("slow-trickle");
  const auto seconds = [&](const std::string& seed) {
    std::string seeded = text;
    const std::string mark = "simulate:\n";
    seeded.insert(seeded.find(mark) + mark.size(), "  seed: " + seed + "\n");
    return Played(seeded).hours("SecondsToTarget");
  };
  EXPECT_EQ(seconds("7"), seconds("7"));
  EXPECT_NE(seconds("7"), seconds("8"));
}

constexpr const char* head =
    "cluster: c\nproviders: {cloud: }\ninstance_groups:\n  - {name: gpu, partition: gpu, target_count: 2, min_count: "
    "1, "
    "provider: cloud, node: {cpus: 1, memory: 1 GiB}}\n";

TEST(Scenario, WhatIsWrongInAFileIsToldWithItsPlace) {
  const auto told = [](const std::string& simulate) {
    const auto scenario = scenario_of(head + simulate);
    return scenario ? std::string("nothing") : scenario.error().message;
  };
  EXPECT_EQ(told("simulate: {}\n"), "nothing");
  const auto expect_told = [&](const std::string& simulate, const std::string& sentence) {
    const std::string text = told(simulate);
    EXPECT_NE(text.find(sentence), std::string::npos) << text;
  };
  expect_told("", "simulate: expected a map, found nothing");
  expect_told("simulate: {duration: soon}\n", "s.yaml:5:");
  expect_told("simulate:\n  acts:\n    - {do: dance}\n",
              "s.yaml:7:12: simulate: acts[0]: do: expected one of scale, add");
  expect_told("simulate:\n  acts:\n    - {do: scale, group: cpu, target: 3}\n",
              "group: expected one of instance_groups, found \"cpu\"");
  expect_told("simulate:\n  acts:\n    - {do: reboot, nodes: [\"gpu-[1-\"]}\n", "s.yaml:7:");
  expect_told("simulate:\n  behaviour:\n    - {boot_time: 3 min to 2 min}\n", "boot_time: expected a duration or two");
  expect_told("simulate:\n  behaviour:\n    - {fails: 1.5}\n", "s.yaml:7:");
  expect_told("simulate:\n  behaviour:\n    - {colour: red}\n", "colour");
  expect_told("simulate:\n  jobs:\n    - {partition: cpu}\n", "partition: expected one that a group feeds");
}

}  // namespace
}  // namespace muster::simulator
