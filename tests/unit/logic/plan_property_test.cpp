// SPDX-License-Identifier: GPL-2.0-or-later
//
// The planner in a world of random faults and virtual time: whatever happens, these stay true.
#include <gtest/gtest.h>

#include <random>

#include "tests/fakes/fake_world.hpp"

namespace muster::logic {
namespace {

using std::chrono::seconds;
using tests::FakeWorld;

class Chaos {
 public:
  Chaos(unsigned seed, int target, int minimum) : world(target, minimum), random_(seed), target_(target) {
    // Nodes that are not ours: an admin's own.
    for (const char* name : {"login-1", "gpu-old"}) {
      SeenNode node;
      node.base = NodeBase::idle;
      node.slurmd_start_time = world.now;
      node.reason = "theirs";
      world.nodes()[NodeName{name}] = node;
    }
  }

  void run(int steps) {
    for (int step = 0; step < steps && !::testing::Test::HasFatalFailure(); ++step) {
      if (chance(60)) disturb();
      advance();
      world.pass_time(Duration{static_cast<std::int64_t>(pick(4000))});
      pass();
    }
  }

  /// Faults end: every node that asks for slurmd gets it; time goes on.
  void heal() {
    world.next_launch_fails = FailureClass::none;
    world.slurm_is_away = false;
    world.hold_provider_calls = false;
    world.crash();
    world.command(RetryNow{});
    for (int step = 0; step < 600; ++step) {
      for (auto& [name, node] : world.nodes()) {
        if (node.reason == "admin" && step % 3 == 0) {  // what comes and goes between two passes nobody can know
          node.drained = false;
          node.reason.clear();
        }
      }
      advance(true);
      world.pass_time(seconds{10});
      pass();
    }
  }

  /// For a failure's message.
  std::string describe_slots() {
    std::string text;
    for (const SlotRecord& slot : world.group().slots) {
      const auto node = world.nodes().find(slot.name);
      text += "\n" + slot.name.str() + " " + std::string(slot_state_name(slot.state)) + " start " +
              std::to_string(slot.slurmd_start) + " problem \"" + slot.last_problem + "\" foreign \"" +
              slot.foreign_reason + "\" Slurm " +
              (node == world.nodes().end()
                   ? "none"
                   : node->second.state_text() + " " + node->second.gres + " " + node->second.reason);
    }
    return text;
  }

  FakeWorld world;

