// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/release.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/fake_world.hpp"

namespace muster::logic {
namespace {

using tests::FakeWorld;

SeenJob held_job(JobId id, int nodes) {
  SeenJob job;
  job.id = id;
  job.partition = "gpu";
  job.state = "PENDING";
  job.priority = 0;
  job.min_nodes = nodes;
  job.admin_comment = "muster: held until group gpu opens";
  return job;
}

struct Outcome {
  ReleaseJobs release;
  std::vector<Event> events;
};

Outcome decide(FakeWorld& world, const std::vector<SeenJob>& jobs) {
  Seen seen;
  seen.nodes = std::make_shared<const SeenNodes>(world.nodes());
  Outcome outcome;
  outcome.release = plan_releases(make_gate_table(world.wanted, world.ledger, seen, world.now), jobs, world.now,
                                  world.ledger, outcome.events);
  return outcome;
}

TEST(Release, KeepsAHeldJobWhileItsGroupGathers) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  EXPECT_TRUE(decide(world, {held_job(7, 2)}).release.jobs.empty());
}

TEST(Release, ReleasesAHeldJobOnceItsNodesAreSeenOpen) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.bring_up("gpu-2");
  const Outcome outcome = decide(world, {held_job(7, 2)});
  ASSERT_EQ(outcome.release.jobs.size(), 1u);
  EXPECT_EQ(outcome.release.jobs[0].job, 7u);
  EXPECT_EQ(outcome.release.jobs[0].admin_comment.rfind("muster: released", 0), 0u);
}

TEST(Release, DoesNotReleaseByTheLedgerAloneBeforeSlurmShowsTheNodesOpen) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.bring_up("gpu-2");
  world.node("gpu-2").drained = true;  // the opening did not reach this one
  EXPECT_TRUE(decide(world, {held_job(7, 2)}).release.jobs.empty());
}

TEST(Release, LeavesJobsAloneThatWeDidNotHold) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  SeenJob users_own = held_job(8, 1);
  users_own.admin_comment.clear();
  SeenJob admins = held_job(9, 1);
  admins.admin_comment = "see ticket";
  EXPECT_TRUE(decide(world, {users_own, admins}).release.jobs.empty());
}

TEST(Release, LeavesAnAdminsHoldAlone) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  SeenJob job = held_job(7, 1);
  job.reason = "JobHeldAdmin";
  EXPECT_TRUE(decide(world, {job}).release.jobs.empty());
}

TEST(Release, LeavesAHoldAloneThatCameAfterSomebodyHadReleasedOurs) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  SeenJob job = held_job(7, 1);
  job.priority = 4294901757;
  decide(world, {job});
  world.bring_up("gpu-1");
  EXPECT_TRUE(decide(world, {held_job(7, 1)}).release.jobs.empty());
}

TEST(Release, TellsOnceThatSomebodyReleasedAJobEarly) {
  FakeWorld world(2, 2);
  world.run_until_quiet();
  SeenJob job = held_job(7, 2);
  job.priority = 4294901757;
  EXPECT_EQ(decide(world, {job}).events.size(), 1u);
  EXPECT_EQ(decide(world, {job}).events.size(), 0u);
  EXPECT_TRUE(decide(world, {}).events.empty());
  EXPECT_TRUE(world.ledger.released_by_others.empty()) << "forgotten with the job";
}

SeenJob given_up_job(JobId id, int nodes) {
  SeenJob job = held_job(id, nodes);
  job.reason = "BadConstraints";
  job.admin_comment = "muster: released after 5 min on hold";
  return job;
}

TEST(Release, ReleasesAJobAgainThatSlurmGaveUpWhenItsNodesWereLost) {
  FakeWorld world(2, 0);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  EXPECT_TRUE(decide(world, {given_up_job(7, 2)}).release.jobs.empty()) << "its nodes are not back";
  world.bring_up("gpu-2");
  const Outcome outcome = decide(world, {given_up_job(7, 2)});
  ASSERT_EQ(outcome.release.jobs.size(), 1u);
  EXPECT_EQ(outcome.events.size(), 1u);
}

TEST(Release, DoesNotReleaseAJobForEverThatSlurmGivesUpForAnotherReason) {
  FakeWorld world(3, 0);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  world.bring_up("gpu-2");
  SeenJob job = given_up_job(7, 2);
  job.admin_comment = decide(world, {job}).release.jobs.at(0).admin_comment;
  EXPECT_TRUE(decide(world, {job}).release.jobs.empty()) << "no node has come since";
  world.bring_up("gpu-3");
  EXPECT_EQ(decide(world, {job}).release.jobs.size(), 1u);
}

TEST(Release, LeavesAReleasedJobAloneThatItsOwnerHolds) {
  FakeWorld world(1, 0);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  SeenJob job = given_up_job(7, 1);
  job.reason = "JobHeldUser";
  EXPECT_TRUE(decide(world, {job}).release.jobs.empty());
}

TEST(Release, AsksAgainForAJobThatItsReleaseDidNotReach) {
  FakeWorld world(1, 0);
  world.run_until_quiet();
  world.bring_up("gpu-1");
  EXPECT_EQ(decide(world, {held_job(7, 1)}).release.jobs.size(), 1u);
  EXPECT_EQ(decide(world, {held_job(7, 1)}).release.jobs.size(), 1u);
}

TEST(GateTableOfNow, CountsNodesThatOthersMadeAsForeign) {
  FakeWorld world(1, 1);
  world.run_until_quiet();
  SeenNode foreign;
  foreign.base = NodeBase::idle;
  foreign.partitions = "gpu,all";
  world.nodes()[NodeName{"old-1"}] = foreign;
  Seen seen;
  seen.nodes = std::make_shared<const SeenNodes>(world.nodes());
  const GateTable table = make_gate_table(world.wanted, world.ledger, seen, world.now);
  ASSERT_EQ(table.partitions.size(), 1u);
  EXPECT_EQ(table.partitions[0].foreign_nodes, 1);
}

}  // namespace
}  // namespace muster::logic
