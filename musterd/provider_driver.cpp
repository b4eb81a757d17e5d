// SPDX-License-Identifier: GPL-2.0-or-later
#include "musterd/provider_driver.hpp"

#include "logic/field_reader.hpp"
#include "sys/json.hpp"

namespace muster::musterd {

using logic::GroupName;
using logic::InstanceId;
using logic::LaunchToken;
using logic::ProviderRun;
using logic::Result;

namespace {

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t newline = text.rfind('\n');
  return newline == std::string::npos ? text : text.substr(newline + 1);
}

ProviderRun judge(const sys::Finished& finished, logic::Duration deadline) {
  ProviderRun run;
  const std::string words = finished.diagnostics.empty() ? "" : ": " + last_line(finished.diagnostics);
  if (finished.timed_out) {
    run.trouble = "the provider's program did not answer within " + logic::duration_text(deadline) + " and was ended";
  } else if (finished.output_too_large) {
    run.trouble = "the provider's program wrote more than is allowed and was ended";
  } else if (finished.signal != 0) {
    run.trouble = "the provider's program was ended by signal " + std::to_string(finished.signal) + words;
  } else if (finished.exit_code != 0) {
    run.trouble = "the provider's program ended with status " + std::to_string(finished.exit_code) + words;
  } else if (auto answer = sys::parse_json(finished.output); answer && answer->is_map()) {
    run.answer = *std::move(answer);
  } else {
    run.trouble = "expected one JSON object from the provider's program, found " +
                  (answer ? std::string(logic::kind_name(answer->kind())) : answer.error().message);
  }
  return run;
}

}  // namespace

ProviderDriver::ProviderDriver(sys::EventLoop& loop, Events events) : loop_(loop), events_(std::move(events)) {}

void ProviderDriver::configure(const logic::ClusterSpec& spec) {
  cluster_ = spec.name;
  for (auto lane = lanes_.begin(); lane != lanes_.end();) {
    lane = spec.find_group(lane->first) ? std::next(lane) : lanes_.erase(lane);
  }
  for (const logic::GroupSpec& group : spec.groups) {
    const auto provider = spec.providers.find(group.provider);
    if (provider == spec.providers.end()) continue;
    Lane& lane = lanes_[group.name];
    lane.group = group;
    lane.provider = provider->second;
  }
}

void ProviderDriver::stop() {
  for (auto& [group, lane] : lanes_) {
    lane.queue.clear();
    lane.running.clear();
    lane.listing = false;
  }
}

ProviderDriver::Lane* ProviderDriver::lane_of(const GroupName& group) {
  const auto lane = lanes_.find(group);
  return lane == lanes_.end() ? nullptr : &lane->second;
}

void ProviderDriver::launch(const logic::LaunchMachine& action) {
  Lane* lane = lane_of(action.group);
  if (!lane) return;
  Call call;
  call.operation = "launch";
  call.input = sys::to_json(logic::launch_request(cluster_, lane->group, action));
  call.launch = action.token;
  call.done = [this, token = action.token](const ProviderRun& run) {
    events_.launched(logic::read_launch(token, run));
  };
  enqueue(*lane, std::move(call));
}

void ProviderDriver::terminate(const logic::TerminateMachine& action) {
  Lane* lane = lane_of(action.group);
  if (!lane) return;
  Call call;
  call.operation = "terminate";
  call.input = sys::to_json(logic::terminate_request(cluster_, action));
  call.termination = action.instance;
  call.done = [this, instance = action.instance](const ProviderRun& run) {
    events_.terminated(logic::read_terminate(instance, run));
  };
  enqueue(*lane, std::move(call));
}

void ProviderDriver::reboot(const logic::RebootMachine& action) {
  Lane* lane = lane_of(action.group);
  if (!lane) return;
  Call call;
  call.operation = "reboot";
  call.input = sys::to_json(logic::reboot_request(cluster_, action));
  call.reboot = action.instance;
  call.done = [this, instance = action.instance](const ProviderRun& run) {
    events_.rebooted(logic::read_reboot(instance, run));
  };
  enqueue(*lane, std::move(call));
}

