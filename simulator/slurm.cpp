// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulator/slurm.hpp"

#include <algorithm>

#include "logic/gres.hpp"
#include "logic/text_parts.hpp"

namespace muster::simulator {

using logic::Done;
using logic::Duration;
using logic::InstanceId;
using logic::no_time;
using logic::NodeBase;
using logic::NodeName;
using logic::reject_error;
using logic::retry_error;
using logic::SeenNode;
using logic::Status;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr Duration longest_memory_loss = seconds{30};

const char* text_of(NodeBase base) {
  switch (base) {
    case NodeBase::unknown: return "UNKNOWN";
    case NodeBase::down: return "DOWN";
    case NodeBase::idle: return "IDLE";
    case NodeBase::allocated: return "ALLOCATED";
    case NodeBase::mixed: return "MIXED";
    case NodeBase::error: return "ERROR";
    case NodeBase::future: return "FUTURE";
  }
  return "UNKNOWN";
}

std::int64_t uid_of(Actor actor) {
  constexpr std::int64_t slurm_user = 64030;
  return actor == Actor::admin ? 0 : slurm_user;
}

/// The value of "KEY=" in a node line.
std::string value_in(const std::string& line, const std::string& key) {
  const std::string mark = key + "=";
  std::size_t begin = 0;
  while ((begin = line.find(mark, begin)) != std::string::npos) {
    if (begin == 0 || line[begin - 1] == ' ') {
      begin += mark.size();
      return line.substr(begin, std::min(line.find(' ', begin), line.size()) - begin);
    }
    begin += mark.size();
  }
  return "";
}

std::int64_t number_in(const std::string& line, const std::string& key) {
  const std::string text = value_in(line, key);
  return text.empty() ? 0 : std::stoll(text);
}

/// "gpu:h100:4,shard:8" without its types: "gpu:4,shard:8".
std::string without_types(const std::string& gres) {
  std::string text;
  for (std::size_t begin = 0; begin < gres.size();) {
    const std::size_t end = std::min(gres.find(',', begin), gres.size());
    const std::string part = gres.substr(begin, end - begin);
    text += (text.empty() ? "" : ",") + part.substr(0, part.find(':')) + part.substr(part.rfind(':'));
    begin = end + 1;
  }
  return text;
}

}  // namespace

SimulatedSlurm::SimulatedSlurm(EventQueue& clock, const Chance& chance, SlurmSettings settings)
    : clock_(clock), chance_(chance), settings_(std::move(settings)) {}

bool SimulatedSlurm::is_open(const SeenNode& node) {
  return node.base != NodeBase::future && node.base != NodeBase::down && !node.drained && !node.failing;
}

const SeenNode* SimulatedSlurm::find(const NodeName& name) const {
  const auto found = nodes_->find(name);
  return found == nodes_->end() ? nullptr : &found->second;
}

std::vector<logic::SeenReservation> SimulatedSlurm::reservations() const {
  std::vector<logic::SeenReservation> all;
  all.reserve(reservations_.size());
  for (const auto& [name, reservation] : reservations_) all.push_back(reservation);
  return all;
}

// ---- Memory ----

void SimulatedSlurm::remember(const NodeName& name) {
  while (!changes_.empty() && changes_.front().time + longest_memory_loss < clock_.now()) changes_.pop_front();
  Change change{clock_.now(), name, std::nullopt};
  if (const auto found = nodes_->find(name); found != nodes_->end())
    change.before = std::pair{found->second, histories_.at(name)};
  changes_.push_back(std::move(change));
}

SeenNode* SimulatedSlurm::edit(const NodeName& name) {
  const auto found = nodes_->find(name);
  if (found == nodes_->end()) return nullptr;
  remember(name);
  return &found->second;
}

void SimulatedSlurm::undo(const Change& change) {
  const auto found = nodes_->find(change.name);
  const bool has_job = found != nodes_->end() && !histories_.at(change.name).jobs.empty();
  const bool had_job = change.before && !change.before->second.jobs.empty();
  if (has_job || had_job) return;
  if (!change.before) {
    nodes_->erase(change.name);
    histories_.erase(change.name);
    return;
  }
  // What is so outside of slurmctld does not come back with its state.
  RecordHistory history = change.before->second;
  if (const auto now = histories_.find(change.name); now != histories_.end()) {
    history.machine = now->second.machine;
    history.machine_address = now->second.machine_address;
    history.slurmd_answers = now->second.slurmd_answers;
    history.pings = now->second.pings + 1;
  }
  const bool opens = is_open(change.before->first) && (found == nodes_->end() || !is_open(found->second));
  if (opens) history.undrained_by = Actor::slurm;
  history.came_back = found == nodes_->end();
  (*nodes_)[change.name] = change.before->first;
  histories_[change.name] = std::move(history);
}

