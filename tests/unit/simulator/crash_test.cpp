// SPDX-License-Identifier: GPL-2.0-or-later
//
// musterd killed at each moment of a run in turn, and one group's trouble beside another group: the end is the same.
#include <gtest/gtest.h>

#include "tests/unit/simulator/site.hpp"

namespace muster::tests {
namespace {

using namespace logic;
using std::chrono::minutes;
using std::chrono::seconds;

/// What a run comes to, without what only tells how it came to it: tokens and times.
std::string end_of(const Site& site) {
  std::string text;
  for (const auto& [name, group] : site.world.head().ledger().groups) {
    text += name.str() + " " + std::string(group_status_name(group.status)) + ", target " +
            std::to_string(group.counts.target) + ", MinCount " + std::to_string(group.counts.min) + ":";
    for (const SlotRecord& slot : group.slots)
      text += " " + slot.name.str() + " " + std::string(slot_state_name(slot.state));
    text += "\n";
  }
  return text;
}

/// A group begins, grows, loses a machine, has one replaced, shrinks and loses its only neighbour.
void run_story(Site& site, int dies_at, int& moments) {
  bool has_died = false;
  site.world.head().die_when([&moments, &has_died, dies_at] {
    ++moments;
    if (has_died || moments != dies_at) return false;
    has_died = true;
    return true;
  });
  // Whoever asks while musterd is away asks again.
  const auto ask = [&](const Command& command) {
    for (int tries = 0; tries < 10 && !site.world.head().is_running(); ++tries) site.world.run_for(seconds{1});
    const Status done = site.world.head().run_command(command);
    ASSERT_TRUE(done) << done.error().message;
  };
  site.world.start();
  site.world.run_for(minutes{8});
  ask(ScaleGroup{GroupName{"a"}, 4, 2});
  site.world.run_for(minutes{5});
  site.world.machine_dies(site.slot("a", 0).instance);
  site.world.run_for(minutes{10});
  ask(ReplaceNodes{{NodeName{"a-2"}}});
  site.world.run_for(minutes{8});
  ask(ScaleGroup{GroupName{"a"}, 2, 1});
  ask(DeleteGroup{GroupName{"b"}});
  site.world.run_for(minutes{15});
}

TEST(Crash, AtAnyMomentOfARunLeadsToTheSameEndAndKeepsThePromises) {
  for (const bool is_idempotent : {true, false}) {
    ClusterSpec spec = site_spec();
    spec.providers.at("cloud").idempotent_launch = is_idempotent;
    simulator::WorldSettings settings;
    settings.head.pass_interval = seconds{15};  // it is woken by what happens
    Site undisturbed(spec, settings);
    int moments = 0;
    run_story(undisturbed, 0, moments);
    ASSERT_EQ(undisturbed.broken(), "");
    ASSERT_TRUE(undisturbed.promises.has_converged());
    ASSERT_GT(moments, 50);
    for (int moment = 1; moment <= moments; ++moment) {
      Site site(spec, settings);
      int seen = 0;
      run_story(site, moment, seen);
      ASSERT_EQ(site.world.head().counts().deaths, 1);
      ASSERT_EQ(site.broken(), "") << "killed at moment " << moment;
      ASSERT_EQ(end_of(site), end_of(undisturbed)) << "killed at moment " << moment;
      ASSERT_EQ(site.world.machines().doubles(), 0) << "killed at moment " << moment;
    }
  }
}

/// Writes down what one group asks for, and when.
class Recorder : public simulator::HeadObserver {
 public:
  Recorder(const simulator::World& world, const std::string& prefix) : world_(world), prefix_(prefix) {}
  void before_action(const Action& action) override {
    const std::string text = describe(action);
    if (text.find(" " + prefix_) != std::string::npos)
      actions += std::to_string(to_seconds(world_.elapsed())) + " s: " + text + "\n";
  }
  std::string actions;

 private:
  const simulator::World& world_;
  const std::string prefix_;
};

TEST(Independence, OneGroupsTroubleChangesNoActionOfAnotherGroup) {
  simulator::WorldSettings settings;
  settings.head.passes_on_grid = true;
  std::string without_trouble;
  for (int trouble = 0; trouble <= 6; ++trouble) {
    Site site(site_spec(), settings);
    Recorder recorder(site.world, "b-");
    site.world.head().observe(&recorder);
    site.world.towards(site.world.spec().groups.front(), [trouble](simulator::LaunchBehaviour& behaviour) {
      if (trouble == 1) behaviour.hangs = true;
      if (trouble == 2) behaviour.capacity = 0;
      if (trouble == 3) behaviour.never_boots = 1;
      if (trouble == 4) behaviour.slurmd_ends = 1;
      if (trouble == 5) behaviour.fails = 0.5;
      if (trouble == 6) behaviour.machine_life_hours = 0.1;
    });
    site.world.start();
    site.world.run_for(minutes{20});
    ASSERT_TRUE(site.world.head().run_command(ScaleGroup{GroupName{"b"}, 5, 4}));
    site.world.run_for(minutes{20});
    ASSERT_TRUE(site.world.head().run_command(ReplaceNodes{{NodeName{"b-2"}}}));
    site.world.run_for(minutes{20});
    EXPECT_EQ(site.broken(), "");
    if (trouble == 0) without_trouble = recorder.actions;
    EXPECT_EQ(recorder.actions, without_trouble) << "trouble " << trouble;
  }
  EXPECT_NE(without_trouble.find("launch"), std::string::npos);
}

}  // namespace
}  // namespace muster::tests
