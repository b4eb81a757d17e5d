// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulator/head.hpp"

#include <algorithm>
#include <stdexcept>

#include "logic/cluster_change.hpp"
#include "logic/release.hpp"

namespace muster::simulator {

using logic::Action;
using logic::Done;
using logic::Duration;
using logic::GroupName;
using logic::GroupRecord;
using logic::GroupSpec;
using logic::InstanceId;
using logic::LaunchResult;
using logic::Ledger;
using logic::no_time;
using logic::RebootResult;
using logic::SeenMachine;
using logic::SlotRecord;
using logic::Status;
using logic::TerminateResult;
using logic::Time;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr Duration slurm_retry_cap = seconds{10};
/// A call of a slurmctld that is away (tried: 9 to 10 s).
constexpr Duration unanswered_call = seconds{10};

}  // namespace

SimulatedHead::SimulatedHead(EventQueue& clock, SimulatedSlurm& slurm, Providers& providers, MachinePark& machines,
                             HeadSettings settings)
    : clock_(clock), slurm_(slurm), providers_(providers), machines_(machines), settings_(settings) {}

// ---- Life and death ----

void SimulatedHead::start() {
  running_ = true;
  ledger_ = written_;
  listening_since_ = clock_.now();
  instances_.clear();
  for (const auto& [name, group] : ledger_->groups) index_group(group);
  request_pass();
}

void SimulatedHead::die(Duration away) {
  if (!running_) return;
  table_of_the_dead_ = gate_table();
  running_ = false;
  ++life_;
  ++counts_.deaths;
  ledger_ = written_;
  inbox_ = logic::Seen{};
  lanes_.clear();
  heard_at_.clear();
  instances_.clear();
  listed_at_.clear();
  pass_runs_ = pass_wanted_ = false;
  ++timer_;
  failed_passes_ = 0;
  last_actions_text_.clear();
  next_deadline_ = no_time;
  for (const auto& machine : machines_.all()) machine->wake_when_head_is_back();
  for (HeadObserver* observer : observers_) observer->head_died();
  clock_.after(away, [this] { start(); });
}

bool SimulatedHead::dies_here() {
  if (!dies_ || !dies_()) return false;
  die(seconds{3});
  return true;
}

// ---- noded ----

const SlotRecord* SimulatedHead::find_slot(const InstanceId& instance, const GroupSpec** spec) const {
  const auto found = instances_.find(instance);
  if (found == instances_.end()) return nullptr;
  *spec = spec_->find_group(found->second.first);
  return &ledger_->groups.at(found->second.first).slots[found->second.second];
}

std::optional<logic::Assignment> SimulatedHead::sync(const logic::NodeReport& report) {
  if (!running_) return std::nullopt;
  logic::Assignment assignment;
  assignment.head_time = clock_.now();
  const GroupSpec* spec = nullptr;
  const SlotRecord* slot = find_slot(report.instance, &spec);
  if (!slot || !spec) return assignment;
  heard_at_[report.instance] = clock_.now();
  const bool is_news = slot->boot_id != report.boot_id || slot->address != report.address ||
                       slot->node_step != logic::step_name(report.step) || slot->node_message != report.message ||
                       slot->node_slurmd_start != report.slurmd_start ||
                       slot->node_slurmd_alive != report.slurmd_alive || !(slot->checks == report.checks);
  if (is_news) {
    inbox_.reports.push_back(report);
    request_pass();
  }
  assignment.generation = slot->generation;
  assignment.assigned = true;
  assignment.node = slot->name;
  assignment.group = spec->name;
  assignment.node_conf = logic::node_conf(*spec);
  assignment.gres = spec->gres;
  assignment.cpus = spec->cpus;
  assignment.memory_mib = spec->memory_mib;
  assignment.runs_slurmd = spec->joins_slurm();
  assignment.slurmd_start = slot->slurmd_start;
  return assignment;
}

void SimulatedHead::hear_everybody() {
  if (!running_) return;
  for (auto& [instance, place] : instances_) {
    const Machine* machine = machines_.find(instance);
    if (machine && machine->is_listening()) heard_at_[instance] = clock_.now();
  }
}

void SimulatedHead::index_group(const GroupRecord& group) {
  for (std::size_t index = 0; index < group.slots.size(); ++index) {
    const SlotRecord& slot = group.slots[index];
    if (!slot.instance.empty() && slot.state != logic::SlotState::terminating)
      instances_[slot.instance] = {group.name, index};
  }
}

void SimulatedHead::wake(const InstanceId& instance) {
  Machine* machine = machines_.find(instance);
  if (!machine || !machine->is_listening()) return;
  clock_.after(milliseconds{1}, [machine] { machine->wake(); });
}