void SimulatedSlurm::go_away(Duration away) { away_until_ = std::max(away_until_, clock_.now() + away); }

void SimulatedSlurm::restart(Duration away, Duration forgets) {
  while (!changes_.empty() && changes_.back().time > clock_.now() - forgets) {
    const Change change = std::move(changes_.back());
    changes_.pop_back();
    undo(change);
  }
  changes_.clear();
  for (auto& [name, node] : *nodes_) {
    if (node.base == NodeBase::future) node.gres = without_types(node.gres);
    if (node.base != NodeBase::future) ping_after(name, seconds{1});
  }
  go_away(away);
}

void SimulatedSlurm::lose_dynamic_records() {
  for (auto node = nodes_->begin(); node != nodes_->end();) {
    RecordHistory& history = histories_.at(node->first);
    // What an admin made stands in slurm.conf.
    if (history.made_by == Actor::admin) {
      ++node;
      continue;
    }
    const std::vector<logic::JobId> jobs = history.jobs;
    for (const logic::JobId job : jobs) interrupt(job);
    histories_.erase(node->first);
    node = nodes_->erase(node);
  }
  changes_.clear();
}

// ---- Calls ----

Status SimulatedSlurm::create(const std::vector<NodeName>& names, const std::string& line, Actor by) {
  if (is_away()) return retry_error("slurmctld does not answer");
  const auto room = static_cast<std::size_t>(std::max(0, settings_.max_node_count - static_cast<int>(nodes_->size())));
  const bool too_many = names.size() > room;
  if (too_many && settings_.version == SlurmVersion::v26_05) return reject_error("MaxNodeCount is reached");
  bool exists = false;
  std::size_t made = 0;
  for (const NodeName& name : names) {
    if (made == room) break;
    if (nodes_->count(name) > 0) {
      exists = true;
      continue;
    }
    ++made;
    remember(name);
    SeenNode node;
    set_base(node, NodeBase::future);
    node.cpus = number_in(line, "CPUs");
    node.memory_mib = number_in(line, "RealMemory");
    node.gres = value_in(line, "Gres");
    node.features = value_in(line, "Feature");
    node.address = value_in(line, "NodeAddr");
    if (node.address.empty()) node.address = name.str();
    node.partitions = partitions_of(node.features);
    nodes_->emplace(name, std::move(node));
    RecordHistory history;
    history.made_by = history.undrained_by = by;
    histories_[name] = std::move(history);
  }
  // 22.05 says that all went well, whatever it did.
  if (settings_.version == SlurmVersion::v22_05) return Done{};
  if (exists) return reject_error("a node of that name exists");
  if (too_many) return reject_error("MaxNodeCount is reached");
  return Done{};
}

Status SimulatedSlurm::to_each(const std::vector<NodeName>& names,
                               const std::function<Status(const NodeName&, SeenNode&)>& act) {
  if (is_away()) return retry_error("slurmctld does not answer");
  Status all = Done{};
  for (const NodeName& name : names) {
    SeenNode* node = edit(name);
    if (!node) return reject_error("invalid node name " + name.str());
    if (Status one = act(name, *node); !one) all = one;
  }
  schedule_soon();
  return all;
}

Status SimulatedSlurm::remove(const std::vector<NodeName>& names) {
  if (is_away()) return retry_error("slurmctld does not answer");
  Status all = Done{};
  for (const NodeName& name : names) {
    const auto found = nodes_->find(name);
    if (found == nodes_->end()) return reject_error("invalid node name " + name.str());
    if (!histories_.at(name).jobs.empty() || found->second.completing || is_reserved(name)) {
      all = reject_error("node " + name.str() + " is in use");
      continue;
    }
    remember(name);
    nodes_->erase(found);
    histories_.erase(name);
  }
  return all;
}

Status SimulatedSlurm::drain(const std::vector<NodeName>& names, const std::string& reason, Actor by) {
  return to_each(names, [&](const NodeName&, SeenNode& node) -> Status {
    node.drained = true;
    set_reason(node, reason, by);
    return Done{};
  });
}

Status SimulatedSlurm::undrain(const std::vector<NodeName>& names, Actor by) {
  return to_each(names, [&](const NodeName& name, SeenNode& node) -> Status {
    if (node.invalid_registration) return reject_error("node " + name.str() + " has an invalid registration");
    const bool was_drained = node.drained;
    node.drained = false;
    histories_.at(name).undrained_by = by;
    if (node.base != NodeBase::down && settings_.version != SlurmVersion::v24_11) set_reason(node, "", by);
    if (!was_drained || node.base == NodeBase::future || node.base == NodeBase::down) return Done{};
    node.not_responding = true;
    ping_after(name, chance_.duration({milliseconds{100}, seconds{1}}, name.str(), histories_.at(name).pings));
    return Done{};
  });
}

