// SPDX-License-Identifier: GPL-2.0-or-later
//
// A world in memory for the planner: a Slurm, a provider and the nodes, with a clock turned by hand. It acts on plans
// at once and records what was asked of it.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "logic/commands.hpp"
#include "logic/plan.hpp"

namespace muster::tests {

using namespace muster::logic;

class FakeWorld {
 public:
  FakeWorld(int target, int minimum) {
    wanted.name = "lab";
    ProviderSpec provider;
    provider.name = "fake";
    wanted.providers["fake"] = provider;
    GroupSpec group;
    group.name = GroupName{"gpu"};
    group.partition = PartitionName{"gpu"};
    group.target_count = target;
    group.min_count = minimum;
    group.provider = "fake";
    group.node_prefix = "gpu-";
    group.cpus = 2;
    group.memory_mib = 1000;
    group.gres = {{"gpu", "h100", 4}};
    group.settle_time = Duration{0};
    wanted.groups.push_back(group);
  }

  // ---- What tests turn ----
  ClusterSpec wanted;
  Ledger ledger;
  Time now{std::chrono::hours{500000}};
  bool slurm_is_away = false;
  bool hold_provider_calls = false;  ///< launches stay in flight
  bool slurm_drops_reasons_at_registration = false;
  std::string undrain_misses;  ///< the next opening does not reach this node
  FailureClass next_launch_fails = FailureClass::none;
  std::string next_launch_answers;               ///< the next launch is answered with this id
  std::map<std::string, std::string> addresses;  ///< of nodes whose machines have others than they had at first
  std::set<std::string> types_without_capacity;
  bool next_launch_is_unanswered = false;  ///< its machine may exist, but nobody says so
  bool reboots_are_refused = false;
  std::vector<SeenJob> jobs;
  std::vector<SeenReservation> reservations;

  // ---- What tests look at ----
  int launch_calls = 0;
  int undrain_calls = 0;
  std::set<InstanceId> terminated;
  std::vector<InstanceId> rebooted;
  std::string node_file;  ///< of groups with registration: slurm_conf
  SeenNodeFile node_file_around = included_file();
  int reconfigures = 0;
  bool slurm_rereads_nodes = true;
  bool reconfigures_are_in_vain = false;
  std::vector<Event> events;
  std::map<LaunchToken, int> launches_by_token;

  GroupSpec& spec() { return wanted.groups.front(); }
  GroupRecord& group() { return ledger.groups.at(spec().name); }
  SlotRecord& slot(const std::string& name) {
    for (auto& [group_name, record] : ledger.groups) {
      for (SlotRecord& slot : record.slots) {
        if (slot.name.str() == name) return slot;
      }
    }
    throw std::out_of_range("no slot " + name);
  }
  SeenNode& node(const std::string& name) { return nodes_.at(NodeName{name}); }
  SeenNodes& nodes() { return nodes_; }
  int events_of_kind(const std::string& kind) const {
    return static_cast<int>(
        std::count_if(events.begin(), events.end(), [&](const Event& event) { return event.kind == kind; }));
  }
  template <typename Kind>
  static std::size_t count(const Plan& plan) {
    return static_cast<std::size_t>(std::count_if(plan.actions.begin(), plan.actions.end(), [](const Action& action) {
      return std::holds_alternative<Kind>(action);
    }));
  }
  template <typename Kind>
  static const Kind& only(const Plan& plan) {
    for (const Action& action : plan.actions) {
      if (const auto* found = std::get_if<Kind>(&action)) return *found;
    }
    throw std::out_of_range("no such action");
  }

  // ---- Running ----
  Plan decide() {
    seen_.nodes.reset();
    SeenNodeFile file = node_file_around;
    file.text = node_file;
    seen_.node_file = file;
    seen_.slurm_rereads_nodes = slurm_rereads_nodes;
    seen_.jobs.reset();
    seen_.reservations.reset();
    if (!slurm_is_away) {
      seen_.nodes = std::make_shared<const SeenNodes>(nodes_);
      seen_.jobs = jobs;
      seen_.reservations = reservations;
    }
    return plan(wanted, ledger, seen_, now);
  }
  void commit(const Plan& plan) {
    ledger = plan.ledger;
    events.insert(events.end(), plan.events.begin(), plan.events.end());
    seen_.launch_results.clear();
    seen_.terminate_results.clear();
    seen_.reboot_results.clear();
    seen_.reports.clear();
    seen_.slurm_was_reconfigured = false;
    seen_.machines.clear();
  }
  void act(const Plan& plan) {
    commit(plan);
    for (const Action& action : plan.actions) std::visit([&](const auto& detail) { do_action(detail); }, action);
  }
  /// Passes until one has no action, changes nothing, and nothing came in.
  void run_until_quiet() {
    for (int pass = 0; pass < 50; ++pass) {
      const Plan plan = decide();
      const bool changes_ledger = !(plan.ledger == ledger);
      act(plan);
      if (plan.actions.empty() && !changes_ledger && seen_.launch_results.empty() && seen_.terminate_results.empty())
        return;
    }
    throw std::runtime_error("the planner does not come to rest");
  }
  void pass_time(Duration duration) { now += duration; }
  /// musterd ends and starts: what was only in memory is gone; calls in flight die unheard.
  void crash() {
    seen_ = Seen{};
    seen_.listening_since = now;
    hold_provider_calls = false;
  }

