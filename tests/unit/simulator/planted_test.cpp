// SPDX-License-Identifier: GPL-2.0-or-later
//
// The checker of promises checked: each promise is broken on purpose, by a planner that does what a bug would do, and
// has to be missed. Without a bug nothing is.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/unit/simulator/site.hpp"

namespace muster::tests {
namespace {

using namespace logic;
using simulator::Promise;
using std::chrono::minutes;
using std::chrono::seconds;

class Planted : public ::testing::Test {
 protected:
  using Bug = std::function<void(Plan&, const Seen&)>;

  /// From the next pass on the plan is what the bug makes of it.
  void plant(Bug bug) {
    site.world.head().plan_with(
        [bug = std::move(bug)](const ClusterSpec& spec, const Ledger& ledger, const Seen& seen, Time now) {
          Plan made = plan(spec, ledger, seen, now);
          bug(made, seen);
          return made;
        });
  }
  /// Only once, as soon as it finds what it needs.
  template <typename Find>
  void plant_once(Find find) {
    plant([find, done = false](Plan& made, const Seen& seen) mutable {
      if (!done) done = find(made, seen);
    });
  }
  void all_open() {
    site.world.start();
    site.world.run_for(minutes{10});
    ASSERT_TRUE(site.promises.has_converged());
    ASSERT_EQ(site.broken(), "");
  }
  static const GroupName a() { return GroupName{"a"}; }