Status SimulatedSlurm::resume(const std::vector<NodeName>& names, Actor by) {
  return to_each(names, [&](const NodeName& name, SeenNode& node) -> Status {
    node.drained = node.failing = false;
    histories_.at(name).undrained_by = by;
    histories_.at(name).down_by_slurm = false;
    set_reason(node, "", by);
    if (node.base == NodeBase::down || node.base == NodeBase::future) set_base(node, NodeBase::idle);
    node.not_responding = true;
    ping_after(name, chance_.duration({milliseconds{100}, seconds{1}}, name.str(), histories_.at(name).pings));
    return Done{};
  });
}

Status SimulatedSlurm::set_down(const std::vector<NodeName>& names, const std::string& reason, Actor by) {
  return to_each(names, [&](const NodeName& name, SeenNode& node) -> Status {
    set_reason(node, reason, by);
    RecordHistory& history = histories_.at(name);
    go_down(name, node, history);
    history.down_by_slurm = by == Actor::slurm;
    return Done{};
  });
}

Status SimulatedSlurm::set_future(const std::vector<NodeName>& names, Actor by) {
  return to_each(names, [&](const NodeName& name, SeenNode& node) -> Status {
    RecordHistory& history = histories_.at(name);
    if (!history.jobs.empty()) return reject_error("node " + name.str() + " is in use");
    set_base(node, NodeBase::future);
    node.drained = node.not_responding = node.failing = node.completing = node.invalid_registration = false;
    node.rebooting = false;
    set_reason(node, "", by);
    node.slurmd_start_time = no_time;
    history.undrained_by = by;
    history.slurmd_answers = false;
    history.unreached_since = no_time;
    ++history.pings;
    return Done{};
  });
}

Status SimulatedSlurm::set_addresses(const std::vector<NodeName>& names, const std::vector<std::string>& addresses) {
  std::size_t next = 0;
  return to_each(names, [&](const NodeName&, SeenNode& node) -> Status {
    node.address = addresses[next++];
    return Done{};
  });
}

void SimulatedSlurm::note_admin_reboot(const NodeName& name) {
  SeenNode* node = edit(name);
  if (!node) return;
  node->drained = false;
  set_reason(*node, "", Actor::admin);
  histories_.at(name).undrained_by = Actor::admin;
}

void SimulatedSlurm::reserve(const std::string& name, std::vector<NodeName> nodes) {
  logic::SeenReservation reservation;
  reservation.name = name;
  reservation.nodes = std::move(nodes);
  reservation.start = clock_.now();
  reservations_[name] = std::move(reservation);
}

void SimulatedSlurm::unreserve(const std::string& name) {
  reservations_.erase(name);
  schedule_soon();
}

bool SimulatedSlurm::is_reserved(const NodeName& name) const {
  return std::any_of(reservations_.begin(), reservations_.end(), [&](const auto& entry) {
    return std::find(entry.second.nodes.begin(), entry.second.nodes.end(), name) != entry.second.nodes.end();
  });
}

void SimulatedSlurm::add_static_node(const NodeName& name, const logic::PartitionName& partition,
                                     const std::string& reason) {
  SeenNode node;
  set_base(node, NodeBase::idle);
  node.partitions = partition.str();
  node.cpus = 1;
  node.address = "10.255.0.1";
  node.slurmd_start_time = clock_.now();
  if (!reason.empty()) {
    node.drained = true;
    set_reason(node, reason, Actor::admin);
  }
  (*nodes_)[name] = std::move(node);
  RecordHistory history;
  history.made_by = history.undrained_by = Actor::admin;
  history.machine = InstanceId{"own-" + name.str()};
  history.machine_address = "10.255.0.1";
  history.slurmd_answers = true;
  histories_[name] = std::move(history);
}

void SimulatedSlurm::set_base(SeenNode& node, NodeBase base) {
  node.base = base;
  node.base_text = text_of(base);
}

void SimulatedSlurm::set_reason(SeenNode& node, const std::string& reason, Actor by) {
  node.reason = reason;
  node.reason_uid = reason.empty() ? -1 : uid_of(by);
  node.reason_time = reason.empty() ? no_time : clock_.now();
}

std::string SimulatedSlurm::partitions_of(const std::string& features) const {
  std::string text;
  for (std::size_t begin = 0; begin < features.size();) {
    const std::size_t end = std::min(features.find(',', begin), features.size());
    const auto set = settings_.node_sets.find(features.substr(begin, end - begin));
    if (set != settings_.node_sets.end()) text += (text.empty() ? "" : ",") + set->second.str();
    begin = end + 1;
  }
  return text;
}

// ---- Registration ----

