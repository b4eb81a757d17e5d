// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/simulator/chaos.hpp"

#include <algorithm>

#include "logic/field_reader.hpp"

namespace muster::tests {

using logic::Duration;
using logic::GroupName;
using logic::GroupSpec;
using logic::NodeName;
using logic::NodeType;
using simulator::LaunchBehaviour;
using simulator::Machine;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr const char* broken_fan = "broken fan";
const std::size_t lines_told = std::getenv("MUSTER_LINES") ? 100000 : 60;
constexpr const char* smoke = "smells of smoke";

simulator::WorldSettings settings_of(std::uint64_t seed) {
  simulator::WorldSettings settings;
  settings.seed = seed;
  constexpr simulator::SlurmVersion versions[] = {simulator::SlurmVersion::v22_05, simulator::SlurmVersion::v24_11,
                                                  simulator::SlurmVersion::v26_05};
  settings.slurm.version = versions[seed % 3];
  return settings;
}

/// Without a controller nothing else is launched.
int fewest(const GroupSpec& group) { return group.node_type == NodeType::controller ? 1 : 0; }

std::string names_of(const std::vector<NodeName>& names) { return logic::names_text(names); }

}  // namespace

Chaos::Chaos(std::uint64_t seed) : seed_(seed), random_(static_cast<unsigned>(seed)) {
  world_ = std::make_unique<simulator::World>(make_cluster(), settings_of(seed));
  promises_ = std::make_unique<simulator::Promises>(*world_);
  promises_->compare_groups_every(7);
  world_->head().observe(this);
  world_->head().observe(promises_.get());
  world_->head().die_when([this] { return dies_in_ > 0 && --dies_in_ == 0; });
  add_what_is_not_ours();
  world_->start();
}

// ---- The cluster ----

GroupSpec Chaos::make_group(const std::string& name, NodeType type) {
  GroupSpec group;
  group.name = GroupName{name};
  group.node_type = type;
  group.node_prefix = name + "-";
  group.target_count = type == NodeType::compute ? pick(1, 5) : pick(1, 2);
  group.min_count = type == NodeType::compute ? pick(0, group.target_count) : 1;
  group.provider = chance(50) ? "east" : "west";
  group.boot_timeout = minutes{pick(4, 6)};
  group.register_timeout = minutes{pick(2, 3)};
  group.settle_time = seconds{pick(0, 10)};
  group.deadline = minutes{pick(15, 60)};
  group.drain_timeout = minutes{pick(5, 20)};
  group.prune_after = seconds{pick(10, 120)};
  if (chance(30)) group.instance_types = {"large", "small"};
  if (type != NodeType::compute) return group;
  group.partition = logic::PartitionName{chance(50) ? "gpu" : "cpu"};
  group.cpus = 4;
  group.memory_mib = 1000;
  if (chance(70)) group.gres = {{"gpu", "h100", 4}};
  if (chance(30)) group.gate = logic::GatePolicy::floor;
  if (chance(20)) group.max_idle_node_hours = 0.5;
  return group;
}

logic::ClusterSpec Chaos::make_cluster() {
  logic::ClusterSpec spec;
  spec.name = "lab";
  for (const char* name : {"east", "west"}) {
    logic::ProviderSpec provider;
    provider.name = name;
    provider.idempotent_launch = chance(60);
    provider.list_lag = seconds{provider.idempotent_launch ? 0 : pick(5, 20)};
    provider.list_interval = seconds{pick(5, 30)};
    provider.call_timeout = seconds{pick(10, 30)};
    provider.max_launches = pick(1, 8);
    spec.providers[name] = provider;
  }
  if (chance(30)) spec.groups.push_back(make_group("head", NodeType::controller));
  if (chance(30)) spec.groups.push_back(make_group("login", NodeType::login));
  const int computes = pick(1, 3);
  for (int i = 0; i < computes; ++i) spec.groups.push_back(make_group("g" + std::to_string(i), NodeType::compute));
  return spec;
}