void SimulatedHead::wake_group(const GroupRecord* before, const GroupRecord* after) {
  const bool has_same_slots = before && after && before->slots.size() == after->slots.size() &&
                              std::equal(before->slots.begin(), before->slots.end(), after->slots.begin(),
                                         [](const SlotRecord& a, const SlotRecord& b) { return a.index == b.index; });
  if (!has_same_slots) {
    if (before) {
      for (const SlotRecord& slot : before->slots) {
        instances_.erase(slot.instance);
        wake(slot.instance);
      }
    }
    if (after) index_group(*after);
    return;
  }
  for (std::size_t index = 0; index < after->slots.size(); ++index) {
    const SlotRecord& was = before->slots[index];
    const SlotRecord& is = after->slots[index];
    if (was.generation == is.generation && was.instance == is.instance && was.state == is.state) continue;
    if (!was.instance.empty()) instances_.erase(was.instance);
    if (!is.instance.empty() && is.state != logic::SlotState::terminating)
      instances_[is.instance] = {after->name, index};
    if (was.generation != is.generation || was.instance != is.instance) {
      wake(was.instance);
      if (was.instance != is.instance) wake(is.instance);
    }
  }
}

void SimulatedHead::wake_machines(const Ledger& before, const Ledger& after) {
  for (const auto& [name, group] : before.groups) {
    const auto now = after.groups.find(name);
    wake_group(&group, now == after.groups.end() ? nullptr : &now->second);
  }
  for (const auto& [name, group] : after.groups) {
    if (before.groups.count(name) == 0) wake_group(nullptr, &group);
  }
}

// ---- The pass ----

void SimulatedHead::request_pass() {
  pass_wanted_ = true;
  if (!pass_runs_) pass_at(clock_.now());
}

void SimulatedHead::pass_at(Time time) {
  if (settings_.passes_on_grid) {
    const Duration interval = settings_.pass_interval;
    const Duration since_epoch = time.time_since_epoch();
    time = Time{(since_epoch + interval - Duration{1}) / interval * interval};
    if (time == passed_at_) time += interval;
  }
  clock_.at(time, [this, timer = ++timer_] {
    if (timer == timer_ && running_ && !pass_runs_) begin_pass();
  });
}

void SimulatedHead::begin_pass() {
  pass_runs_ = true;
  pass_wanted_ = false;
  ++counts_.passes;
  passes_now_ = clock_.now() == passed_at_ ? passes_now_ + 1 : 0;
  passed_at_ = clock_.now();
  if (passes_now_ > 1000) throw std::runtime_error("the planner does not come to rest: " + last_actions_text_);
  counts_.slurm_calls += 3;  // nodes, jobs, reservations
  if (settings_.call_time.count() == 0) return take_view(!slurm_.is_away());
  const bool away = slurm_.is_away();
  const auto records = static_cast<std::int64_t>(slurm_.nodes()->size());
  const Duration takes = away ? unanswered_call : settings_.call_time * 3 + settings_.record_time * records / 1000;
  clock_.after(takes, [this, away, life = life_] {
    if (life == life_) take_view(!away && !slurm_.is_away());
  });
}

void SimulatedHead::take_view(bool was_read) {
  failed_passes_ = was_read ? 0 : failed_passes_ + 1;
  list_machines();
  decide_and_act(was_read);
}

logic::Seen SimulatedHead::look_at_all(bool slurm_was_read) const {
  logic::Seen seen = inbox_;
  if (slurm_was_read) {
    seen.nodes = slurm_.nodes();
    seen.jobs = slurm_.jobs();
    seen.reservations = slurm_.reservations();
  }
  for (const auto& [name, lane] : lanes_) {
    const auto note = [&](const Call& call) {
      if (!call.launch.empty()) seen.launches_in_flight.insert(call.launch);
      if (!call.termination.empty()) seen.terminations_in_flight.insert(call.termination);
      if (!call.reboot.empty()) seen.reboots_in_flight.insert(call.reboot);
    };
    for (const Call& call : lane.queue) note(call);
    for (const auto& [number, call] : lane.running) note(call);
  }
  seen.heard_at = &heard_at_;
  seen.listening_since = listening_since_;
  return seen;
}

