// SPDX-License-Identifier: GPL-2.0-or-later
//
// A site in which everything goes wrong at random: a cluster made up from a seed, commands, admins, faults and crashes.
// Afterwards the trouble ends, and everything has to come out as it was asked for.
#pragma once

#include <deque>
#include <random>
#include <string>
#include <vector>

#include "simulator/promises.hpp"
#include "simulator/world.hpp"

namespace muster::tests {

class Chaos : public simulator::HeadObserver {
 public:
  explicit Chaos(std::uint64_t seed);

  simulator::World& world() { return *world_; }
  simulator::Promises& promises() { return *promises_; }
  /// So many acts of chance, with time between them.
  void disturb(int acts);
  /// All trouble ends; then time goes on until everything is there, but not for ever.
  void heal();
  /// The breaches and the last acts, for a failure's message.
  std::string story() const;

  void saw_events(const std::vector<logic::Event>& events) override;
  void before_action(const logic::Action& action) override { note("  " + describe(action)); }

 private:
  logic::ClusterSpec make_cluster();
  logic::GroupSpec make_group(const std::string& name, logic::NodeType type);
  void add_what_is_not_ours();

  void act();
  void command();
  void admin();
  void provider_trouble();
  void machine_trouble();
  void slurm_trouble();
  void head_trouble();
  void submit_jobs();

  int pick(int low, int high) { return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1)); }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  const logic::GroupSpec& any_group();
  logic::NodeName any_node(const logic::GroupSpec& group);
  simulator::Machine* any_machine();
  void note(const std::string& what);

  std::uint64_t seed_;
  std::mt19937 random_;
  std::unique_ptr<simulator::World> world_;
  std::unique_ptr<simulator::Promises> promises_;
  std::deque<std::string> last_lines_;
  int dies_in_ = 0;
};

}  // namespace muster::tests