void Chaos::add_what_is_not_ours() {
  world_->slurm().add_static_node(NodeName{"storage"}, logic::PartitionName{"cpu"}, "");
  world_->slurm().add_static_node(NodeName{"g0-old"}, logic::PartitionName{"gpu"}, "broken fan");
  // A name that a group may come to want one day.
  world_->slurm().add_static_node(NodeName{"g0-6"}, logic::PartitionName{"gpu"}, "");
  const GroupSpec& group = world_->spec().groups.back();
  world_->provider(group.provider).add_foreign_machine(group, "another-lab.g0-1.1");
}

// ---- Acts ----

void Chaos::note(const std::string& what) {
  last_lines_.push_back("[" + std::to_string(logic::to_seconds(world_->elapsed())) + " s] " + what);
  if (last_lines_.size() > lines_told) last_lines_.pop_front();
}

void Chaos::saw_events(const std::vector<logic::Event>& events) {
  for (const logic::Event& event : events)
    note("  " + event.kind + " " + event.group.str() + " " + event.node.str() + ": " + event.text);
}

const GroupSpec& Chaos::any_group() {
  const auto& groups = world_->spec().groups;
  return groups[static_cast<std::size_t>(pick(0, static_cast<int>(groups.size()) - 1))];
}

NodeName Chaos::any_node(const GroupSpec& group) { return group.node_name(pick(1, 6)); }

Machine* Chaos::any_machine() {
  std::vector<Machine*> alive;
  for (const auto& machine : world_->machines().all()) {
    if (machine->exists() && !machine->origin().name.empty()) alive.push_back(machine.get());
  }
  return alive.empty() ? nullptr : alive[static_cast<std::size_t>(pick(0, static_cast<int>(alive.size()) - 1))];
}

void Chaos::disturb(int acts) {
  for (int i = 0; i < acts && promises_->breaches().empty(); ++i) {
    act();
    world_->run_for(Duration{pick(0, chance(20) ? 240'000 : 20'000)});
  }
}

void Chaos::act() {
  switch (pick(1, 12)) {
    case 1:
    case 2: return command();
    case 3:
    case 4: return admin();
    case 5:
    case 6: return provider_trouble();
    case 7:
    case 8: return machine_trouble();
    case 9: return slurm_trouble();
    case 10: return head_trouble();
    case 11: return submit_jobs();
    default: return;
  }
}

void Chaos::command() {
  const GroupSpec& group = any_group();
  const auto run = [&](const logic::Command& command, const std::string& text) {
    const logic::Status done = world_->head().run_command(command);
    note("muster " + text + (done ? "" : ": " + done.error().message));
  };
  const NodeName node = any_node(group);
  switch (pick(1, 12)) {
    case 1:
    case 2:
    case 3: {
      const int target = pick(fewest(group), 6);
      const int min = pick(0, target);
      return run(logic::ScaleGroup{group.name, target, min},
                 "scale " + group.name.str() + " " + std::to_string(target) + " --min " + std::to_string(min));
    }
    case 4: return run(logic::AddNodes{group.name, 1}, "add " + group.name.str());
    case 5: return run(logic::RemoveNodes{{node}}, "remove " + node.str());
    case 6:
    case 7: return run(logic::ReplaceNodes{{node}}, "replace " + node.str());
    case 8:
    case 9: return run(logic::RebootNodes{{node}}, "reboot " + node.str());
    case 10: return run(logic::OpenGroup{group.name}, "open " + group.name.str());
    case 11: {
      if (chance(30) && fewest(group) == 0) return run(logic::DeleteGroup{group.name}, "delete " + group.name.str());
      return run(logic::RetryNow{}, "resync");
    }
    default: {
      logic::ClusterSpec spec = world_->spec();
      for (GroupSpec& changed : spec.groups) {
        if (!chance(50)) continue;
        changed.target_count = pick(fewest(changed), 5);
        changed.min_count = pick(0, changed.target_count);
      }
      const logic::Status done = world_->apply(std::move(spec));
      return note("muster apply" + (done ? "" : ": " + done.error().message));
    }
  }
}

