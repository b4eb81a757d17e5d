// SPDX-License-Identifier: GPL-2.0-or-later
//
// Slots in a real slurmctld: musterd's planner and driver make and drain the records of one group and open them, and a
// loop makes one call per node for the same, both in one run. Prints RPCs and times. bench/slots starts the slurmctld.
//   slots_bench HELPER NODES LOOP_NODES
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "musterd/slurm_driver.hpp"
#include "sys/clock.hpp"
#include "sys/event_loop.hpp"

namespace {

using namespace muster;
using logic::NodeName;

class Bench {
 public:
  Bench(sys::EventLoop& loop, const char* helper)
      : loop_(loop), driver_(sys::SlurmLink::create(loop, {helper, ""}), std::chrono::minutes{2}) {}

  struct Cost {
    double seconds = 0;
    std::uint64_t rpcs = 0;
  };
  Cost measure(const std::function<void(std::function<void()>)>& begin) {
    const std::uint64_t rpcs = driver_.rpcs();
    const auto started = std::chrono::steady_clock::now();
    begin([this] { loop_.stop(); });
    if (const auto ran = loop_.run(); !ran) fail(ran.error().message);
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count(), driver_.rpcs() - rpcs};
  }
  Cost execute(const std::vector<logic::Action>& actions) {
    return measure([&](std::function<void()> done) {
      driver_.execute(
          actions, [] { return true; },
          [done](const std::vector<std::string>& problems) {
            if (!problems.empty()) fail(problems.front());
            done();
          });
    });
  }
  Cost look(std::shared_ptr<const logic::SeenNodes>& nodes) {
    return measure([&](std::function<void()> done) {
      driver_.observe([&nodes, done](const musterd::SlurmDriver::View& view) {
        if (!view.trouble.empty()) fail(view.trouble);
        nodes = view.nodes;
        done();
      });
    });
  }
  [[noreturn]] static void fail(const std::string& why) {
    std::fprintf(stderr, "slots_bench: %s\n", why.c_str());
    std::exit(1);
  }

 private:
  sys::EventLoop& loop_;
  musterd::SlurmDriver driver_;
};

void print(const char* what, int nodes, Bench::Cost cost) {
  std::printf("%-34s %6d nodes  %6llu RPCs  %9.3f s\n", what, nodes, static_cast<unsigned long long>(cost.rpcs),
              cost.seconds);
}

void print_ratio(const char* what, int nodes, Bench::Cost batch, int loop_nodes, Bench::Cost loop) {
  std::printf("%-34s a node costs %.0f times as much one by one\n", what,
              (loop.seconds / loop_nodes) / (batch.seconds / nodes));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) Bench::fail("usage: slots_bench HELPER NODES LOOP_NODES");
  const int nodes = std::atoi(argv[2]);
  const int loop_nodes = std::atoi(argv[3]);
  auto loop = sys::EventLoop::create();
  if (!loop) Bench::fail(loop.error().message);
  Bench bench(**loop, argv[1]);

  logic::ClusterSpec wanted;
  wanted.name = "bench";
  wanted.providers["none"].name = "none";
  logic::GroupSpec group;
  group.name = logic::GroupName{"gpu"};
  group.partition = logic::PartitionName{"gpu"};
  group.target_count = nodes;
  group.min_count = nodes;
  group.provider = "none";
  group.node_prefix = "gpu-";
  group.cpus = 2;
  group.memory_mib = 1000;
  group.gres = {{"gpu", "h100", 4}};
  wanted.groups.push_back(group);

  // musterd's own way: look, decide, act, until nothing but launches is left to do.
  logic::Ledger ledger;
  Bench::Cost made;
  Bench::Cost drained;
  Bench::Cost looks;
  for (int pass = 0; pass < 3; ++pass) {
    logic::Seen seen;
    const Bench::Cost look = bench.look(seen.nodes);
    looks.seconds += look.seconds;
    looks.rpcs += look.rpcs;
    logic::Plan plan = logic::plan(wanted, ledger, seen, sys::now());
    ledger = plan.ledger;
    for (const logic::Action& action : plan.actions) {
      if (std::holds_alternative<logic::CreateRecords>(action)) made = bench.execute({action});
      if (std::holds_alternative<logic::DrainNodes>(action)) drained = bench.execute({action});
      if (pass == 2 && !std::holds_alternative<logic::LaunchMachine>(action))
        Bench::fail("not closed after two passes: " + logic::describe(action));
    }
  }
  std::vector<NodeName> names;
  for (int index = 1; index <= nodes; ++index) names.push_back(group.node_name(index));
  const Bench::Cost opened = bench.execute({logic::UndrainNodes{group.name, names}});
  print("make the records", nodes, made);
  print("drain them", nodes, drained);
  print("open them", nodes, opened);
  print("look, three times", nodes, looks);

  // The same, one call per node.
  const auto one_by_one = [&](const std::function<logic::Action(const NodeName&)>& action) {
    std::vector<logic::Action> actions;
    for (int index = 1; index <= loop_nodes; ++index)
      actions.push_back(action(NodeName{"loop-" + std::to_string(index)}));
    return bench.execute(actions);
  };
  const std::string line = logic::node_conf(group) + " NodeAddr=" + logic::placeholder_address;
  const Bench::Cost loop_made = one_by_one([&](const NodeName& name) {
    return logic::CreateRecords{group.name, {name}, line};
  });
  const Bench::Cost loop_drained = one_by_one([&](const NodeName& name) {
    return logic::DrainNodes{group.name, {name}, "muster: bench"};
  });
  const Bench::Cost loop_opened = one_by_one([&](const NodeName& name) {
    return logic::UndrainNodes{group.name, {name}};
  });
  print("one by one: make", loop_nodes, loop_made);
  print("one by one: drain", loop_nodes, loop_drained);
  print("one by one: open", loop_nodes, loop_opened);
  print_ratio("make", nodes, made, loop_nodes, loop_made);
  print_ratio("drain", nodes, drained, loop_nodes, loop_drained);
  print_ratio("open", nodes, opened, loop_nodes, loop_opened);
  return 0;
}