void SimulatedHead::decide_and_act(bool slurm_was_read) {
  const logic::Seen seen = look_at_all(slurm_was_read);
  logic::Plan plan = planner_(*spec_, *ledger_, seen, clock_.now());
  next_deadline_ = plan.next_deadline;
  for (HeadObserver* observer : observers_) observer->saw_plan(*ledger_, seen, plan);
  const bool ledger_changes = !(plan.ledger == *ledger_);
  if ((ledger_changes || !plan.actions.empty()) && dies_here()) return;
  if (ledger_changes || !plan.events.empty()) {
    commit(std::make_shared<const Ledger>(std::move(plan.ledger)), plan.events);
    if (dies_here()) return;
  }
  inbox_.launch_results.clear();
  inbox_.terminate_results.clear();
  inbox_.reboot_results.clear();
  inbox_.reports.clear();
  inbox_.machines.clear();
  if (slurm_was_read) table_written_at_ = clock_.now();
  // As in musterd: calls of the provider first, then Slurm, one call after the other.
  auto actions = std::make_shared<std::vector<Action>>(std::move(plan.actions));
  std::stable_partition(actions->begin(), actions->end(), [](const Action& action) {
    return std::holds_alternative<logic::LaunchMachine>(action) ||
           std::holds_alternative<logic::RebootMachine>(action) ||
           std::holds_alternative<logic::TerminateMachine>(action);
  });
  std::string text;
  for (const Action& action : *actions) text += describe(action) + "\n";
  const bool again = ledger_changes || (!actions->empty() && text != last_actions_text_);
  last_actions_text_ = std::move(text);
  act(actions, 0, again, slurm_was_read);
}

void SimulatedHead::commit(std::shared_ptr<const Ledger> after, const std::vector<logic::Event>& events) {
  const std::shared_ptr<const Ledger> before = std::move(ledger_);
  ledger_ = std::move(after);
  if (!disk_lies_) written_ = ledger_;
  wake_machines(*before, *ledger_);
  for (HeadObserver* observer : observers_) observer->saw_events(events);
}

void SimulatedHead::act(const std::shared_ptr<std::vector<Action>>& actions, std::size_t next, bool again,
                        bool was_read) {
  for (; next < actions->size(); ++next) {
    const Action& action = (*actions)[next];
    for (HeadObserver* observer : observers_) observer->before_action(action);
    const Status outcome = do_action(action);
    for (HeadObserver* observer : observers_) observer->after_action(action, outcome);
    // What Slurm refused is read back and tried again, but not in a hurry.
    if (!outcome) again = false;
    if (dies_here()) return;
    if (const Duration takes = time_of(action); takes.count() > 0) {
      clock_.after(takes, [this, actions, next, again, was_read, life = life_] {
        if (life == life_) act(actions, next + 1, again, was_read);
      });
      return;
    }
  }
  end_pass(again, was_read);
}

void SimulatedHead::end_pass(bool again, bool was_read) {
  pass_runs_ = false;
  for (HeadObserver* observer : observers_) observer->pass_ended(was_read);
  if (again || pass_wanted_) return pass_at(clock_.now());
  Duration wait = settings_.pass_interval;
  if (failed_passes_ > 0) wait = std::min(slurm_retry_cap, wait * std::min(failed_passes_, 8));
  if (next_deadline_ != no_time) wait = std::clamp(next_deadline_ - clock_.now(), Duration{1}, wait);
  pass_at(clock_.now() + wait);
}

// ---- Acting ----

namespace {

/// The names that an action on Slurm carries; none where it is no such action.
const std::vector<logic::NodeName>* names_of(const Action& action) {
  struct Names {
    const std::vector<logic::NodeName>* operator()(const logic::CreateRecords& a) const { return &a.names; }
    const std::vector<logic::NodeName>* operator()(const logic::DeleteRecords& a) const { return &a.names; }
    const std::vector<logic::NodeName>* operator()(const logic::DrainNodes& a) const { return &a.names; }
    const std::vector<logic::NodeName>* operator()(const logic::UndrainNodes& a) const { return &a.names; }
    const std::vector<logic::NodeName>* operator()(const logic::ResumeNodes& a) const { return &a.names; }
    const std::vector<logic::NodeName>* operator()(const logic::ReturnToFuture& a) const { return &a.names; }
    const std::vector<logic::NodeName>* operator()(const logic::SetAddresses& a) const { return &a.names; }
    const std::vector<logic::NodeName>* operator()(const logic::LaunchMachine&) const { return nullptr; }
    const std::vector<logic::NodeName>* operator()(const logic::RebootMachine&) const { return nullptr; }
    const std::vector<logic::NodeName>* operator()(const logic::TerminateMachine&) const { return nullptr; }
    const std::vector<logic::NodeName>* operator()(const logic::WriteNodeFile&) const { return nullptr; }
    const std::vector<logic::NodeName>* operator()(const logic::ReconfigureSlurm&) const { return nullptr; }
    const std::vector<logic::NodeName>* operator()(const logic::ReleaseJobs&) const { return nullptr; }
  };
  return std::visit(Names{}, action);
}

}  // namespace