void Chaos::admin() {
  const GroupSpec& group = any_group();
  if (!group.joins_slurm()) return;
  const NodeName node = any_node(group);
  const bool is_ours = world_->slurm().find(node) && world_->slurm().history(node).made_by == simulator::Actor::muster;
  if (!is_ours) return;
  switch (pick(1, 12)) {
    case 1:
    case 2: note("admin drains " + node.str()); return world_->admin_drains({node}, broken_fan);
    case 3: note("admin sets " + node.str() + " down"); return world_->admin_downs({node}, smoke);
    case 4:
    case 5: note("admin resumes " + node.str()); return world_->admin_resumes({node});
    case 6: note("admin resumes ALL"); return world_->admin_resumes_all();
    case 7: note("admin deletes the record of " + node.str()); return world_->admin_deletes({node});
    case 8:
      note("admin reserves " + node.str());
      return world_->slurm().reserve("maintenance", {node, any_node(group)});
    case 9: note("admin lifts the reservation"); return world_->slurm().unreserve("maintenance");
    case 10:
      note("admin drains " + node.str() + " with Action:Replace");
      return world_->admin_drains({node}, "Action:Replace");
    case 11:
      note("admin drains " + node.str() + " with Action:Reboot");
      return world_->admin_drains({node}, "Action:Reboot");
    default: note("admin reboots " + node.str() + " ASAP nextstate=RESUME"); return world_->admin_reboots(node);
  }
}

void Chaos::provider_trouble() {
  const GroupSpec& group = any_group();
  simulator::ServiceBehaviour& service = world_->provider(group.provider).service();
  const int kind = pick(1, 14);
  note("provider trouble " + std::to_string(kind) + " for group " + group.name.str() + " of " + group.provider);
  const auto launching = [&](auto change) { world_->towards(group, change); };
  switch (kind) {
    case 1: return launching([&](LaunchBehaviour& b) { b.capacity = pick(0, 3); });
    case 2:
      return launching([&](LaunchBehaviour& b) {
        b.fails = 0.6;
        b.failure = static_cast<logic::FailureClass>(pick(1, 4));
      });
    case 3: return launching([&](LaunchBehaviour& b) { b.hangs = chance(60); });
    case 4: return launching([&](LaunchBehaviour& b) { b.never_boots = 0.5; });
    case 5: return launching([&](LaunchBehaviour& b) { b.lacks_devices = 0.5; });
    case 6: return launching([&](LaunchBehaviour& b) { b.is_rejected = 0.5; });
    case 7: return launching([&](LaunchBehaviour& b) { b.slurmd_ends = 0.5; });
    case 8: return launching([&](LaunchBehaviour& b) { b.supply_interval = minutes{pick(0, 3)}; });
    case 9: return launching([&](LaunchBehaviour& b) { b = LaunchBehaviour{}; });
    case 10: service.list_omits = chance(60) ? 0.5 : 0; return;
    case 11: service.list_is_empty = chance(60); return;
    case 12: service.list_fails = chance(50) ? 0.7 : 0; return;
    case 13: service.terminate_fails = chance(50) ? 0.7 : 0; return;
    default:
      service.hangs = chance(40);
      service.refuses_reboot = chance(40);
      return;
  }
}

void Chaos::machine_trouble() {
  Machine* machine = any_machine();
  if (!machine) return;
  const std::string id = machine->origin().id.str();
  switch (pick(1, 5)) {
    case 1: note("machine " + id + " dies"); return world_->machine_dies(machine->origin().id);
    case 2: note("machine " + id + " restarts by itself"); return machine->boot();
    case 3: note("machine " + id + " is cut off"); return machine->cut_off(true);
    default:
      if (!machine->is_cut_off()) return;
      note("machine " + id + " is reached again");
      return machine->cut_off(false);
  }
}

void Chaos::slurm_trouble() {
  switch (pick(1, 6)) {
    case 1:
    case 2: {
      const Duration away = seconds{pick(0, 20)};
      const Duration forgets = seconds{pick(0, 10)};
      note("slurmctld restarts: away for " + logic::duration_text(away) + ", forgets " + logic::duration_text(forgets));
      return world_->slurmctld_restarts(away, forgets);
    }
    case 3: {
      const Duration away = seconds{chance(30) ? 1200 : pick(5, 60)};
      note("slurmctld does not answer for " + logic::duration_text(away));
      return world_->slurm().go_away(away);
    }
    case 4:
      if (!chance(30)) return;
      note("slurmctld -c");
      return world_->slurmctld_loses_records();
    default: return;
  }
}

