// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/views.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/fake_world.hpp"

namespace muster::logic {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using tests::FakeWorld;

HeadState state_of(FakeWorld& world) {
  HeadState state;
  state.spec = world.wanted;
  state.ledger = world.ledger;
  state.nodes = std::make_shared<const SeenNodes>(world.nodes());
  state.jobs = world.jobs;
  state.slurm_is_up = true;
  state.slurm_since = world.now;
  state.role.is_known = state.role.acts = true;
  return state;
}

Value group_of(FakeWorld& world) { return status_view(state_of(world), world.now).list_or_empty("Groups").at(0); }

/// The only entry of such a list of a group.
Value entry_of(const Value& group, const char* list) { return group.list_or_empty(list).at(0); }

std::string line_of(const Value& why, const std::string& label) {
  for (const Value& line : why.list_or_empty("Lines")) {
    if (line.text_or("Label") == label) return line.text_or("Text");
  }
  return "";
}

std::string why(FakeWorld& world, const char* name, const std::string& label) {
  const auto view = why_view(state_of(world), name, world.now);
  return view ? line_of(*view, label) : view.error().message;
}

std::string message_of(FakeWorld& world, const std::string& name) {
  const HeadState state = state_of(world);
  const GroupRecord& group = state.ledger.groups.at(world.spec().name);
  for (const SlotRecord& slot : group.slots) {
    if (slot.name.str() == name)
      return SlotWords(state, world.now).message(*state.spec->find_group(group.name), group, slot);
  }
  return "no slot " + name;
}

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "found: " << text << "\nwithout: " << part;
}

void bring_up_all(FakeWorld& world) {
  world.run_until_quiet();
  std::vector<std::string> names;
  for (const SlotRecord& slot : world.group().slots) names.push_back(slot.name.str());
  for (const std::string& name : names) world.bring_up(name);
}

SeenJob job_on(JobId id, std::vector<std::string> nodes) {
  SeenJob job;
  job.id = id;
  job.partition = "gpu";
  job.state = "RUNNING";
  for (std::string& node : nodes) job.nodes.emplace_back(std::move(node));
  return job;
}

SeenJob held_job(Time submitted_at) {
  SeenJob job;
  job.id = 7;
  job.partition = "gpu";
  job.state = "PENDING";
  job.min_nodes = 2;
  job.admin_comment = "muster: held until group gpu opens: 0 of 2 nodes ready";
  job.submitted_at = submitted_at;
  return job;
}

TEST(Views, StatusCountsEachSlotOnceAndSaysHowFarTheGroupIs) {
  FakeWorld world(3, 2);
  world.next_launch_fails = FailureClass::capacity;
  world.run_until_quiet();
  world.bring_up("gpu-2");
  const Value group = group_of(world);
  EXPECT_EQ(group.text_or("Status"), "Creating");
  EXPECT_EQ(group.integer_or("Ready"), 1);
  const Value& counts = *group.find("Counts");
  std::int64_t sum = 0;
  for (const auto& [name, count] : counts.members()) sum += *count.as_integer();
  EXPECT_EQ(sum, 3);
  EXPECT_EQ(counts.integer_or("Ready"), 1);
}

TEST(Views, EstimatesTheOpeningFromTheArrivalsOfThisGathering) {
  FakeWorld world(4, 4);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  EXPECT_TRUE(group_of(world).find("EstimatedOpen")->is_null());
  world.pass_time(seconds{30});
  world.bring_up("gpu-2");
  EXPECT_DOUBLE_EQ(group_of(world).real_or("ArrivalsPerMinute"), 2.0);
  EXPECT_DOUBLE_EQ(group_of(world).real_or("EstimatedOpen"), to_seconds(world.now + seconds{60}));
}

TEST(Views, ThePaceFallsWhileNothingArrives) {
  FakeWorld world(4, 4);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.pass_time(seconds{30});
  world.bring_up("gpu-2");
  world.pass_time(seconds{90});
  EXPECT_DOUBLE_EQ(group_of(world).real_or("ArrivalsPerMinute"), 0.5);
}

TEST(Views, AHeldJobIsToldWhatIsThereNowNotWhatWasThereAtItsSubmission) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  world.jobs = {held_job(world.now)};
  world.bring_up("gpu-1");
  const Value status = status_view(state_of(world), world.now);
  expect_has(status.list_or_empty("HeldJobs").at(0).text_or("Text"), "1 of 2 nodes ready");
  expect_has(why(world, "7", "Held"), "1 of 2 nodes ready");
  EXPECT_NE(why(world, "7", "Deadline"), "");
}

