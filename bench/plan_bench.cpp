// SPDX-License-Identifier: GPL-2.0-or-later
//
// Time of one planning pass at 10,000 nodes in 20 groups: when nothing changed, and when everything did. Both in one
// run.
//   plan_bench [GROUPS] [NODES_PER_GROUP]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "logic/plan.hpp"

namespace {

using namespace muster::logic;

struct World {
  ClusterSpec wanted;
  Ledger ledger;
  Seen seen;
  Time now{std::chrono::hours{500000}};
};

World make_world(int groups, int nodes_per_group) {
  World world;
  world.wanted.name = "bench";
  world.wanted.providers["fake"].name = "fake";
  auto nodes = std::make_shared<SeenNodes>();
  for (int g = 0; g < groups; ++g) {
    GroupSpec spec;
    spec.name = GroupName{"g" + std::to_string(g)};
    spec.partition = PartitionName{"gpu"};
    spec.target_count = nodes_per_group;
    spec.min_count = nodes_per_group / 2;
    spec.provider = "fake";
    spec.node_prefix = spec.name.str() + "-";
    spec.cpus = 96;
    spec.memory_mib = 2'000'000;
    spec.gres = {{"gpu", "h100", 8}};
    world.wanted.groups.push_back(spec);
    for (int i = 1; i <= nodes_per_group; ++i) {
      SeenNode node;
      node.base = NodeBase::idle;
      node.base_text = "IDLE";
      node.cpus = spec.cpus;
      node.memory_mib = spec.memory_mib;
      node.slurmd_start_time = world.now;
      node.address = "10.1.2.3";
      node.gres = gres_text(spec.gres);
      node.partitions = "gpu";
      nodes->emplace(spec.node_name(i), node);
    }
  }
  // A ledger in which everything is in service, with the texts of real life.
  world.seen.nodes = std::make_shared<const SeenNodes>();
  world.ledger = plan(world.wanted, world.ledger, world.seen, world.now).ledger;
  world.seen.nodes = nodes;
  for (auto& [name, group] : world.ledger.groups) {
    group.gate_open = true;
    group.status = GroupStatus::in_service;
    for (SlotRecord& slot : group.slots) {
      slot.state = SlotState::in_service;
      slot.attempt = 1;
      slot.token = LaunchToken{"bench." + slot.name.str() + ".1"};
      slot.instance = InstanceId{"i-0123456789abcdef0-" + slot.name.str()};
      slot.address = "10.1.2.3";
      slot.boot_id = "8c1f6b5a-9d3e-0f42-8c1f-6b5a9d3e0f42";
      slot.node_step = "running";
      slot.slurmd_start = slot.node_slurmd_start = 1;
      slot.node_slurmd_alive = true;
      slot.checks = {{"munge", true, "accepted by the head"}, {"clock", true, "3 ms"}, {"gres", true, "8 of 8"}};
    }
  }
  return world;
}

double median_milliseconds(int runs, const std::function<void()>& run) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int groups = argc > 1 ? std::atoi(argv[1]) : 20;
  const int nodes_per_group = argc > 2 ? std::atoi(argv[2]) : 500;
  const World quiet = make_world(groups, nodes_per_group);
  std::size_t actions = 0;
  const double idle = median_milliseconds(
      21, [&] { actions = plan(quiet.wanted, quiet.ledger, quiet.seen, quiet.now).actions.size(); });
  std::printf("nothing changed      %6d nodes in %3d groups  %8.2f ms a pass  %zu actions\n", groups * nodes_per_group,
              groups, idle, actions);

  World lost = quiet;  // every record is gone, as after slurmctld -c
  lost.seen.nodes = std::make_shared<const SeenNodes>();
  const double all_lost =
      median_milliseconds(21, [&] { actions = plan(lost.wanted, lost.ledger, lost.seen, lost.now).actions.size(); });
  std::printf("every record lost    %6d nodes in %3d groups  %8.2f ms a pass  %zu actions\n", groups * nodes_per_group,
              groups, all_lost, actions);

  World arrived = quiet;  // every machine reports at once, and every gate opens
  for (auto& [name, group] : arrived.ledger.groups) {
    group.gate_open = false;
    for (SlotRecord& slot : group.slots) {
      slot.state = SlotState::settling;
      slot.state_since = arrived.now - std::chrono::minutes{1};
      NodeReport report;
      report.instance = slot.instance;
      report.boot_id = slot.boot_id;
      report.address = slot.address;
      report.step = NodeStep::running;
      report.slurmd_start = 1;
      report.slurmd_alive = true;
      report.checks = slot.checks;
      arrived.seen.reports.push_back(report);
    }
  }
  auto drained = std::make_shared<SeenNodes>(*quiet.seen.nodes);
  for (auto& [name, node] : *drained) node.drained = true;
  arrived.seen.nodes = drained;
  const double all_arrived = median_milliseconds(
      21, [&] { actions = plan(arrived.wanted, arrived.ledger, arrived.seen, arrived.now).actions.size(); });
  std::printf("every node arrived   %6d nodes in %3d groups  %8.2f ms a pass  %zu actions\n", groups * nodes_per_group,
              groups, all_arrived, actions);
  std::printf("all changed against nothing changed: %.1f and %.1f times\n", all_lost / idle, all_arrived / idle);
  return 0;
}