bool SimulatedSlurm::register_node(const Registration& registration) {
  if (is_away()) return false;
  SeenNode* node = edit(registration.name);
  if (!node) {
    if (static_cast<int>(nodes_->size()) >= settings_.max_node_count) return false;
    // Born closed: slurmd always gets State=DRAIN in its --conf.
    remember(registration.name);
    node = &(*nodes_)[registration.name];
    histories_[registration.name] = RecordHistory{};
    set_base(*node, NodeBase::idle);
    node->drained = true;
    if (settings_.version == SlurmVersion::v24_11) set_reason(*node, "muster:unregistered", Actor::slurm);
    node->gres = registration.gres;
    node->features = registration.features;
    node->partitions = partitions_of(node->features);
    node->address = registration.address;
  }
  RecordHistory& history = histories_.at(registration.name);
  history.machine = registration.machine;
  history.machine_address = registration.address;
  history.slurmd_answers = true;
  if (!registration.has_devices) {
    node->invalid_registration = true;
    if (node->base != NodeBase::future) node->drained = true;
    if (settings_.version != SlurmVersion::v22_05 || node->reason.empty())
      set_reason(*node, "gres/gpu count reported lower than configured (0 < 4)", Actor::slurm);
    return true;
  }
  node->invalid_registration = false;
  if (node->base == NodeBase::future) {
    set_base(*node, NodeBase::idle);
    if (settings_.version != SlurmVersion::v24_11) set_reason(*node, "", Actor::slurm);
    // Under a record that has lost the type of its GRES a node ends with none.
    if (node->gres != registration.gres) node->gres.clear();
  } else if (node->base == NodeBase::down) {
    // ReturnToService=2.
    set_base(*node, NodeBase::idle);
    history.down_by_slurm = false;
    if (!node->drained) set_reason(*node, "", Actor::slurm);
  }
  if (settings_.version != SlurmVersion::v22_05) node->address = registration.address;
  node->cpus = registration.cpus;
  node->memory_mib = registration.memory_mib;
  node->slurmd_start_time = clock_.now();
  node->not_responding = false;
  history.unreached_since = no_time;
  ++history.pings;
  if (!is_reached(registration.name, *node, history)) ping_after(registration.name, seconds{5});
  schedule_soon();
  return true;
}

bool SimulatedSlurm::is_reached(const NodeName&, const SeenNode& node, const RecordHistory& history) const {
  return history.slurmd_answers && node.address == history.machine_address;
}

void SimulatedSlurm::note_reachable(const NodeName& name, const InstanceId& machine, bool answers) {
  const auto found = histories_.find(name);
  if (found == histories_.end() || found->second.machine != machine) return;
  found->second.slurmd_answers = answers;
  // Slurm pings every third of SlurmdTimeout.
  const Spread until_ping{seconds{1}, settings_.slurmd_timeout / 3};
  ping_after(name, chance_.duration(until_ping, name.str(), found->second.pings));
}

void SimulatedSlurm::ping_after(const NodeName& name, Duration delay) {
  const std::uint64_t number = ++histories_.at(name).pings;
  clock_.after(delay, [this, name, number] {
    const auto found = histories_.find(name);
    if (found != histories_.end() && found->second.pings == number) ping(name);
  });
}

void SimulatedSlurm::ping(const NodeName& name) {
  if (is_away()) return ping_after(name, away_until_ - clock_.now() + seconds{1});
  RecordHistory& history = histories_.at(name);
  SeenNode* node = edit(name);
  if (node->base == NodeBase::future) return;
  if (is_reached(name, *node, history)) {
    history.unreached_since = no_time;
    node->not_responding = false;
    // A slurmd that is reached again registers again.
    if (node->base == NodeBase::down && history.down_by_slurm) {
      set_base(*node, NodeBase::idle);
      history.down_by_slurm = false;
      if (!node->drained) set_reason(*node, "", Actor::slurm);
    }
    return schedule_soon();
  }
  if (history.unreached_since == no_time) history.unreached_since = clock_.now();
  node->not_responding = true;
  const Duration silent = clock_.now() - history.unreached_since;
  if (silent < settings_.slurmd_timeout) return ping_after(name, settings_.slurmd_timeout - silent);
  if (node->base == NodeBase::down) return;
  if (node->reason.empty()) {
    set_reason(*node, "Not responding", Actor::slurm);
  } else if (settings_.version != SlurmVersion::v22_05) {
    node->reason += " : Not responding";
  }
  history.down_by_slurm = true;
  go_down(name, *node, history);
}

void SimulatedSlurm::go_down(const NodeName& name, SeenNode& node, RecordHistory& history) {
  (void)name;
  const std::vector<logic::JobId> jobs = history.jobs;
  for (const logic::JobId job : jobs) interrupt(job);
  set_base(node, NodeBase::down);
  node.completing = false;
}

}  // namespace muster::simulator
