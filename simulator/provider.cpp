// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulator/provider.hpp"

#include <algorithm>
#include <cmath>

namespace muster::simulator {

using logic::Duration;
using logic::FailureClass;
using logic::GroupName;
using logic::InstanceId;
using logic::LaunchResult;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr Spread usual_answer_time{milliseconds{200}, seconds{1}};
/// How long the list still shows a machine that has ended.
constexpr Duration shown_as_terminated = minutes{1};

/// Each group has a network of its own, so that addresses do not hang on what happens in another group.
std::string address_of(const GroupName& group, std::uint64_t number) {
  return "10." + std::to_string(static_cast<int>(Chance(0).number(group.str()) * 250)) + "." +
         std::to_string(number / 250 % 250) + "." + std::to_string(number % 250 + 1);
}

}  // namespace

SimulatedProvider::SimulatedProvider(std::string name, bool is_idempotent, Machine::Surroundings around,
                                     MachinePark& machines)
    : name_(std::move(name)), is_idempotent_(is_idempotent), around_(around), machines_(machines) {}

int SimulatedProvider::machines_made(const logic::LaunchToken& token) const {
  const auto found = by_token_.find(token);
  return found == by_token_.end() ? 0 : static_cast<int>(found->second.size());
}

// ---- Launch ----

void SimulatedProvider::launch(const logic::GroupSpec& group, const logic::LaunchMachine& call,
                               Done<LaunchResult> done) {
  const LaunchBehaviour behaviour = towards(group.name, call.instance_type);
  if (behaviour.hangs) return;
  const Duration takes = around_.chance.duration(behaviour.launch_time, call.token.str() + "launch");
  // The machine is there before the answer is.
  const Duration made_after = takes * 2 / 3;
  auto result = std::make_shared<LaunchResult>();
  result->token = call.token;
  around_.clock.after(made_after, [this, &group, call, behaviour, result] { make(group, call, behaviour, *result); });
  around_.clock.after(takes, [result, done = std::move(done)] { done(*result); });
}

std::optional<std::pair<FailureClass, std::string>> SimulatedProvider::refusal(const logic::LaunchMachine& call,
                                                                               const LaunchBehaviour& behaviour) {
  const std::string type = call.instance_type.empty() ? "the only type" : "type " + call.instance_type;
  const std::pair key{call.group, call.instance_type};
  if (around_.chance.happens(behaviour.fails, call.token.str() + "fails"))
    return std::pair{behaviour.failure,
                     "no machine of " + type + ": " + std::string(failure_class_name(behaviour.failure))};
  if (behaviour.capacity && alive_[key] >= *behaviour.capacity)
    return std::pair{FailureClass::capacity, "no machine of " + type + " is free"};
  if (service_.quota) {
    int all = 0;
    for (const auto& [other, number] : alive_) all += number;
    if (all >= *service_.quota)
      return std::pair{FailureClass::quota, "the quota of " + std::to_string(*service_.quota) + " machines is used up"};
  }
  if (behaviour.supply_interval.count() > 0) {
    logic::Time& next = next_supply_[key];
    if (around_.clock.now() < next) return std::pair{FailureClass::capacity, "no machine of " + type + " is free now"};
    next = around_.clock.now() + behaviour.supply_interval;
  }
  return std::nullopt;
}

void SimulatedProvider::make(const logic::GroupSpec& group, const logic::LaunchMachine& call,
                             const LaunchBehaviour& behaviour, LaunchResult& result) {
  if (const auto known = by_token_.find(call.token); is_idempotent_ && known != by_token_.end()) {
    result.instance = known->second.front()->origin().id;
    result.address = known->second.front()->origin().address;
    return;
  }
  if (const auto refused = refusal(call, behaviour)) {
    result.failure = refused->first;
    result.message = refused->second;
    return;
  }
  const auto has = [&](double part, const char* what) {
    return around_.chance.happens(part, call.token.str() + what, by_token_[call.token].size());
  };
  Machine::Origin origin;
  origin.token = call.token;
  origin.group = call.group;
  origin.name = call.name;
  origin.type = call.instance_type;
  origin.boot_time = behaviour.boot_time;
  origin.faults.never_boots = has(behaviour.never_boots, "boots");
  origin.faults.lacks_devices = has(behaviour.lacks_devices, "devices");
  origin.faults.is_rejected = has(behaviour.is_rejected, "rejected");
  origin.faults.slurmd_ends = has(behaviour.slurmd_ends, "ends");
  Machine& machine = add(std::move(origin), group);
  if (behaviour.machine_life_hours > 0) {
    const double number = around_.chance.number(call.token.str() + "life");
    const double hours = -std::log(1.0 - number) * behaviour.machine_life_hours;
    around_.clock.after(Duration{static_cast<std::int64_t>(hours * 3'600'000.0)}, [this, &machine] { lose(machine); });
  }
  result.instance = machine.origin().id;
  result.address = machine.origin().address;
}

