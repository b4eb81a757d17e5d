// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/slurm_messages.hpp"

#include <gtest/gtest.h>

namespace muster::logic {
namespace {

Value job(std::initializer_list<std::pair<std::string, Value>> more) {
  Value record = Value::map({{"id", 7}, {"state", "RUNNING"}, {"partition", "gpu"}});
  for (const auto& [key, value] : more) record.set(key, value);
  Value list = Value::list();
  list.push(std::move(record));
  return Value::map({{"jobs", std::move(list)}});
}

Time at(std::int64_t seconds) { return time_from_milliseconds(seconds * 1000); }

TEST(SeenNodes, TellWhoGaveTheReasonAndWhen) {
  Value list = Value::list();
  list.push(Value::map({{"name", "gpu-1"},
                        {"state", "DOWN"},
                        {"reason", "broken fan"},
                        {"reason_uid", 1000},
                        {"reason_time", 1700000000},
                        {"boot_time", 1600000000},
                        {"version", "22.05.8"}}));
  list.push(Value::map({{"name", "gpu-2"}, {"state", "IDLE"}, {"reason", Value()}, {"reason_uid", Value()}}));
  const auto nodes = read_seen_nodes(Value::map({{"nodes", std::move(list)}}));
  ASSERT_TRUE(nodes) << nodes.error().message;
  const SeenNode& down = nodes->at(NodeName{"gpu-1"});
  EXPECT_EQ(down.reason_uid, 1000);
  EXPECT_EQ(down.reason_time, at(1700000000));
  EXPECT_EQ(down.boot_time, at(1600000000));
  EXPECT_EQ(down.version, "22.05.8");
  const SeenNode& idle = nodes->at(NodeName{"gpu-2"});
  EXPECT_EQ(idle.reason_uid, -1);
  EXPECT_EQ(idle.reason_time, no_time);
}

TEST(SeenJobs, NameTheirNodesOneByOne) {
  const auto jobs = read_seen_jobs(job({{"nodes", "gpu-[1-2,5]"}, {"required_nodes", "gpu-5"}}));
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_EQ(jobs->front().nodes, (std::vector<NodeName>{NodeName{"gpu-1"}, NodeName{"gpu-2"}, NodeName{"gpu-5"}}));
  EXPECT_EQ(jobs->front().required_nodes, std::vector<NodeName>{NodeName{"gpu-5"}});
}

TEST(SeenJobs, WithoutNodesHaveNone) {
  const auto jobs = read_seen_jobs(job({{"nodes", Value()}, {"required_nodes", Value()}}));
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_TRUE(jobs->front().nodes.empty());
  EXPECT_TRUE(jobs->front().required_nodes.empty());
}

TEST(SeenJobs, AreUnknownWhereTheirNodesCannotBeRead) {
  const auto jobs = read_seen_jobs(job({{"nodes", "gpu-[1-"}}));
  ASSERT_FALSE(jobs);
  EXPECT_EQ(jobs.error().message, "job 7: nodes: host list \"gpu-[1-\": a bracket is not closed");
}

TEST(SeenJobs, AreKnownWhateverAUserWroteAsRequiredNodes) {
  const auto jobs = read_seen_jobs(job({{"nodes", "gpu-1"}, {"required_nodes", "gpu-[1-999999999]"}}));
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_TRUE(jobs->front().required_nodes.empty());
}

TEST(SeenReservations, TellWhichNodesAndWhen) {
  Value list = Value::list();
  list.push(
      Value::map({{"name", "upgrade"}, {"nodes", "gpu-[3-4]"}, {"start_time", 1700000000}, {"end_time", 1700003600}}));
  list.push(Value::map({{"name", "licences"}, {"nodes", Value()}, {"start_time", 1700000000}, {"end_time", Value()}}));
  const auto reservations = read_seen_reservations(Value::map({{"reservations", std::move(list)}}));
  ASSERT_TRUE(reservations) << reservations.error().message;
  ASSERT_EQ(reservations->size(), 2u);
  EXPECT_EQ(reservations->front().name, "upgrade");
  EXPECT_EQ(reservations->front().nodes, (std::vector<NodeName>{NodeName{"gpu-3"}, NodeName{"gpu-4"}}));
  EXPECT_EQ(reservations->front().start, at(1700000000));
  EXPECT_EQ(reservations->front().end, at(1700003600));
  EXPECT_TRUE(reservations->back().nodes.empty());
  EXPECT_EQ(reservations->back().end, no_time);
}

TEST(SeenReservations, AreUnknownWithoutAList) { EXPECT_FALSE(read_seen_reservations(Value::map({}))); }

TEST(SlurmFacts, TellNeverFromAtOnce) {
  const auto facts = read_slurm_facts(Value::map({{"suspend_time", Value()}, {"slurmd_timeout", 300}}),
                                      Value::map({{"partitions", Value::list()}}));
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->suspend_time, std::nullopt);
  EXPECT_EQ(facts->slurmd_timeout, 300);
}

TEST(SlurmFacts, NodesGetTheirConfigurationFromEachController) {
  Value hosts = Value::list();
  for (const char* host : {"head", "head2"}) hosts.push(Value(host));
  const auto facts = read_slurm_facts(Value::map({{"controller_hosts", std::move(hosts)},
                                                  {"controller_port", 7000},
                                                  {"slurmctld_parameters", "enable_configless"}}),
                                      Value::map({{"partitions", Value::list()}}));
  EXPECT_EQ(facts->conf_server(), "head:7000,head2:7000");
}

TEST(Controllers, AreReadInTheirOrderAndOneThatWasNotAskedDoesNotAnswer) {
  Value list = Value::list();
  list.push(Value::map({{"host", "head"}, {"address", "10.0.0.1"}, {"answers", true}}));
  list.push(Value::map({{"host", "head2"}, {"address", "head2"}, {"answers", Value()}}));
  const auto controllers = read_controllers(Value::map({{"controllers", std::move(list)}}));
  ASSERT_TRUE(controllers) << controllers.error().message;
  ASSERT_EQ(controllers->size(), 2u);
  EXPECT_EQ(controllers->front().address, "10.0.0.1");
  EXPECT_TRUE(controllers->front().answers);
  EXPECT_FALSE(controllers->back().answers);
}

TEST(Controllers, AnAnswerWithoutThemIsNoAnswer) {
  EXPECT_FALSE(read_controllers(Value::map()));
  Value list = Value::list();
  list.push(Value::map({{"answers", true}}));
  EXPECT_FALSE(read_controllers(Value::map({{"controllers", std::move(list)}})));
}

TEST(SlurmFacts, ServeTheConfigurationOnlyWhereSlurmctldDoes) {
  Value hosts = Value::list();
  hosts.push(Value("head"));
  Value config = Value::map({{"controller_hosts", std::move(hosts)}, {"slurmctld_parameters", "enable_configless"}});
  const Value partitions = Value::map({{"partitions", Value::list()}});
  EXPECT_EQ(read_slurm_facts(config, partitions)->conf_server(), "head:6817");
  config.set("slurmctld_parameters", Value("idle_on_node_suspend"));
  EXPECT_EQ(read_slurm_facts(config, partitions)->conf_server(), "");
}

}  // namespace
}  // namespace muster::logic
