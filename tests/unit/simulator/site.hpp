// SPDX-License-Identifier: GPL-2.0-or-later
//
// A small site for tests of the promises: two groups of one provider, and what is not ours.
#pragma once

#include <string>

#include "simulator/promises.hpp"
#include "simulator/world.hpp"

namespace muster::tests {

inline logic::GroupSpec site_group(const std::string& name) {
  logic::GroupSpec group;
  group.name = logic::GroupName{name};
  group.node_prefix = name + "-";
  group.partition = logic::PartitionName{"gpu"};
  group.target_count = 3;
  group.min_count = 2;
  group.provider = "cloud";
  group.cpus = 4;
  group.memory_mib = 1000;
  group.gres = {{"gpu", "h100", 4}};
  group.deadline = std::chrono::minutes{30};
  group.boot_timeout = std::chrono::minutes{5};
  group.register_timeout = std::chrono::minutes{3};
  group.settle_time = std::chrono::seconds{5};
  group.prune_after = std::chrono::minutes{1};
  group.drain_timeout = std::chrono::minutes{5};
  return group;
}

inline logic::ClusterSpec site_spec() {
  logic::ClusterSpec spec;
  spec.name = "lab";
  logic::ProviderSpec provider;
  provider.name = "cloud";
  provider.idempotent_launch = true;
  provider.list_interval = std::chrono::seconds{10};
  provider.call_timeout = std::chrono::seconds{20};
  spec.providers["cloud"] = provider;
  spec.groups = {site_group("a"), site_group("b")};
  return spec;
}

/// The world, and the promises that watch it.
struct Site {
  explicit Site(logic::ClusterSpec spec = site_spec(), simulator::WorldSettings settings = {})
      : world(std::move(spec), settings), promises(world) {
    world.head().observe(&promises);
    world.slurm().add_static_node(logic::NodeName{"storage"}, logic::PartitionName{"cpu"}, "");
    foreign = world.provider("cloud").add_foreign_machine(world.spec().groups.front(), "another-lab.a-1.1");
  }
  bool has_broken(simulator::Promise promise) const {
    for (const simulator::Breach& breach : promises.breaches()) {
      if (breach.promise == promise) return true;
    }
    return false;
  }
  std::string broken() const {
    std::string text;
    for (const simulator::Breach& breach : promises.breaches())
      text += std::string(promise_name(breach.promise)) + ": " + breach.text + "\n";
    return text;
  }
  const logic::SlotRecord& slot(const std::string& group, std::size_t index) const {
    return world.head().ledger().groups.at(logic::GroupName{group}).slots.at(index);
  }

  simulator::World world;
  simulator::Promises promises;
  logic::InstanceId foreign;
};

}  // namespace muster::tests