Duration SimulatedHead::time_of(const Action& action) const {
  if (const auto* names = names_of(action))
    return settings_.call_time + settings_.record_time * static_cast<std::int64_t>(names->size()) / 1000;
  if (const auto* release = std::get_if<logic::ReleaseJobs>(&action))
    return settings_.call_time * static_cast<std::int64_t>(release->jobs.size());
  return Duration{0};
}

SimulatedProvider* SimulatedHead::provider_of(const GroupSpec& group) {
  const auto found = providers_.find(group.provider);
  return found == providers_.end() ? nullptr : found->second.get();
}

template <typename Result>
void SimulatedHead::call_provider(const GroupName& group, Call call,
                                  std::function<void(SimulatedProvider&, std::function<void(Result)>)> ask,
                                  Result when_timed_out, std::vector<Result>& inbox) {
  const GroupSpec* spec = spec_->find_group(group);
  SimulatedProvider* provider = spec ? provider_of(*spec) : nullptr;
  if (!provider) return;
  const auto take = [this, group, &inbox](std::uint64_t number, Result result) {
    if (!take_off(group, number)) return;
    inbox.push_back(std::move(result));
    request_pass();
  };
  call.begin = [provider, ask = std::move(ask), take](std::uint64_t number) {
    ask(*provider, [take, number](Result result) { take(number, std::move(result)); });
  };
  call.timed_out = [take, when_timed_out](std::uint64_t number) { take(number, when_timed_out); };
  enqueue(group, std::move(call));
}

Status SimulatedHead::do_action(const Action& action) {
  struct Do {
    SimulatedHead& head;
    SimulatedSlurm& slurm;
    Status operator()(const logic::CreateRecords& a) { return slurm.create(a.names, a.line, Actor::muster); }
    Status operator()(const logic::DeleteRecords& a) { return slurm.remove(a.names); }
    Status operator()(const logic::DrainNodes& a) { return slurm.drain(a.names, a.reason, Actor::muster); }
    Status operator()(const logic::UndrainNodes& a) { return slurm.undrain(a.names, Actor::muster); }
    Status operator()(const logic::ResumeNodes& a) { return slurm.resume(a.names, Actor::muster); }
    Status operator()(const logic::ReturnToFuture& a) { return slurm.set_future(a.names, Actor::muster); }
    Status operator()(const logic::SetAddresses& a) { return slurm.set_addresses(a.names, a.addresses); }
    Status operator()(const logic::LaunchMachine& a) {
      Call call;
      call.launch = a.token;
      LaunchResult timed_out;
      timed_out.token = a.token;
      timed_out.failure = logic::FailureClass::transient;
      timed_out.outcome_unknown = true;
      timed_out.message = "launch: the provider's program did not answer in time and was ended";
      const GroupSpec* spec = head.spec_->find_group(a.group);
      head.call_provider<LaunchResult>(
          a.group, std::move(call),
          [spec, a](SimulatedProvider& provider, std::function<void(LaunchResult)> done) {
            provider.launch(*spec, a, std::move(done));
          },
          timed_out, head.inbox_.launch_results);
      return Done{};
    }
    Status operator()(const logic::RebootMachine& a) {
      Call call;
      call.reboot = a.instance;
      head.call_provider<RebootResult>(
          a.group, std::move(call),
          [id = a.instance](SimulatedProvider& provider, std::function<void(RebootResult)> done) {
            provider.reboot(id, std::move(done));
          },
          RebootResult{a.instance, false, "reboot: no answer in time"}, head.inbox_.reboot_results);
      return Done{};
    }
    Status operator()(const logic::TerminateMachine& a) {
      Call call;
      call.termination = a.instance;
      head.call_provider<TerminateResult>(
          a.group, std::move(call),
          [id = a.instance](SimulatedProvider& provider, std::function<void(TerminateResult)> done) {
            provider.terminate(id, std::move(done));
          },
          TerminateResult{a.instance, false, "terminate: no answer in time"}, head.inbox_.terminate_results);
      return Done{};
    }
    // Groups whose nodes stand in slurm.conf are not simulated: the parser of scenarios refuses them.
    Status operator()(const logic::WriteNodeFile&) { return Done{}; }
    Status operator()(const logic::ReconfigureSlurm&) { return Done{}; }
    Status operator()(const logic::ReleaseJobs& a) {
      Status all = Done{};
      for (const auto& item : a.jobs) {
        if (Status one = slurm.release(item.job, item.admin_comment); !one) all = one;
      }
      head.counts_.slurm_calls += static_cast<std::int64_t>(a.jobs.size());
      return all;
    }
  };
  if (names_of(action)) ++counts_.slurm_calls;
  return std::visit(Do{*this, slurm_}, action);
}

