// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulator/world.hpp"

#include "logic/departure.hpp"

namespace muster::simulator {

using logic::Duration;
using logic::NodeName;

namespace {

/// An idle noded asks once a minute.
constexpr Duration idle_poll = std::chrono::seconds{50};

SlurmSettings with_node_sets(SlurmSettings settings, const logic::ClusterSpec& spec) {
  for (const logic::GroupSpec& group : spec.groups) {
    if (group.joins_slurm()) settings.node_sets[group.group_feature()] = group.partition;
  }
  return settings;
}

}  // namespace

World::World(logic::ClusterSpec spec, WorldSettings settings)
    : chance_(settings.seed),
      slurm_(clock_, chance_, with_node_sets(settings.slurm, spec)),
      head_(clock_, slurm_, providers_, machines_, settings.head) {
  const Machine::Surroundings around{clock_, chance_, slurm_, head_};
  for (const auto& [name, provider] : spec.providers)
    providers_[name] = std::make_unique<SimulatedProvider>(name, provider.idempotent_launch, around, machines_);
  specs_.push_back(std::make_shared<const logic::ClusterSpec>(std::move(spec)));
  head_.install(specs_.back());
  slurm_.ask_at_submission(
      [this](const logic::JobRequest& request) { return decide_hold(head_.gate_table(), request, clock_.now()); });
}

SimulatedProvider& World::provider_of(const logic::GroupName& group) {
  return provider(spec().find_group(group)->provider);
}

void World::start() {
  head_.start();
  sweep();
}

void World::sweep() {
  head_.hear_everybody();
  clock_.after(idle_poll, [this] { sweep(); });
}

logic::Status World::apply(logic::ClusterSpec spec) {
  specs_.push_back(std::make_shared<const logic::ClusterSpec>(std::move(spec)));
  return head_.apply(specs_.back());
}

// ---- Admins ----

void World::admin_drains(const std::vector<NodeName>& names, const std::string& reason) {
  if (!slurm_.drain(names, reason, Actor::admin)) return;
  for (const NodeName& name : names) {
    if (logic::asked_action(reason)) {
      marks_.erase(name);
    } else {
      marks_[name] = {reason, false, false};
    }
  }
}

void World::admin_downs(const std::vector<NodeName>& names, const std::string& reason) {
  if (!slurm_.set_down(names, reason, Actor::admin)) return;
  for (const NodeName& name : names) marks_[name] = {reason, true, false};
}

void World::admin_resumes(const std::vector<NodeName>& names) {
  if (!slurm_.resume(names, Actor::admin)) return;
  for (const NodeName& name : names) marks_.erase(name);
}

void World::admin_resumes_all() {
  std::vector<NodeName> all;
  for (const auto& [name, node] : *slurm_.nodes()) {
    if (slurm_.history(name).made_by != Actor::admin) all.push_back(name);
  }
  std::sort(all.begin(), all.end());
  admin_resumes(all);
}

void World::admin_deletes(const std::vector<NodeName>& names) {
  (void)slurm_.remove(names);
  forget_void_marks();
}

void World::admin_reboots(const NodeName& name) {
  Machine* machine = machine_behind(name);
  if (!machine || slurm_.is_away()) return;
  slurm_.note_admin_reboot(name);
  marks_.erase(name);
  machine->boot();
}

void World::note_marks_seen() {
  for (auto mark = marks_.begin(); mark != marks_.end();) {
    const logic::SeenNode* node = slurm_.find(mark->first);
    const bool has_registered =
        mark->second.is_down && node && node->is_registered() && !node->drained && node->base != logic::NodeBase::down;
    mark->second.was_seen = true;
    mark = has_registered ? marks_.erase(mark) : std::next(mark);
  }
}

void World::forget_void_marks() {
  for (auto mark = marks_.begin(); mark != marks_.end();) {
    const logic::SeenNode* node = slurm_.find(mark->first);
    const bool stands = node && (node->drained || node->base == logic::NodeBase::down) &&
                        (logic::reason_as_set(node->reason) == mark->second.reason || node->reason.empty());
    mark = stands ? std::next(mark) : marks_.erase(mark);
  }
}

// ---- Fate ----

void World::slurmctld_restarts(Duration away, Duration forgets) {
  slurm_.restart(away, forgets);
  forget_void_marks();
}

void World::slurmctld_loses_records() {
  slurm_.lose_dynamic_records();
  // The will of an admin of which muster knows outlives the record.
  for (auto mark = marks_.begin(); mark != marks_.end();)
    mark = mark->second.was_seen ? std::next(mark) : marks_.erase(mark);
}

void World::machine_dies(const logic::InstanceId& id) {
  Machine* machine = machines_.find(id);
  if (machine) provider_of(machine->origin().group).lose(*machine);
}

Machine* World::machine_behind(const NodeName& name) {
  Machine* machine = machines_.newest(name);
  return machine && machine->exists() ? machine : nullptr;
}

}  // namespace muster::simulator