  Site site;
};

TEST_F(Planted, WithoutABugNothingIsBroken) {
  site.promises.compare_groups_every(1);
  site.world.start();
  site.world.run_for(minutes{30});
  site.promises.check_end();
  EXPECT_EQ(site.broken(), "");
}

TEST_F(Planted, ANodeOpenedBeforeItsGroupIsMissed) {
  plant_once([](Plan& made, const Seen& seen) {
    if (!seen.nodes) return false;
    for (const auto& [name, node] : *seen.nodes) {
      if (!node.is_registered() || name.str() == "storage") continue;
      made.actions.emplace_back(UndrainNodes{a(), {name}});
      return true;
    }
    return false;
  });
  site.world.start();
  site.world.run_for(minutes{10});
  EXPECT_TRUE(site.has_broken(Promise::closed_until_open)) << site.broken();
}

TEST_F(Planted, AMachineLaunchedForARecordThatIsNotClosedIsMissed) {
  plant_once([](Plan& made, const Seen& seen) {
    if (!seen.nodes || seen.nodes->count(NodeName{"a-1"}) == 0 || seen.nodes->at(NodeName{"a-1"}).drained) return false;
    SlotRecord& slot = made.ledger.groups.at(a()).slots.front();
    slot.state = SlotState::launching;
    slot.token = LaunchToken{"lab.a-1.1"};
    made.actions = {LaunchMachine{a(), slot.name, slot.token, 1, ""}};
    return true;
  });
  site.world.start();
  site.world.run_for(minutes{1});
  EXPECT_TRUE(site.has_broken(Promise::closed_until_open)) << site.broken();
}

TEST_F(Planted, AGateThatOpensTooSoonIsMissed) {
  plant([](Plan& made, const Seen&) {
    GroupRecord& group = made.ledger.groups.at(a());
    group.gate_open = true;
    group.gathering = Gathering::no;
  });
  site.world.start();
  site.world.run_for(minutes{1});
  EXPECT_TRUE(site.has_broken(Promise::closed_until_open)) << site.broken();
}

TEST_F(Planted, ANodeOpenedThatHasNotRegisteredIsMissed) {
  all_open();
  ASSERT_TRUE(site.world.head().run_command(AddNodes{a(), 1}));
  plant_once([](Plan& made, const Seen& seen) {
    if (!seen.nodes || seen.nodes->count(NodeName{"a-4"}) == 0) return false;
    made.actions.emplace_back(UndrainNodes{a(), {NodeName{"a-4"}}});
    return true;
  });
  site.world.run_for(minutes{1});
  EXPECT_TRUE(site.has_broken(Promise::opened_when_ready)) << site.broken();
}

TEST_F(Planted, ATouchOnANodeOfOthersIsMissed) {
  all_open();
  plant_once([](Plan& made, const Seen&) {
    made.actions.emplace_back(DrainNodes{a(), {NodeName{"storage"}}, "muster: group a gathers"});
    return true;
  });
  site.world.run_for(minutes{1});
  EXPECT_TRUE(site.has_broken(Promise::others_untouched)) << site.broken();
}

TEST_F(Planted, AnAdminsDrainThatIsLiftedIsMissed) {
  all_open();
  site.world.admin_drains({NodeName{"a-1"}}, "broken fan");
  site.world.run_for(minutes{1});
  ASSERT_EQ(site.broken(), "");
  plant_once([](Plan& made, const Seen&) {
    made.actions.emplace_back(UndrainNodes{a(), {NodeName{"a-1"}}});
    return true;
  });
  site.world.run_for(minutes{1});
  EXPECT_TRUE(site.has_broken(Promise::others_untouched)) << site.broken();
}

TEST_F(Planted, AMachineOfOthersThatIsEndedIsMissed) {
  all_open();
  plant_once([this](Plan& made, const Seen&) {
    made.actions.emplace_back(TerminateMachine{a(), NodeName{"a-1"}, site.foreign, LaunchToken{}});
    return true;
  });
  site.world.run_for(minutes{1});
  EXPECT_TRUE(site.has_broken(Promise::others_untouched)) << site.broken();
}

TEST_F(Planted, AMachineThatIsEndedForNoReasonIsMissed) {
  all_open();
  plant_once([this](Plan& made, const Seen&) {
    const SlotRecord& slot = site.slot("a", 0);
    made.actions.emplace_back(TerminateMachine{a(), slot.name, slot.instance, slot.token});
    return true;
  });
  site.world.run_for(minutes{1});
  EXPECT_TRUE(site.has_broken(Promise::ended_on_evidence)) << site.broken();
}

TEST_F(Planted, AnEmptyListThatIsBelievedIsMissed) {
  all_open();
  site.world.provider("cloud").service().list_is_empty = true;
  site.world.run_for(minutes{5});
  ASSERT_EQ(site.broken(), "") << "as it is, it is not believed";
  // The second witness is taken from the planner.
  site.world.head().plan_with([](const ClusterSpec& spec, const Ledger& ledger, Seen seen, Time now) {
    seen.heard_at = nullptr;
    if (seen.nodes) {
      auto nodes = std::make_shared<SeenNodes>(*seen.nodes);
      for (auto& [name, node] : *nodes) node.not_responding = true;
      seen.nodes = std::move(nodes);
    }
    return plan(spec, ledger, seen, now);
  });
  site.world.run_for(minutes{5});
  EXPECT_TRUE(site.has_broken(Promise::ended_on_evidence)) << site.broken();
}

TEST_F(Planted, ARollbackThatComesLateOrEarlyIsMissed) {
  for (const Duration shift : {Duration{-minutes{2}}, Duration{minutes{2}}}) {
    Site shifted;
    for (const GroupSpec& group : shifted.world.spec().groups)
      shifted.world.towards(group, [](simulator::LaunchBehaviour& behaviour) { behaviour.capacity = 0; });
    bool is_shifted = false;
    shifted.world.head().plan_with(
        [shift, &is_shifted](const ClusterSpec& spec, const Ledger& ledger, const Seen& seen, Time now) {
          Plan made = plan(spec, ledger, seen, now);
          if (!std::exchange(is_shifted, true)) made.ledger.groups.at(a()).deadline += shift;
          return made;
        });
    shifted.world.start();
    shifted.world.run_for(minutes{40});
    EXPECT_TRUE(shifted.has_broken(Promise::exact_deadlines)) << shifted.broken();
  }
}

TEST_F(Planted, ASilentMachineThatIsLeftToItselfIsMissed) {
  site.world.towards(site.world.spec().groups.front(),
                     [](simulator::LaunchBehaviour& behaviour) { behaviour.never_boots = 1; });
  plant([](Plan& made, const Seen&) {
    for (SlotRecord& slot : made.ledger.groups.at(a()).slots) {
      if (slot.state == SlotState::booting) slot.deadline = slot.launched_at + minutes{6};
    }
  });
  site.world.start();
  site.world.run_for(minutes{10});
  EXPECT_TRUE(site.has_broken(Promise::exact_deadlines)) << site.broken();
}

TEST_F(Planted, AMachineThatIsLaunchedTwiceIsMissed) {
  all_open();
  plant_once([](Plan& made, const Seen&) {
    SlotRecord& slot = made.ledger.groups.at(a()).slots.front();
    slot.token = LaunchToken{"lab.a-1.7"};
    made.actions.emplace_back(LaunchMachine{a(), slot.name, slot.token, 2, ""});
    return true;
  });
  site.world.run_for(minutes{2});
  EXPECT_TRUE(site.has_broken(Promise::one_machine_a_slot)) << site.broken();
}

TEST_F(Planted, ALaunchThatIsNotWrittenDownBeforeIsMissed) {
  site.world.head().lie_about_writing(true);
  site.world.start();
  site.world.run_for(minutes{1});
  EXPECT_TRUE(site.has_broken(Promise::written_first)) << site.broken();
}

TEST_F(Planted, AGroupThatWaitsForAnotherOneIsMissed) {
  site.promises.compare_groups_every(1);
  site.world.towards(site.world.spec().groups.front(),
                     [](simulator::LaunchBehaviour& behaviour) { behaviour.capacity = 0; });
  site.world.head().plan_with([](const ClusterSpec& spec, const Ledger& ledger, const Seen& seen, Time now) {
    Plan made = plan(spec, ledger, seen, now);
    const auto first = made.ledger.groups.find(a());
    if (first == made.ledger.groups.end() || first->second.troubles.empty()) return made;
    made.actions.erase(std::remove_if(made.actions.begin(), made.actions.end(),
                                      [](const Action& action) {
                                        const auto* launch = std::get_if<LaunchMachine>(&action);
                                        return launch && launch->group.str() == "b";
                                      }),
                       made.actions.end());
    return made;
  });
  site.world.start();
  site.world.run_for(minutes{10});
  ASSERT_TRUE(site.world.head().run_command(AddNodes{GroupName{"b"}, 1}));
  site.world.run_for(minutes{10});
  EXPECT_TRUE(site.has_broken(Promise::independent_groups)) << site.broken();
}

TEST_F(Planted, ATargetThatNobodyAskedForIsMissed) {
  all_open();
  plant_once([](Plan& made, const Seen&) {
    ++made.ledger.groups.at(a()).counts.target;
    return true;
  });
  site.world.run_for(minutes{1});
  EXPECT_TRUE(site.has_broken(Promise::counts_as_asked)) << site.broken();
}

TEST_F(Planted, ANodeThatIsNeverLaunchedIsMissedInTheEnd) {
  plant([](Plan& made, const Seen&) {
    made.actions.erase(std::remove_if(made.actions.begin(), made.actions.end(),
                                      [](const Action& action) {
                                        const auto* launch = std::get_if<LaunchMachine>(&action);
                                        return launch && launch->name.str() == "a-3";
                                      }),
                       made.actions.end());
  });
  site.world.start();
  site.world.run_for(minutes{20});
  site.promises.check_end();
  EXPECT_TRUE(site.has_broken(Promise::converges)) << site.broken();
}

}  // namespace
}  // namespace muster::tests
