// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/provider_messages.hpp"

#include <algorithm>
#include <array>

#include "logic/node_messages.hpp"

namespace muster::logic {
namespace {

constexpr std::size_t text_limit = 1024;

/// The error that the program itself reports; its class is transient where it names none of ours.
struct StatedError {
  FailureClass failure = FailureClass::transient;
  std::string message;
};

std::optional<StatedError> stated_error(const Value& answer) {
  const Value* error = answer.find("error");
  if (!error || error->is_null()) return std::nullopt;
  StatedError stated;
  const std::string name = error->text_or("class");
  constexpr std::array<FailureClass, 4> known{FailureClass::capacity, FailureClass::quota, FailureClass::configuration,
                                              FailureClass::transient};
  const auto* found = std::find_if(known.begin(), known.end(),
                                   [&](FailureClass failure) { return failure_class_name(failure) == name; });
  if (found != known.end()) stated.failure = *found;
  stated.message = error->text_or("message", "the provider gave no message").substr(0, text_limit);
  return stated;
}

bool is_id(const std::string& text) {
  return !text.empty() && text.size() <= 128 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127 && c != '"' && c != '\\'; });
}

}  // namespace

Value launch_request(const std::string& cluster, const GroupSpec& group, const LaunchMachine& launch) {
  return Value::map({{"cluster", cluster},
                     {"group", group.name.str()},
                     {"node_name", launch.name.str()},
                     {"token", launch.token.str()},
                     {"attempt", launch.attempt},
                     {"instance_type", launch.instance_type}});
}

Value list_request(const std::string& cluster, const GroupSpec& group) {
  return Value::map({{"cluster", cluster}, {"group", group.name.str()}});
}

namespace {

/// What names a machine.
template <typename Action>
Value machine_request(const std::string& cluster, const Action& action) {
  return Value::map({{"cluster", cluster},
                     {"group", action.group.str()},
                     {"node_name", action.name.str()},
                     {"instance_id", action.instance.str()},
                     {"token", action.token.str()}});
}

/// Why a call that has no answer of its own failed; empty = it did not.
std::string failure_of(const char* operation, const ProviderRun& run) {
  const std::string title = std::string(operation) + ": ";
  if (!run.trouble.empty()) return title + run.trouble;
  if (const auto error = stated_error(run.answer)) return title + error->message;
  if (!run.answer.is_map()) return title + "expected a JSON object as the provider's answer";
  return "";
}

}  // namespace

Value reboot_request(const std::string& cluster, const RebootMachine& reboot) {
  return machine_request(cluster, reboot);
}

Value terminate_request(const std::string& cluster, const TerminateMachine& terminate) {
  return machine_request(cluster, terminate);
}

LaunchResult read_launch(const LaunchToken& token, const ProviderRun& run) {
  LaunchResult result;
  result.token = token;
  const auto unknown = [&](std::string why) {
    result.failure = FailureClass::transient;
    result.outcome_unknown = true;
    result.message = std::move(why);
    return result;
  };
  if (!run.trouble.empty()) return unknown("launch: " + run.trouble);
  if (const auto error = stated_error(run.answer)) {
    result.failure = error->failure;
    result.message = error->message;
    return result;
  }
  const std::string instance = run.answer.text_or("instance_id");
  if (!is_id(instance))
    return unknown(
        "launch: expected instance_id (printable, no blanks, 128 at most) in the provider's answer, found \"" +
        instance.substr(0, 60) + "\"");
  const std::string address = run.answer.text_or("address");
  if (!address.empty() && !is_numeric_address(address))
    return unknown("launch: expected a numeric address in the provider's answer, found \"" + address.substr(0, 60) +
                   "\"");
  result.instance = InstanceId{instance};
  result.address = address;
  return result;
}

Result<std::vector<SeenMachine>> read_list(const GroupName& group, const ProviderRun& run) {
  if (!run.trouble.empty()) return retry_error("list: " + run.trouble);
  if (const auto error = stated_error(run.answer)) return retry_error("list: " + error->message);
  const Value* instances = run.answer.find("instances");
  if (!instances || !instances->is_list())
    return retry_error("list: expected a list \"instances\" in the provider's answer, found none");
  std::vector<SeenMachine> machines;
  for (const Value& record : instances->items()) {
    SeenMachine machine;
    machine.instance = InstanceId{record.text_or("instance_id")};
    machine.token = LaunchToken{record.text_or("token")};
    machine.state = record.text_or("state");
    machine.address = record.text_or("address");
    if (!is_id(machine.instance.str()))
      return retry_error("list: expected instance_id in each instance of the provider's answer, found one without");
    if (!is_numeric_address(machine.address)) machine.address.clear();
    if (const std::string owner = record.text_or("group"); !owner.empty() && owner != group.str()) continue;
    machines.push_back(std::move(machine));
  }
  return machines;
}

RebootResult read_reboot(const InstanceId& instance, const ProviderRun& run) {
  const std::string failure = failure_of("reboot", run);
  return {instance, failure.empty(), failure};
}

TerminateResult read_terminate(const InstanceId& instance, const ProviderRun& run) {
  const std::string failure = failure_of("terminate", run);
  return {instance, failure.empty(), failure};
}

}  // namespace muster::logic