Machine& SimulatedProvider::add(Machine::Origin origin, const logic::GroupSpec& group) {
  // Named by its token, so that the ids in one group do not hang on how many machines another group has.
  origin.id =
      InstanceId{name_ + "-" + origin.token.str() +
                 (by_token_[origin.token].empty() ? "" : "-again" + std::to_string(by_token_[origin.token].size()))};
  origin.address = address_of(group.name, made_[group.name]++);
  origin.made_at = around_.clock.now();
  Machine& machine = machines_.add(std::make_unique<Machine>(std::move(origin), group, around_));
  by_token_[machine.origin().token].push_back(&machine);
  by_group_[machine.origin().group].push_back(&machine);
  ++alive_[{machine.origin().group, machine.origin().type}];
  machine.boot();
  return machine;
}

InstanceId SimulatedProvider::add_foreign_machine(const logic::GroupSpec& group, const std::string& token) {
  Machine::Origin origin;
  origin.token = logic::LaunchToken{token};
  origin.group = group.name;
  origin.type = "theirs";
  origin.faults.never_boots = true;
  return add(std::move(origin), group).origin().id;
}

void SimulatedProvider::lose(Machine& machine) {
  if (!machine.exists()) return;
  --alive_[{machine.origin().group, machine.origin().type}];
  machine.end();
}

// ---- The other calls ----

void SimulatedProvider::terminate(const InstanceId& instance, Done<logic::TerminateResult> done) {
  if (service_.hangs) return;
  const std::uint64_t call = turn(instance.str());
  const Duration takes = around_.chance.duration(usual_answer_time, instance.str() + "answer", call);
  const bool fails = around_.chance.happens(service_.terminate_fails, instance.str() + "terminate", call);
  around_.clock.after(takes, [this, instance, fails, done = std::move(done)] {
    if (fails) return done({instance, false, "terminate: the service is not available"});
    // Ending what has ended is no failure.
    if (Machine* machine = machines_.find(instance)) lose(*machine);
    done({instance, true, ""});
  });
}

void SimulatedProvider::reboot(const InstanceId& instance, Done<logic::RebootResult> done) {
  if (service_.hangs) return;
  const Duration takes = around_.chance.duration(usual_answer_time, instance.str() + "answer", turn(instance.str()));
  around_.clock.after(takes, [this, instance, done = std::move(done)] {
    Machine* machine = machines_.find(instance);
    if (service_.refuses_reboot) return done({instance, false, "reboot: this provider cannot"});
    if (!machine || !machine->exists()) return done({instance, false, "reboot: no such machine"});
    machine->boot();
    done({instance, true, ""});
  });
}

void SimulatedProvider::list(const GroupName& group, Done<logic::Result<std::vector<logic::SeenMachine>>> done) {
  if (service_.hangs) return;
  const std::uint64_t call = turn(group.str());
  const bool fails = around_.chance.happens(service_.list_fails, name_ + group.str() + "list", call);
  std::vector<logic::SeenMachine> machines;
  auto& known = by_group_[group];
  // What ended long ago is never listed again.
  while (!known.empty() && !known.front()->exists() &&
         known.front()->ended_at() + shown_as_terminated < around_.clock.now())
    known.pop_front();
  for (const Machine* machine : known) {
    const Machine::Origin& origin = machine->origin();
    if (service_.list_is_empty || origin.made_at + service_.list_lag > around_.clock.now()) continue;
    if (!machine->exists() && machine->ended_at() + shown_as_terminated < around_.clock.now()) continue;
    if (around_.chance.happens(service_.list_omits, origin.id.str() + "omit", call)) continue;
    machines.push_back({origin.id, origin.token, machine->exists() ? "running" : "terminated", origin.address});
  }
  around_.clock.after(around_.chance.duration(usual_answer_time, name_ + group.str(), call),
                      [fails, machines = std::move(machines), done = std::move(done)] {
                        if (fails) return done(logic::retry_error("list: the service is not available"));
                        done(machines);
                      });
}

}  // namespace muster::simulator