TEST(Views, WhyOfANodeNamesWhoDrainedItAndWhatItsChecksFound) {
  FakeWorld world(1, 1);
  bring_up_all(world);
  world.node("gpu-1").drained = true;
  world.node("gpu-1").reason = "bad fan";
  world.run_until_quiet();
  world.slot("gpu-1").checks = {{"gres", false, "7 of 8"}};
  expect_has(why(world, "gpu-1", "Drained"), "bad fan");
  EXPECT_EQ(why(world, "gpu-1", "Check gres"), "BAD: 7 of 8");
  EXPECT_EQ(entry_of(group_of(world), "Drained").text_or("Text"), "bad fan");
}

TEST(Views, WhyRefusesAsReadablyAsItAnswers) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  for (const char* name : {"gpu-99", "99", ""}) {
    const auto view = why_view(state_of(world), name, world.now);
    ASSERT_FALSE(view) << name;
    EXPECT_EQ(view.error().kind, ErrorKind::absent) << name;
  }
}

TEST(Views, ANodedThatIsNotHeardAnyMoreIsTold) {
  FakeWorld world(1, 1);
  bring_up_all(world);
  HeadState state = state_of(world);
  state.heard_at[world.slot("gpu-1").instance] = world.now;
  EXPECT_EQ(line_of(*why_view(state, "gpu-1", world.now + seconds{60}), "Noded"), "");
  expect_has(line_of(*why_view(state, "gpu-1", world.now + seconds{180}), "Noded"), "SILENT for 3 min");
}

TEST(Views, ANodeThatCountsAndIsNotUsableIsToldWithItsReasonAndSinceWhen) {
  FakeWorld world(3, 2);
  bring_up_all(world);
  EXPECT_EQ(group_of(world).integer_or("Usable"), 3);
  SeenNode& node = world.node("gpu-2");
  node.base = NodeBase::down;
  node.base_text = "DOWN";
  node.reason = "Not responding";
  node.reason_time = world.now;
  world.pass_time(minutes{4});
  const Value group = group_of(world);
  EXPECT_EQ(group.integer_or("Ready"), 3);
  EXPECT_EQ(group.integer_or("Usable"), 2);
  EXPECT_EQ(entry_of(group, "Unusable").text_or("Nodes"), "gpu-2");
  EXPECT_EQ(entry_of(group, "Unusable").text_or("Text"), "DOWN (Not responding)");
  EXPECT_DOUBLE_EQ(entry_of(group, "Unusable").real_or("Since"), to_seconds(world.now - minutes{4}));
  expect_has(why(world, "gpu", "Nodes"), "3 counted, 2 usable");
  expect_has(why(world, "gpu", "gpu-2"), "DOWN (Not responding), for 4 min");
  expect_has(why(world, "gpu-2", "Not usable"), "DOWN (Not responding), for 4 min");
}

TEST(Views, NothingIsSaidOfNodesWhileSlurmWasNotReadYet) {
  FakeWorld world(2, 1);
  bring_up_all(world);
  HeadState state = state_of(world);
  state.nodes.reset();
  const Value group = status_view(state, world.now).list_or_empty("Groups").at(0);
  EXPECT_EQ(group.integer_or("Usable"), 2);
  EXPECT_TRUE(group.list_or_empty("Unusable").empty());
}

TEST(Views, ARolledBackGroupIsToldThoughItIsInService) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.pass_time(hours{4});
  world.run_until_quiet();
  const Value group = group_of(world);
  EXPECT_EQ(group.text_or("Status"), "InService");
  expect_has(group.text_or("RolledBack"), "1 of 2 nodes ready at the deadline");
  expect_has(why(world, "gpu", "Rolled back"), "it has target 0, MinCount 0 since");
}

TEST(Views, TheDeadlineSaysWhatHappensThenAndHowMuchOfTheBoundIsSpent) {
  FakeWorld world(2, 2);
  world.spec().max_idle_node_hours = 2;
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.pass_time(minutes{6});
  const Value group = group_of(world);
  expect_has(group.text_or("DeadlineAction"), "rolled back to target 0, MinCount 0: its machines are ended");
  const Value& idle = *group.find("IdleNodeHours");
  EXPECT_DOUBLE_EQ(idle.real_or("Spent"), 0.2);
  EXPECT_DOUBLE_EQ(idle.real_or("ReachedAt"), to_seconds(world.now + minutes{54}));
  expect_has(why(world, "gpu", "Cost"), "0.2 of 2.0 node hours");
}