void ProviderDriver::list(const GroupName& group, logic::Time now) {
  Lane* lane = lane_of(group);
  if (!lane || lane->listing) return;
  lane->listing = true;
  Call call;
  call.operation = "list";
  call.input = sys::to_json(logic::list_request(cluster_, lane->group));
  call.done = [this, group, now](const ProviderRun& run) {
    if (Lane* ended = lane_of(group)) ended->listing = false;
    events_.listed(group, now, logic::read_list(group, run));
  };
  enqueue(*lane, std::move(call));
}

void ProviderDriver::enqueue(Lane& lane, Call call) {
  lane.queue.push_back(std::move(call));
  start_next(lane);
}

void ProviderDriver::start_next(Lane& lane) {
  while (!lane.queue.empty() && static_cast<int>(lane.running.size()) < lane.provider.max_launches) {
    Call call = std::move(lane.queue.front());
    lane.queue.pop_front();
    // What is not begun is not in flight either, so whoever may act asks for it again.
    if (call.operation != "list" && !events_.may_begin()) continue;
    sys::Command command;
    command.arguments.push_back(lane.provider.program);
    for (const std::string& argument : lane.provider.arguments) command.arguments.push_back(argument);
    command.arguments.push_back(call.operation);
    const std::uint64_t number = next_number_++;
    const logic::Duration deadline = lane.provider.call_timeout;
    std::string input = call.input + "\n";
    auto run = sys::run_command(loop_, command, std::move(input), deadline,
                                [this, group = lane.group.name, number, deadline](const sys::Finished& finished) {
                                  this->finished(group, number, judge(finished, deadline));
                                });
    if (run) {
      lane.running.emplace(number, std::pair{std::move(call), *std::move(run)});
      continue;
    }
    ProviderRun failed;
    failed.trouble = run.error().message;
    lane.running.emplace(number, std::pair{std::move(call), nullptr});
    // From the loop, as for every other end: the caller is not called back from within its own call.
    loop_.post([this, group = lane.group.name, number, failed] { finished(group, number, failed); });
  }
}

void ProviderDriver::finished(const GroupName& group, std::uint64_t number, const ProviderRun& run) {
  Lane* lane = lane_of(group);
  if (!lane) return;
  auto node = lane->running.extract(number);
  if (node.empty()) return;
  // The run is still calling us: let it end only after its callback has returned.
  std::shared_ptr<sys::Run> ended = std::move(node.mapped().second);
  loop_.post([ended] {});
  const Call call = std::move(node.mapped().first);
  start_next(*lane);
  call.done(run);
}

std::set<LaunchToken> ProviderDriver::launches_in_flight() const {
  std::set<LaunchToken> tokens;
  for (const auto& [group, lane] : lanes_) {
    for (const Call& call : lane.queue)
      if (!call.launch.empty()) tokens.insert(call.launch);
    for (const auto& [number, running] : lane.running)
      if (!running.first.launch.empty()) tokens.insert(running.first.launch);
  }
  return tokens;
}

std::set<InstanceId> ProviderDriver::in_flight(InstanceId Call::*of) const {
  std::set<InstanceId> instances;
  for (const auto& [group, lane] : lanes_) {
    for (const Call& call : lane.queue)
      if (!(call.*of).empty()) instances.insert(call.*of);
    for (const auto& [number, running] : lane.running)
      if (!(running.first.*of).empty()) instances.insert(running.first.*of);
  }
  return instances;
}

std::set<InstanceId> ProviderDriver::terminations_in_flight() const { return in_flight(&Call::termination); }
std::set<InstanceId> ProviderDriver::reboots_in_flight() const { return in_flight(&Call::reboot); }

}  // namespace muster::musterd