  /// An operator says something; false where it was refused.
  bool command(const Command& command) {
    auto outcome = run_command(wanted, ledger, command, "uid 0", now);
    if (!outcome) return false;
    ledger = outcome->ledger;
    events.insert(events.end(), outcome->events.begin(), outcome->events.end());
    return true;
  }
  bool scale(std::optional<int> target, std::optional<int> min = {}) {
    return command(ScaleGroup{spec().name, target, min});
  }
  bool open_group() { return command(OpenGroup{spec().name}); }
  /// The cluster file is applied (again).
  void apply_file(const ClusterSpec* before = nullptr) {
    CommandOutcome outcome = take_file(before, wanted, ledger, "uid 0", now);
    ledger = std::move(outcome.ledger);
    events.insert(events.end(), outcome.events.begin(), outcome.events.end());
  }

  // ---- The provider ----
  void provider_has(const LaunchToken& token, const std::string& instance) {
    machines_[InstanceId{instance}] = {InstanceId{instance}, token, "running", ""};
  }
  void provider_loses_machines() { machines_.clear(); }
  std::vector<SeenMachine> machines() const {
    std::vector<SeenMachine> all;
    for (const auto& [instance, machine] : machines_) all.push_back(machine);
    return all;
  }
  void provider_refuses_to_end(const std::string& instance) {
    TerminateResult result;
    result.instance = InstanceId{instance};
    result.message = "the API says no";
    seen_.terminate_results.push_back(result);
  }
  void list_machines() {
    Seen::Machines list;
    list.listed_at = now;
    for (const auto& [instance, machine] : machines_) list.machines.push_back(machine);
    seen_.machines[spec().name] = list;
  }

  // ---- The nodes ----
  /// boot: the boot id that it says; empty = that of the slot's machine.
  void report(const std::string& name, NodeStep step, const std::string& boot = "",
              const std::vector<NodeCheck>& checks = {}) {
    NodeReport report;
    report.instance = slot(name).instance;
    report.boot_id =
        boot.empty() ? "boot-" + report.instance.str() + "-" + std::to_string(boots_[report.instance]) : boot;
    report.address = spec().node_addresses.empty()
                         ? "10.0.0." + std::to_string(std::hash<std::string>{}(name) % 250 + 1)
                         : spec().node_addresses[static_cast<std::size_t>(slot(name).index - 1)];
    if (const auto other = addresses.find(name); other != addresses.end()) report.address = other->second;
    report.step = step;
    report.checks = checks;
    if (step == NodeStep::running) {
      report.slurmd_start = slot(name).slurmd_start;
      report.slurmd_alive = true;
    }
    seen_.reports.push_back(report);
  }
  /// Its machine restarts.
  void boots_again(const std::string& name) { ++boots_[slot(name).instance]; }
  /// slurmd registers.
  void slurmd_registers(const std::string& name) {
    SeenNode& node = nodes_.at(NodeName{name});
    node.base = NodeBase::idle;
    node.not_responding = false;
    node.slurmd_start_time = now;
    if (node.gres != gres_text(spec().gres)) node.gres.clear();
    node.cpus = spec().cpus;
    if (slurm_drops_reasons_at_registration) node.reason.clear();
  }
  /// The whole way from a passed check to a registered node.
  void bring_up(const std::string& name) {
    report(name, NodeStep::ready);
    run_until_quiet();
    slurmd_registers(name);
    report(name, NodeStep::running);
    run_until_quiet();
  }
  /// slurmctld restarts: FUTURE records come back without the type of their GRES.
  void restart_slurmctld() {
    for (auto& [name, node] : nodes_) {
      if (node.base == NodeBase::future) node.gres = "gpu:4";
    }
  }
  /// slurmctld reads its files: nodes of the include file come as UNKNOWN, others that came from it go.
  void read_node_file() {
    for (const auto& [group_name, record] : ledger.groups) {
      for (const SlotRecord& slot : record.slots) {
        const std::size_t line = node_file.find("NodeName=" + slot.name.str() + " ");
        if (line == std::string::npos) {
          nodes_.erase(slot.name);
          continue;
        }
        SeenNode node;
        node.base = NodeBase::unknown;
        const std::size_t at = node_file.find("NodeAddr=", line) + 9;
        node.address = node_file.substr(at, node_file.find(' ', at) - at);
        node.cpus = spec().cpus;
        node.gres = gres_text(spec().gres);
        nodes_.emplace(slot.name, node);
      }
    }
  }
  /// slurmctld -c
  void lose_records() { nodes_.clear(); }