TEST(Views, ATypeInTroubleIsToldWithItsNextTry) {
  FakeWorld world(1, 0);
  world.spec().instance_types = {"big"};
  world.types_without_capacity = {"big"};
  world.run_until_quiet();
  const Value trouble = entry_of(group_of(world), "Troubles");
  EXPECT_EQ(trouble.text_or("Text"), "instance type big: capacity, 1 failure in a row: no big");
  EXPECT_GT(trouble.real_or("RetryAt"), to_seconds(world.now));
  expect_has(why(world, "gpu", "Trouble"), "; tried again in ");
  expect_has(message_of(world, "gpu-1"), "waits for instance type big, tried again in ");
}

TEST(Views, AStoppedTypeSaysWhatToDo) {
  FakeWorld world(1, 0);
  for (int attempt = 0; attempt < 3; ++attempt) {
    world.next_launch_fails = FailureClass::configuration;
    world.run_until_quiet();
    world.pass_time(hours{1});
  }
  const Value group = group_of(world);
  EXPECT_EQ(group.text_or("Status"), "Failed");
  const Value trouble = entry_of(group, "Troubles");
  EXPECT_TRUE(trouble.boolean_or("Stopped"));
  expect_has(trouble.text_or("Advice"), "stopped: mend");
  expect_has(message_of(world, "gpu-1"), "stopped: mend");
}

TEST(Views, ASlotThatWaitsForItsTurnSaysSo) {
  FakeWorld world(3, 0);
  world.wanted.providers["fake"].max_launches = 2;
  world.hold_provider_calls = true;
  world.run_until_quiet();
  expect_has(message_of(world, "gpu-1"), "launch asked of provider fake");
  expect_has(message_of(world, "gpu-3"), "waits for its turn: provider fake is asked for 2 machines at once");
}

TEST(Views, ASlotThatWaitsForSlurmSaysForWhat) {
  FakeWorld world(1, 0);
  world.commit(world.decide());  // the slot is there, and what it asks Slurm for is not done yet
  world.slurm_is_away = true;
  expect_has(message_of(world, "gpu-1"), "waits for its record in Slurm");
  HeadState state = state_of(world);
  state.slurm_is_up = false;
  const GroupRecord& group = state.ledger.groups.at(world.spec().name);
  expect_has(SlotWords(state, world.now).message(world.spec(), group, group.slots.front()),
             "waits for slurmctld, which does not answer");
}

TEST(Views, ASlotBehindAControllerNamesIt) {
  FakeWorld world(1, 0);
  GroupSpec controller = world.spec();
  controller.name = GroupName{"ctl"};
  controller.node_prefix = "ctl-";
  controller.node_type = NodeType::controller;
  controller.min_count = 1;
  world.wanted.groups.push_back(controller);
  world.run_until_quiet();
  expect_has(message_of(world, "gpu-1"), "waits for a controller, which comes first: group ctl (Creating: ");
  EXPECT_TRUE(group_of(world).boolean_or("WaitsForController"));
  const Value status = status_view(state_of(world), world.now);
  EXPECT_EQ(status.text_or("ClusterStatus"), "Creating");
  EXPECT_EQ(status.text_or("ClusterStatusReason"), "waits for its first controller");
}

TEST(Views, ANodeThatIsToGoSaysForHowManyJobsItWaitsAndUntilWhen) {
  FakeWorld world(3, 0);
  bring_up_all(world);
  world.jobs = {job_on(5, {"gpu-2"}), job_on(6, {"gpu-2"})};
  world.node("gpu-2").base = NodeBase::allocated;
  ASSERT_TRUE(world.command(ReplaceNodes{{NodeName{"gpu-2"}}}));
  world.run_until_quiet();
  expect_has(message_of(world, "gpu-2"),
             "to be replaced (asked for by uid 0) when its 2 jobs have ended, in 1 d at the latest");
  const Value leaving = entry_of(group_of(world), "Leaving");
  EXPECT_EQ(leaving.text_or("Nodes"), "gpu-2");
  EXPECT_EQ(leaving.integer_or("JobsEach"), 2);
  expect_has(why(world, "5", "gpu-2"), "the job is ended with it in 1 d");
  EXPECT_EQ(instance_status(world.slot("gpu-2"), world.now), "ShuttingDown");
}

