// SPDX-License-Identifier: GPL-2.0-or-later
//
// Faults that other capacity tools have met in the field, as far as they are the planner's business: identity,
// addresses, records and jobs.
#include <gtest/gtest.h>

#include "logic/slot_rules.hpp"
#include "tests/fakes/fake_world.hpp"

namespace muster::logic {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using tests::FakeWorld;

FakeWorld open_world(int nodes) {
  FakeWorld world(nodes, 0);
  world.run_until_quiet();
  for (int number = 1; number <= nodes; ++number) world.bring_up("gpu-" + std::to_string(number));
  return world;
}

// ---- Addresses ----

TEST(Faults, AddressesThatSlurmPairedInAnotherOrderStartNoSlurmdAndAreSetAgain) {
  FakeWorld world(2, 0);
  world.run_until_quiet();
  world.report("gpu-1", NodeStep::ready);
  world.report("gpu-2", NodeStep::ready);
  Plan plan = world.decide();
  ASSERT_EQ(world.only<SetAddresses>(plan).names.size(), 2u) << "one call for both";
  world.act(plan);
  std::swap(world.node("gpu-1").address, world.node("gpu-2").address);
  plan = world.decide();
  world.act(plan);
  EXPECT_EQ(world.slot("gpu-1").slurmd_start, 0) << "its address is not its machine's";
  EXPECT_EQ(world.count<SetAddresses>(plan), 1u);
  world.run_until_quiet();
  EXPECT_EQ(world.node("gpu-1").address, world.slot("gpu-1").address);
  EXPECT_EQ(world.slot("gpu-1").slurmd_start, 1);
}

TEST(Faults, TheAddressOfADepartedNodeIsForgottenSinceAnotherMachineMayGetIt) {
  FakeWorld world = open_world(2);
  ASSERT_TRUE(world.scale(1));
  world.run_until_quiet();
  ASSERT_EQ(world.slot("gpu-2").state, SlotState::waiting);
  EXPECT_EQ(world.node("gpu-2").address, placeholder_address) << "long before its record is deleted";
}

// ---- Identity ----

TEST(Faults, ASecondMachineWithTheSameInstanceIdIsRefusedAndToldOf) {
  FakeWorld world = open_world(1);
  const std::string address = world.slot("gpu-1").address;
  const std::string owner = world.slot("gpu-1").boot_id;
  const std::int64_t generation = world.slot("gpu-1").generation;
  world.report("gpu-1", NodeStep::ready, "boot-of-the-rival");
  world.run_until_quiet();
  EXPECT_GT(world.slot("gpu-1").generation, generation) << "whoever else waits with this id is asked at once";
  world.report("gpu-1", NodeStep::running, owner);
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").boot_id, owner);
  EXPECT_EQ(world.slot("gpu-1").refused_boot_id, "boot-of-the-rival");
  EXPECT_EQ(world.events_of_kind("IdentityClaimedTwice"), 1);
  EXPECT_EQ(open_count(world.group()), 1) << "the owner's node is opened again";
  world.report("gpu-1", NodeStep::failed, "boot-of-the-rival");
  world.run_until_quiet();
  EXPECT_EQ(world.slot("gpu-1").boot_id, owner) << "what the rival says counts no more";
  EXPECT_EQ(world.slot("gpu-1").address, address);
  EXPECT_EQ(open_count(world.group()), 1);
  EXPECT_EQ(world.events_of_kind("IdentityClaimedTwice"), 1);
  EXPECT_TRUE(world.terminated.empty());
}

TEST(Faults, AMachineThatSaysThatItRestartedStartsNoSlurmdBeforeTheOneThatItMayPretendToBeCouldAnswer) {
  FakeWorld world = open_world(1);
  const std::string owner = world.slot("gpu-1").boot_id;
  ASSERT_EQ(allowed_slurmd_start(world.slot("gpu-1"), owner), 1);
  world.report("gpu-1", NodeStep::ready, "boot-of-the-rival");
  world.act(world.decide());
  EXPECT_EQ(allowed_slurmd_start(world.slot("gpu-1"), "boot-of-the-rival"), 0);
  world.report("gpu-1", NodeStep::running, owner);
  world.report("gpu-1", NodeStep::ready, "boot-of-the-rival");
  world.run_until_quiet();
  EXPECT_EQ(allowed_slurmd_start(world.slot("gpu-1"), "boot-of-the-rival"), 0);
  EXPECT_EQ(allowed_slurmd_start(world.slot("gpu-1"), owner), 1);
}

TEST(Faults, AMachineThatComesBackWithAnotherAddressStartsSlurmdWhenSlurmHasThatAddress) {
  FakeWorld world = open_world(1);
  world.boots_again("gpu-1");
  world.addresses["gpu-1"] = "10.9.9.9";
  world.node("gpu-1").not_responding = true;
  world.report("gpu-1", NodeStep::ready);
  const Plan plan = world.decide();
  EXPECT_EQ(world.only<SetAddresses>(plan).addresses.front(), "10.9.9.9");
  EXPECT_EQ(world.count<DrainNodes>(plan), 1u);
  world.commit(plan);  // and musterd is killed before it does them
  world.crash();
  world.act(world.decide());
  EXPECT_EQ(allowed_slurmd_start(world.slot("gpu-1"), world.slot("gpu-1").boot_id), 0);
  world.run_until_quiet();
  EXPECT_EQ(allowed_slurmd_start(world.slot("gpu-1"), world.slot("gpu-1").boot_id), 1);
  EXPECT_TRUE(world.node("gpu-1").drained) << "closed until it has registered";
  world.slurmd_registers("gpu-1");
  world.report("gpu-1", NodeStep::running);
  world.run_until_quiet();
  EXPECT_EQ(open_count(world.group()), 1);
}

TEST(Faults, AMachineThatRestartsAgainAndAgainIsNoRival) {
  FakeWorld world = open_world(1);
  for (int boot = 1; boot <= 3; ++boot) {
    world.boots_again("gpu-1");
    world.report("gpu-1", NodeStep::ready);
    world.run_until_quiet();
    world.slurmd_registers("gpu-1");
    world.report("gpu-1", NodeStep::running);
    world.run_until_quiet();
    EXPECT_EQ(open_count(world.group()), 1);
  }
  EXPECT_EQ(world.events_of_kind("IdentityClaimedTwice"), 0);
  EXPECT_EQ(world.events_of_kind("MachineRebooted"), 3);
}

TEST(Faults, ASecondMachineOfOneLaunchIsEndedAndTheNodesOwnIsNot) {
  FakeWorld world(1, 0);
  world.run_until_quiet();
  const InstanceId own = world.slot("gpu-1").instance;
  world.provider_has(world.slot("gpu-1").token, "i-twin");
  world.list_machines();
  world.run_until_quiet();
  EXPECT_TRUE(world.terminated.empty()) << "one list proves nothing";
  world.pass_time(seconds{10});
  world.list_machines();
  world.run_until_quiet();
  EXPECT_EQ(world.terminated, std::set<InstanceId>{InstanceId{"i-twin"}});
  EXPECT_EQ(world.slot("gpu-1").instance, own);
  EXPECT_EQ(world.machines().size(), 1u);
}

TEST(Faults, AProviderThatNamesTheMachineOtherwiseInItsListLosesNothing) {
  FakeWorld world(1, 0);
  world.run_until_quiet();
  const LaunchToken token = world.slot("gpu-1").token;
  world.provider_loses_machines();
  world.provider_has(token, "zone-a/i-1");
  for (int list = 0; list < 3; ++list) {
    world.list_machines();
    world.run_until_quiet();
    world.pass_time(seconds{10});
  }
  EXPECT_TRUE(world.terminated.empty()) << "only a list that shows both machines shows that one is too many";
}

// ---- Whose doing it was ----

TEST(Faults, AReplacementThatADownReasonAskedForBlamesNobodyForOpeningTheNode) {
  FakeWorld world = open_world(2);
  world.node("gpu-1").base = NodeBase::down;
  world.node("gpu-1").reason = "Action:Replace";
  world.node("gpu-2").failing = true;
  world.node("gpu-2").reason = "Action:Reboot";
  world.run_until_quiet();
  EXPECT_EQ(world.terminated.size(), 1u);
  EXPECT_EQ(world.rebooted.size(), 1u);
  EXPECT_EQ(world.events_of_kind("NodesClosedAgain"), 0);
}

}  // namespace
}  // namespace muster::logic