 private:
  void do_action(const CreateRecords& action) {
    for (const NodeName& name : action.names) {
      SeenNode node;
      node.base = NodeBase::future;
      node.address = "192.0.2.1";
      node.cpus = spec().cpus;
      node.gres = gres_text(spec().gres);
      nodes_.emplace(name, node);
    }
  }
  void do_action(const DeleteRecords& action) {
    for (const NodeName& name : action.names) nodes_.erase(name);
  }
  void do_action(const DrainNodes& action) {
    for (const NodeName& name : action.names) {
      nodes_.at(name).drained = true;
      nodes_.at(name).reason = action.reason;
    }
  }
  void do_action(const UndrainNodes& action) {
    ++undrain_calls;
    const std::string missed = std::exchange(undrain_misses, "");
    for (const NodeName& name : action.names) {
      if (name.str() == missed) continue;
      nodes_.at(name).drained = false;
      nodes_.at(name).reason.clear();
    }
  }
  void do_action(const ResumeNodes& action) {
    for (const NodeName& name : action.names) nodes_.at(name).base = NodeBase::idle;
  }
  void do_action(const ReturnToFuture& action) {
    for (const NodeName& name : action.names) {
      nodes_.at(name).base = NodeBase::future;
      nodes_.at(name).drained = false;
      nodes_.at(name).not_responding = false;
      nodes_.at(name).failing = false;
      nodes_.at(name).completing = false;
      nodes_.at(name).slurmd_start_time = no_time;
    }
  }
  void do_action(const SetAddresses& action) {
    for (std::size_t i = 0; i < action.names.size(); ++i) nodes_.at(action.names[i]).address = action.addresses[i];
  }
  void do_action(const LaunchMachine& action) {
    ++launch_calls;
    ++launches_by_token[action.token];
    if (hold_provider_calls) {
      seen_.launches_in_flight.insert(action.token);
      return;
    }
    LaunchResult result;
    result.token = action.token;
    if (std::exchange(next_launch_is_unanswered, false)) {
      result.failure = FailureClass::transient;
      result.outcome_unknown = true;
      result.message = "no answer";
    } else if (types_without_capacity.count(action.instance_type) > 0) {
      result.failure = FailureClass::capacity;
      result.message = "no " + action.instance_type;
    } else if (next_launch_fails != FailureClass::none) {
      result.failure = next_launch_fails;
      result.message = "no";
      next_launch_fails = FailureClass::none;
    } else {
      result.instance = InstanceId{"i-" + std::to_string(++machines_made_)};
      for (const auto& [instance, machine] : machines_) {
        if (machine.token == action.token) result.instance = instance;
      }
      if (!next_launch_answers.empty()) result.instance = InstanceId{std::exchange(next_launch_answers, "")};
      provider_has(action.token, result.instance.str());
    }
    seen_.launch_results.push_back(result);
  }
  void do_action(const RebootMachine& action) {
    rebooted.push_back(action.instance);
    seen_.reboot_results.push_back({action.instance, !reboots_are_refused, reboots_are_refused ? "cannot" : ""});
  }
  void do_action(const TerminateMachine& action) {
    terminated.insert(action.instance);
    machines_.erase(action.instance);
    seen_.terminate_results.push_back({action.instance, true, ""});
  }
  void do_action(const ReleaseJobs&) {}
  void do_action(const WriteNodeFile& action) { node_file = action.text; }
  void do_action(const ReconfigureSlurm&) {
    seen_.slurm_was_reconfigured = true;
    ++reconfigures;
    if (slurm_rereads_nodes && !reconfigures_are_in_vain) read_node_file();
  }
  static SeenNodeFile included_file() {
    SeenNodeFile file;
    file.path = "/etc/slurm/muster-nodes.conf";
    file.slurm_conf = "/etc/slurm/slurm.conf";
    file.is_included = true;
    return file;
  }

  Seen seen_;
  int machines_made_ = 0;
  std::map<InstanceId, int> boots_;
  SeenNodes nodes_;
  std::map<InstanceId, SeenMachine> machines_;
};

}  // namespace muster::tests