TEST(Views, ADepartedNodeSaysWhenItsRecordGoes) {
  FakeWorld world(2, 0);
  bring_up_all(world);
  ASSERT_TRUE(world.scale(1));
  world.run_until_quiet();
  expect_has(message_of(world, "gpu-2"), "its machine is gone; its record in Slurm is deleted in 10 min");
  EXPECT_EQ(group_of(world).find("Counts")->integer_or("Departed"), 1);
}

TEST(Views, WhatOfSlurmDoesNotFitTheGroupsIsWarnedOf) {
  FakeWorld world(2, 0);
  bring_up_all(world);
  HeadState state = state_of(world);
  state.facts.emplace();
  EXPECT_EQ(*status_view(state, world.now).list_or_empty("Warnings").at(0).as_text(),
            "partition gpu of group gpu is not in Slurm any more: no job reaches its nodes");
  SlurmFacts::Partition partition;
  partition.name = PartitionName{"gpu"};
  partition.state = "DOWN";
  state.facts->partitions = {partition};
  expect_has(*status_view(state, world.now).list_or_empty("Warnings").at(0).as_text(), "partition gpu is DOWN");
  state.facts->partitions.front().state = "UP";
  EXPECT_TRUE(status_view(state, world.now).list_or_empty("Warnings").empty());
  SeenNodes nodes = world.nodes();
  nodes.at(NodeName{"gpu-1"}).base = NodeBase::unknown;
  nodes.at(NodeName{"gpu-1"}).base_text = "SLEEPY";
  state.nodes = std::make_shared<const SeenNodes>(nodes);
  expect_has(*status_view(state, world.now).list_or_empty("Warnings").at(0).as_text(), "gpu-1 in state SLEEPY");
}

TEST(Views, WhyOfALargeGroupStaysOnOneScreen) {
  FakeWorld world(300, 300);
  world.wanted.providers["fake"].max_launches = 256;
  world.run_until_quiet();
  int number = 0;
  for (SlotRecord& slot : world.group().slots) slot.state_since = world.now - seconds{++number};
  const auto view = why_view(state_of(world), "gpu", world.now);
  ASSERT_TRUE(view);
  EXPECT_LT(view->list_or_empty("Lines").size(), 40U);
  expect_has(line_of(*view, "And"), "muster nodes gpu");
}

TEST(Views, SlotsHaveHyperPodsStates) {
  SlotRecord slot;
  const Time now{seconds{100}};
  EXPECT_EQ(instance_status(slot, now), "Pending");
  slot.last_failure = FailureClass::capacity;
  EXPECT_EQ(instance_status(slot, now), "Failure") << "a try failed; another one comes by itself";
  slot.state = SlotState::ready;
  EXPECT_EQ(instance_status(slot, now), "Pending");
  slot.state = SlotState::in_service;
  EXPECT_EQ(instance_status(slot, now), "Running");
  slot.state = SlotState::rebooting;
  EXPECT_EQ(instance_status(slot, now), "Pending");
  slot.state = SlotState::terminating;
  EXPECT_EQ(instance_status(slot, now), "ShuttingDown");
}

TEST(Views, DescribeClusterHasTheMembersThatTheApiRequires) {
  FakeWorld world(2, 1);
  world.spec().instance_types = {"a", "b"};
  world.run_until_quiet();
  HeadState state = state_of(world);
  state.ledger.cluster.failure = "controller group ctl: no capacity";
  const Value view = describe_cluster_view(state);
  for (const char* required : {"ClusterArn", "ClusterStatus", "InstanceGroups"})
    EXPECT_TRUE(view.find(required)) << required;
  EXPECT_EQ(view.text_or("FailureMessage"), "controller group ctl: no capacity");
  const Value& group = view.list_or_empty("InstanceGroups").at(0);
  EXPECT_EQ(group.integer_or("TargetCount"), 2);
  EXPECT_EQ(group.integer_or("MinCount"), 1);
  EXPECT_EQ(group.find("ActiveOperations")->integer_or("Scaling"), 1);
  EXPECT_EQ(group.find("SlurmConfig")->text_or("NodeType"), "Compute");
  EXPECT_EQ(group.find("InstanceRequirements")->list_or_empty("DesiredInstanceTypes").size(), 2U);
}

TEST(Views, APlanIsToldInWords) {
  FakeWorld world(1, 0);
  const Value view = plan_view(world.decide());
  EXPECT_EQ(view.list_or_empty("Actions").size(), 1U);
  expect_has(*view.list_or_empty("Actions").at(0).as_text(), "make records gpu-1");
  EXPECT_EQ(view.list_or_empty("Events").at(0).text_or("Kind"), "GroupCreating");
}

}  // namespace
}  // namespace muster::logic
