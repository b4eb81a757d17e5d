// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/views.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/fake_world.hpp"

namespace muster::logic {
namespace {

using std::chrono::seconds;
using tests::FakeWorld;

HeadState state_of(FakeWorld& world) {
  HeadState state;
  state.spec = world.wanted;
  state.ledger = world.ledger;
  state.nodes = std::make_shared<const SeenNodes>(world.nodes());
  state.slurm_is_up = true;
  state.slurm_since = world.now;
  state.role.is_known = state.role.acts = true;
  return state;
}

const Value& group_in(const Value& status) { return status.list_or_empty("Groups").at(0); }

std::string line_of(const Value& why, const std::string& label) {
  for (const Value& line : why.list_or_empty("Lines")) {
    if (line.text_or("Label") == label) return line.text_or("Text");
  }
  return "";
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
  const Value status = status_view(state_of(world), world.now);
  const Value& group = group_in(status);
  EXPECT_EQ(group.text_or("Status"), "Creating");
  EXPECT_EQ(group.integer_or("Ready"), 1);
  const Value& counts = *group.find("Counts");
  EXPECT_EQ(counts.integer_or("Retrying"), 1);
  EXPECT_EQ(counts.integer_or("Booting"), 1);
  EXPECT_EQ(counts.integer_or("Ready"), 1);
  EXPECT_NE(group.find("LastProblem")->text_or("Text").find("gpu-1"), std::string::npos);
}

TEST(Views, EstimatesTheOpeningFromTheArrivalRateOnly) {
  FakeWorld world(4, 4);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  EXPECT_TRUE(group_in(status_view(state_of(world), world.now)).find("EstimatedOpen")->is_null());
  world.pass_time(seconds{30});
  world.bring_up("gpu-2");
  const Value status = status_view(state_of(world), world.now);
  EXPECT_DOUBLE_EQ(group_in(status).real_or("ArrivalsPerMinute"), 2.0);
  EXPECT_DOUBLE_EQ(group_in(status).real_or("EstimatedOpen"), to_seconds(world.now + seconds{60}));
}

TEST(Views, AHeldJobIsToldWhatIsThereNowNotWhatWasThereAtItsSubmission) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  HeadState state = state_of(world);
  state.jobs = {held_job(world.now)};
  world.bring_up("gpu-1");
  state.ledger = world.ledger;
  const std::string text = status_view(state, world.now).list_or_empty("HeldJobs").at(0).text_or("Text");
  EXPECT_NE(text.find("1 of 2 nodes ready"), std::string::npos) << text;
  const auto why = why_view(state, "7", world.now);
  ASSERT_TRUE(why);
  EXPECT_NE(line_of(*why, "Held").find("1 of 2 nodes ready"), std::string::npos);
  EXPECT_NE(line_of(*why, "Deadline"), "");
}

TEST(Views, WhyOfANodeNamesWhoDrainedItAndWhatItsChecksFound) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.node("gpu-1").drained = true;
  world.node("gpu-1").reason = "bad fan";
  world.run_until_quiet();
  world.slot("gpu-1").checks = {{"gres", false, "7 of 8"}};
  const auto why = why_view(state_of(world), "gpu-1", world.now);
  ASSERT_TRUE(why);
  EXPECT_NE(line_of(*why, "Drained").find("bad fan"), std::string::npos);
  EXPECT_EQ(line_of(*why, "Check gres"), "BAD: 7 of 8");
}

TEST(Views, WhyRefusesAsReadablyAsItAnswers) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  EXPECT_FALSE(why_view(state_of(world), "gpu-99", world.now));
  EXPECT_FALSE(why_view(state_of(world), "99", world.now));
  EXPECT_FALSE(why_view(state_of(world), "", world.now));
}

TEST(Views, ANodedThatIsNotHeardAnyMoreIsTold) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  HeadState state = state_of(world);
  state.heard_at[world.slot("gpu-1").instance] = world.now;
  EXPECT_EQ(line_of(*why_view(state, "gpu-1", world.now + seconds{60}), "Noded"), "");
  EXPECT_NE(line_of(*why_view(state, "gpu-1", world.now + seconds{180}), "Noded").find("SILENT for 3 min"),
            std::string::npos);
}

TEST(Views, SlotsHaveHyperPodsStates) {
  SlotRecord slot;
  const Time now{seconds{100}};
  EXPECT_EQ(instance_status(slot, now), "Pending");
  slot.attempt = 1;
  EXPECT_EQ(instance_status(slot, now), "Failure") << "a try failed; another one comes by itself";
  slot.state = SlotState::ready;
  EXPECT_EQ(instance_status(slot, now), "Pending");
  slot.state = SlotState::in_service;
  EXPECT_EQ(instance_status(slot, now), "Running");
  slot.state = SlotState::terminating;
  EXPECT_EQ(instance_status(slot, now), "ShuttingDown");
}

TEST(Views, DescribeClusterHasTheMembersThatTheApiRequires) {
  FakeWorld world(2, 1);
  world.run_until_quiet();
  const HeadState state = state_of(world);
  const Value view = describe_cluster_view(state);
  for (const char* required : {"ClusterArn", "ClusterStatus", "InstanceGroups"})
    EXPECT_TRUE(view.find(required)) << required;
  const Value& group = view.list_or_empty("InstanceGroups").at(0);
  EXPECT_EQ(group.integer_or("TargetCount"), 2);
  EXPECT_EQ(group.integer_or("MinCount"), 1);
  EXPECT_EQ(group.find("ActiveOperations")->integer_or("Scaling"), 1);
}

}  // namespace
}  // namespace muster::logic