 private:
  unsigned pick(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
  bool chance(unsigned percent) { return pick(100) < percent; }
  std::string any_name() { return "gpu-" + std::to_string(pick(static_cast<unsigned>(target_)) + 1); }
  bool has_node(const std::string& name) { return world.nodes().count(NodeName{name}) > 0; }

  void disturb() {
    const std::string name = any_name();
    switch (pick(10)) {
      case 0: world.next_launch_fails = chance(50) ? FailureClass::capacity : FailureClass::configuration; break;
      case 1: world.crash(); break;
      case 2: world.slurm_is_away = chance(50); break;
      case 3:
        if (chance(20)) world.provider_loses_machines();
        break;
      case 4:
        if (chance(10)) lose_our_records();
        break;
      case 5:  // an admin opens everything
        for (auto& [node_name, node] : world.nodes()) {
          node.drained = false;
          if (node.base == NodeBase::future) {
            node.base = NodeBase::idle;
            node.not_responding = true;
          }
        }
        break;
      case 6:  // an admin drains one
        if (has_node(name)) {
          world.node(name).drained = true;
          world.node(name).reason = "admin";
        }
        break;
      case 7:
        if (has_node(name)) world.node(name).not_responding = chance(50);
        break;
      case 8: world.hold_provider_calls = chance(30); break;
      case 9: world.restart_slurmctld(); break;
    }
  }

  void lose_our_records() {
    for (auto node = world.nodes().begin(); node != world.nodes().end();) {
      node = node->second.reason == "theirs" ? std::next(node) : world.nodes().erase(node);
    }
  }

  /// Machines boot, check, and start slurmd when allowed.
  void advance(bool always = false) {
    const auto group = world.ledger.groups.find(world.spec().name);
    if (group == world.ledger.groups.end()) return;
    for (const SlotRecord& slot : group->second.slots) {
      if (slot.instance.empty() || (!always && !chance(40))) continue;
      const std::string name = slot.name.str();
      const bool may_start = slot.slurmd_start > 0 && slot.state != SlotState::terminating;
      if (may_start && has_node(name) &&
          (world.node(name).base == NodeBase::future || world.node(name).not_responding)) {
        world.slurmd_registers(name);
      }
      world.report(name, may_start ? NodeStep::running : NodeStep::ready);
    }
    if (always || chance(30)) world.list_machines();
  }

  void pass() {
    const SeenNodes before = world.nodes();
    const Plan plan = world.decide();
    check(plan, before);
    world.act(plan);
  }

  void check(const Plan& plan, const SeenNodes& nodes) {
    const GroupRecord& group = plan.ledger.groups.at(world.spec().name);
    if (const auto before = world.ledger.groups.find(world.spec().name); before != world.ledger.groups.end()) {
      ASSERT_TRUE(group.gate_open || group.deadline == before->second.deadline) << "moves the deadline";
    }
    const auto slot_of = [&](const NodeName& name) -> const SlotRecord* {
      for (const SlotRecord& slot : group.slots)
        if (slot.name == name) return &slot;
      return nullptr;
    };
    const auto check_names = [&](const std::vector<NodeName>& names) {
      for (const NodeName& name : names) ASSERT_NE(slot_of(name), nullptr) << name.str() << " is not ours";
    };
    for (const Action& action : plan.actions) {
      ASSERT_FALSE(world.slurm_is_away && !std::holds_alternative<LaunchMachine>(action) &&
                   !std::holds_alternative<TerminateMachine>(action))
          << "Slurm could not be read, yet: " << describe(action);
      if (const auto* undrain = std::get_if<UndrainNodes>(&action)) {
        check_names(undrain->names);
        ASSERT_TRUE(group.gate_open) << "opens nodes of a group that gathers";
        for (const NodeName& name : undrain->names) {
          ASSERT_FALSE(nodes.at(name).drained && nodes.at(name).reason == "admin") << "lifts an admin's drain";
          ASSERT_NE(nodes.at(name).base, NodeBase::future) << "opens a slot without a machine";
          ASSERT_FALSE(undrain->are_idle && nodes.at(name).base != NodeBase::idle) << "takes a node for idle";
        }
      }
      if (const auto* drain = std::get_if<DrainNodes>(&action)) check_names(drain->names);
      if (const auto* future = std::get_if<ReturnToFuture>(&action)) check_names(future->names);
      if (const auto* create = std::get_if<CreateRecords>(&action)) check_names(create->names);
      if (const auto* erase = std::get_if<DeleteRecords>(&action)) {
        check_names(erase->names);
        for (const NodeName& name : erase->names)
          ASSERT_EQ(nodes.at(name).base, NodeBase::future) << "deletes a node that is there";
      }
      if (const auto* launch = std::get_if<LaunchMachine>(&action)) {
        const bool is_new = world.launches_by_token.count(launch->token) == 0;
        if (is_new && slot_of(launch->name)->retry_at == no_time && !world.slurm_is_away) {
          const SeenNode& node = nodes.at(launch->name);
          ASSERT_TRUE(node.base == NodeBase::future && node.drained) << "launches before the slot is closed";
        }
        if (is_new) {
          for (const auto& [token, instance] : machines_of(launch->name)) {
            ASSERT_TRUE(token == launch->token || world.terminated.count(instance) > 0)
                << "a second machine for " << launch->name.str() << " while " << instance.str() << " lives";
          }
        }
        launched_[launch->name].insert(launch->token);
      }
    }
  }

  /// Machines that the provider still has for a slot.
  std::vector<std::pair<LaunchToken, InstanceId>> machines_of(const NodeName& name) {
    std::vector<std::pair<LaunchToken, InstanceId>> machines;
    for (const auto& machine : world.machines()) {
      if (launched_[name].count(machine.token) > 0) machines.emplace_back(machine.token, machine.instance);
    }
    return machines;
  }

  std::mt19937 random_;
  int target_;
  std::map<NodeName, std::set<LaunchToken>> launched_;
};

class PlanUnderChaos : public ::testing::TestWithParam<unsigned> {};

TEST_P(PlanUnderChaos, KeepsItsPromisesAndConvergesOnceTheFaultsEnd) {
  Chaos chaos(GetParam(), 6, static_cast<int>(GetParam() % 7));
  chaos.world.spec().boot_timeout = std::chrono::minutes{2};
  chaos.run(400);
  if (HasFatalFailure()) return;
  chaos.heal();
  EXPECT_TRUE(chaos.world.group().gate_open);
  EXPECT_EQ(open_count(chaos.world.group()), 6) << chaos.describe_slots();
  EXPECT_EQ(chaos.world.node("login-1").reason, "theirs");
}

INSTANTIATE_TEST_SUITE_P(Seeds, PlanUnderChaos, ::testing::Range(1u, 201u));

}  // namespace
}  // namespace muster::logic