void Chaos::head_trouble() {
  if (chance(50)) {
    dies_in_ = pick(1, 20);
    return note("musterd dies at the " + std::to_string(dies_in_) + ". moment from now");
  }
  const Duration away = seconds{chance(20) ? 900 : pick(1, 60)};
  note("musterd dies for " + logic::duration_text(away));
  world_->head().die(away);
}

void Chaos::submit_jobs() {
  const GroupSpec& group = any_group();
  if (!group.joins_slurm()) return;
  simulator::JobWish wish;
  wish.partition = group.partition;
  wish.features = group.group_feature();
  wish.nodes = pick(1, 4);
  wish.run_time = minutes{pick(1, 45)};
  if (chance(10)) wish.required_nodes = {any_node(group)};
  const logic::JobId id = world_->slurm().submit(wish);
  note("job " + std::to_string(id) + " of " + std::to_string(wish.nodes) + " nodes for group " + group.name.str() +
       " for " + logic::duration_text(wish.run_time));
}

// ---- Healing ----

void Chaos::heal() {
  if (!promises_->breaches().empty()) return;
  note("all trouble ends");
  dies_in_ = 0;
  for (const GroupSpec& group : world_->spec().groups) {
    world_->towards(group, [](LaunchBehaviour& behaviour) { behaviour = LaunchBehaviour{}; });
    world_->provider(group.provider).service() = simulator::ServiceBehaviour{};
  }
  world_->run_for(std::max(Duration{0}, world_->slurm().away_until() - world_->now()) + minutes{16});
  for (const auto& machine : world_->machines().all()) machine->cut_off(false);
  world_->slurm().unreserve("maintenance");
  world_->slurm().end_all_jobs();
  std::vector<NodeName> marked;
  for (const auto& [name, node] : *world_->slurm().nodes()) {
    const bool is_ours = world_->slurm().history(name).made_by == simulator::Actor::muster;
    const std::string_view reason = logic::reason_as_set(node.reason);
    if (is_ours && (reason == broken_fan || reason == smoke)) marked.push_back(name);
  }
  std::sort(marked.begin(), marked.end());
  note("admin resumes " + names_of(marked));
  world_->admin_resumes(marked);
  (void)world_->head().run_command(logic::RetryNow{});
  for (int i = 0; i < 60 && promises_->breaches().empty() && !promises_->has_converged(); ++i)
    world_->run_for(minutes{5});
  if (promises_->breaches().empty()) promises_->check_end();
}

std::string Chaos::story() const {
  std::string text = "seed " + std::to_string(seed_) + "\n";
  for (const std::string& line : last_lines_) text += "  " + line + "\n";
  for (const simulator::Breach& breach : promises_->breaches()) {
    text += "  BROKEN at " + std::to_string(logic::to_seconds(breach.time - simulator::World::begin)) +
            " s: " + std::string(promise_name(breach.promise)) + ": " + breach.text + "\n";
  }
  for (const auto& [name, group] : world_->head().ledger().groups) {
    text += "  group " + name.str() + " " + std::string(group_status_name(group.status)) + ": " + group.status_reason +
            "\n";
    for (const logic::SlotRecord& slot : group.slots) {
      const logic::SeenNode* node = world_->slurm().find(slot.name);
      text += "    " + slot.name.str() + " " + std::string(slot_state_name(slot.state)) + " wish " +
              std::string(wish_name(slot.wish)) + " machine " + slot.instance.str() + " start " +
              std::to_string(slot.slurmd_start) + " (" + std::to_string(slot.node_slurmd_start) + ") \"" +
              slot.last_problem + "\" foreign \"" + slot.foreign_reason + "\" ours \"" + slot.our_reason + "\" Slurm " +
              (node ? node->state_text() + " \"" + node->reason + "\" at " + node->address : "none") + "\n";
    }
    for (const auto& [instance, since] : group.orphans) text += "    orphan " + instance.str() + "\n";
  }
  return text;
}

}  // namespace muster::tests