// ---- The provider's lanes ----

void SimulatedHead::list_machines() {
  for (const GroupSpec& group : spec_->groups) {
    const auto provider = spec_->providers.find(group.provider);
    const auto record = ledger_->groups.find(group.name);
    if (provider == spec_->providers.end() || record == ledger_->groups.end()) continue;
    Time& last = listed_at_[group.name];
    if (!may_have_machines(record->second) || clock_.now() - last < provider->second.list_interval) continue;
    last = clock_.now();
    Lane& lane = lanes_[group.name];
    if (lane.listing) continue;
    lane.listing = true;
    Call call;
    call.is_list = true;
    call.begin = [this, provider = provider_of(group), name = group.name, asked_at = last](std::uint64_t number) {
      provider->list(name, [this, name, asked_at, number](const logic::Result<std::vector<SeenMachine>>& machines) {
        if (!take_off(name, number) || !machines) return;
        inbox_.machines[name] = {asked_at, *machines};
        for (HeadObserver* observer : observers_) observer->saw_list(name, inbox_.machines[name]);
        request_pass();
      });
    };
    call.timed_out = [this, name = group.name](std::uint64_t number) { take_off(name, number); };
    enqueue(group.name, std::move(call));
  }
}

void SimulatedHead::enqueue(const GroupName& group, Call call) {
  Lane& lane = lanes_[group];
  lane.queue.push_back(std::move(call));
  start_next(group, lane);
}

void SimulatedHead::start_next(const GroupName& group, Lane& lane) {
  const GroupSpec* spec = spec_->find_group(group);
  if (!spec) return;
  const logic::ProviderSpec& provider = spec_->providers.at(spec->provider);
  while (!lane.queue.empty() && static_cast<int>(lane.running.size()) < provider.max_launches) {
    const std::uint64_t number = next_call_++;
    Call& call = lane.running[number] = std::move(lane.queue.front());
    lane.queue.pop_front();
    ++counts_.provider_calls;
    call.begin(number);
    clock_.after(provider.call_timeout, [this, group, number, life = life_] {
      if (life != life_) return;
      const auto& running = lanes_[group].running;
      const auto late = running.find(number);
      if (late == running.end()) return;
      // The call ends by this, and with it what is being run.
      const auto timed_out = late->second.timed_out;
      timed_out(number);
    });
  }
}

/// The call is over; false if nobody waits for it any more.
bool SimulatedHead::take_off(const GroupName& group, std::uint64_t number) {
  const auto lane = lanes_.find(group);
  if (lane == lanes_.end()) return false;
  const auto call = lane->second.running.extract(number);
  if (call.empty()) return false;
  if (call.mapped().is_list) lane->second.listing = false;
  start_next(group, lane->second);
  return true;
}

// ---- Commands ----

Status SimulatedHead::run_command(const logic::Command& command) {
  if (!running_) return logic::retry_error("musterd does not answer");
  auto outcome = logic::run_command(*spec_, *ledger_, command, "uid 0", clock_.now());
  if (!outcome) return outcome.error();
  commit(std::make_shared<const Ledger>(std::move(outcome->ledger)), outcome->events);
  for (HeadObserver* observer : observers_) observer->saw_command(command);
  request_pass();
  return Done{};
}

Status SimulatedHead::apply(std::shared_ptr<const logic::ClusterSpec> spec) {
  if (!running_) return logic::retry_error("musterd does not answer");
  if (Status change = logic::check_change(*spec_, *ledger_, *spec); !change) return change;
  logic::CommandOutcome taken = logic::take_file(spec_.get(), *spec, *ledger_, "uid 0", clock_.now());
  spec_ = std::move(spec);
  commit(std::make_shared<const Ledger>(std::move(taken.ledger)), taken.events);
  for (HeadObserver* observer : observers_) observer->saw_file();
  request_pass();
  return Done{};
}

logic::GateTable SimulatedHead::gate_table() const {
  if (!running_ && table_of_the_dead_) return *table_of_the_dead_;
  logic::Seen seen;
  seen.nodes = slurm_.nodes();
  return logic::make_gate_table(*spec_, *ledger_, seen, table_written_at_);
}

}  // namespace muster::simulator
