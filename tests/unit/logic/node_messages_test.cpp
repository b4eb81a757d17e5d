// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/node_messages.hpp"

#include <gtest/gtest.h>

namespace muster::logic {
namespace {

NodeReport full_report() {
  NodeReport report;
  report.instance = InstanceId{"i-1"};
  report.node_name = "gpu-1";
  report.boot_id = "b";
  report.host_name = "gpu-1";
  report.address = "10.0.0.1";
  report.step = NodeStep::starting;
  report.message = "starts";
  report.checks = {{"munge", true, "good"}, {"gres", false, "7 of 8"}};
  report.slurmd_start = 3;
  report.slurmd_alive = true;
  report.cpus = 96;
  report.memory_mib = 2'000'000;
  return report;
}

TEST(NodeMessages, AReportArrivesAsItWasSent) {
  const NodeReport sent = full_report();
  const auto got = read_report(report_body(sent, 7, std::chrono::seconds{50}, time_from_seconds(1)));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->instance, sent.instance);
  EXPECT_EQ(got->node_name, sent.node_name);
  EXPECT_EQ(got->boot_id, sent.boot_id);
  EXPECT_EQ(got->host_name, sent.host_name);
  EXPECT_EQ(got->address, sent.address);
  EXPECT_EQ(got->step, sent.step);
  EXPECT_EQ(got->message, sent.message);
  EXPECT_EQ(got->checks, sent.checks);
  EXPECT_EQ(got->slurmd_start, sent.slurmd_start);
  EXPECT_EQ(got->slurmd_alive, sent.slurmd_alive);
  EXPECT_EQ(got->cpus, sent.cpus);
  EXPECT_EQ(got->memory_mib, sent.memory_mib);
}

TEST(NodeMessages, AnAssignmentArrivesAsItWasSent) {
  Assignment sent;
  sent.generation = 9;
  sent.assigned = true;
  sent.node = NodeName{"gpu-1"};
  sent.group = GroupName{"gpu"};
  sent.node_conf = "CPUs=2 RealMemory=1000";
  sent.gres = {{"gpu", "h100", 8}};
  sent.cpus = 2;
  sent.memory_mib = 1000;
  sent.conf_server = "head:6817";
  sent.slurmd_start = 2;
  sent.head_time = time_from_milliseconds(1500);
  const auto got = read_assignment(assignment_body(sent, "Pending", "waits"));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->generation, sent.generation);
  EXPECT_EQ(got->node, sent.node);
  EXPECT_EQ(got->group, sent.group);
  EXPECT_EQ(got->node_conf, sent.node_conf);
  EXPECT_EQ(got->gres, sent.gres);
  EXPECT_EQ(got->cpus, sent.cpus);
  EXPECT_EQ(got->memory_mib, sent.memory_mib);
  EXPECT_EQ(got->conf_server, sent.conf_server);
  EXPECT_EQ(got->slurmd_start, sent.slurmd_start);
  EXPECT_EQ(got->head_time, sent.head_time);
}

TEST(NodeMessages, RefuseAReportWithoutAnIdOrWithAStepThatIsNone) {
  EXPECT_FALSE(read_report(Value::map({{"Step", "ready"}})));
  EXPECT_FALSE(read_report(Value::map({{"InstanceId", "i-1"}, {"Step", "flying"}})));
  EXPECT_FALSE(read_report(Value::map({{"InstanceId", "i-1"}})));
}

TEST(NodeMessages, CutWhatANodeMaySay) {
  Value checks = Value::list();
  for (int i = 0; i < 1000; ++i) checks.push(Value::map({{"Name", std::string(10000, 'x')}}));
  const auto report =
      read_report(Value::map({{"InstanceId", "i-1"}, {"Step", "ready"}, {"Address", "$(reboot)"}, {"Checks", checks}}));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->checks.size(), 64u);
  EXPECT_EQ(report->checks[0].name.size(), 512u);
  EXPECT_EQ(report->address, "");
}

}  // namespace
}  // namespace muster::logic
