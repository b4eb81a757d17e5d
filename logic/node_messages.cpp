// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/node_messages.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace muster::logic {
namespace {

constexpr std::size_t text_limit = 512;
constexpr std::size_t checks_limit = 64;

constexpr std::string_view name_characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";

bool consists_of(std::string_view text, std::string_view allowed, std::string_view more = {}) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return allowed.find(c) != std::string_view::npos || more.find(c) != std::string_view::npos;
  });
}

/// Slurm splits --conf at blanks and knows no quoting that survives every layer, so nothing that would need it passes.
bool is_node_conf(std::string_view text) {
  return text.size() <= 4096 && std::all_of(text.begin(), text.end(), [](char c) {
           return c >= ' ' && c <= '~' && c != '"' && c != '\'' && c != '\\' && c != '$' && c != '%' && c != '`';
         });
}

std::string short_text(const Value& body, std::string_view key) { return body.text_or(key).substr(0, text_limit); }

}  // namespace

std::string_view step_name(NodeStep step) {
  switch (step) {
    case NodeStep::introduced: return "introduced";
    case NodeStep::checking: return "checking";
    case NodeStep::ready: return "ready";
    case NodeStep::starting: return "starting";
    case NodeStep::running: return "running";
    case NodeStep::failed: return "failed";
  }
  assert(false && "no such step");
  return "failed";
}

Result<Assignment> read_assignment(const Value& answer) {
  if (!answer.is_map()) return retry_error("musterd's answer is not an object");
  Assignment result;
  result.generation = answer.integer_or("Generation");
  result.assigned = answer.boolean_or("Assigned");
  result.message = answer.text_or("Message");
  result.head_time = time_from_seconds(answer.real_or("HeadTime"));
  if (!result.assigned) return result;

  result.node = NodeName{answer.text_or("NodeName")};
  result.group = GroupName{answer.text_or("InstanceGroupName")};
  result.node_conf = answer.text_or("NodeConf");
  result.runs_slurmd = answer.boolean_or("RunsSlurmd", true);
  result.has_line = answer.boolean_or("HasLine");
  result.conf_server = answer.text_or("ConfServer");
  result.cpus = static_cast<int>(std::clamp<std::int64_t>(answer.integer_or("Cpus"), 0, 1 << 20));
  result.memory_mib = std::max<std::int64_t>(answer.integer_or("MemoryMiB"), 0);
  result.slurmd_start = std::max<std::int64_t>(answer.integer_or("SlurmdStart"), 0);
  const std::string& node = result.node.str();
  // A leading hyphen would be read as an option.
  if (node.empty() || node.size() > 255 || node.front() == '-' || !consists_of(node, name_characters)) {
    return retry_error("musterd's answer has no usable NodeName: \"" + node.substr(0, 80) + "\"");
  }
  if (!is_node_conf(result.node_conf)) return retry_error("musterd's answer has an unusable NodeConf");
  const std::string& server = result.conf_server;
  if (server.size() > 1024 || (!server.empty() && server.front() == '-') ||
      !consists_of(server, name_characters, ":,[]")) {
    return retry_error("musterd's answer has an unusable ConfServer");
  }
  const Value::List& gres = answer.list_or_empty("Gres");
  if (gres.size() > 64) return retry_error("musterd's answer names more than 64 GRES");
  for (const Value& entry : gres) {
    const std::string name = entry.text_or("Name");
    if (name.empty()) return retry_error("musterd's answer has a GRES without a name");
    const auto count = static_cast<int>(std::clamp<std::int64_t>(entry.integer_or("Count"), 0, 1 << 20));
    result.gres.push_back({name, entry.text_or("Type"), count});
  }
  return result;
}

Value assignment_body(const Assignment& assignment, std::string_view status, const std::string& status_message) {
  Value body = Value::map({{"Generation", assignment.generation},
                           {"Assigned", assignment.assigned},
                           {"Message", assignment.message},
                           {"SlurmdStart", assignment.slurmd_start},
                           {"HeadTime", to_seconds(assignment.head_time)}});
  if (!assignment.assigned) return body;
  Value gres = Value::list();
  for (const GresWant& want : assignment.gres) {
    gres.push(Value::map({{"Name", want.name}, {"Type", want.type}, {"Count", want.count}}));
  }
  body.set("NodeName", assignment.node.str());
  body.set("InstanceGroupName", assignment.group.str());
  body.set("NodeConf", assignment.node_conf);
  body.set("RunsSlurmd", assignment.runs_slurmd);
  body.set("HasLine", assignment.has_line);
  body.set("Gres", std::move(gres));
  body.set("Cpus", assignment.cpus);
  body.set("MemoryMiB", assignment.memory_mib);
  body.set("ConfServer", assignment.conf_server);
  body.set("Status", status);
  body.set("StatusMessage", status_message);
  return body;
}

bool is_news(const NodeReport& a, const NodeReport& b) {
  const auto same_checks = [](const NodeCheck& left, const NodeCheck& right) {
    return left.name == right.name && left.ok == right.ok;
  };
  return a.step != b.step || a.message != b.message || a.slurmd_start != b.slurmd_start ||
         a.slurmd_alive != b.slurmd_alive || a.instance != b.instance || a.host_name != b.host_name ||
         a.cpus != b.cpus || a.memory_mib != b.memory_mib ||
         !std::equal(a.checks.begin(), a.checks.end(), b.checks.begin(), b.checks.end(), same_checks);
}

Value report_body(const NodeReport& report, std::int64_t known_generation, Duration wait, Time now) {
  Value checks = Value::list();
  for (const NodeCheck& check : report.checks) {
    checks.push(Value::map({{"Name", check.name}, {"Ok", check.ok}, {"Text", check.text}}));
  }
  Value body = Value::map({
      {"InstanceId", report.instance.str()},
      {"BootId", report.boot_id},
      {"HostName", report.host_name},
      {"KnownGeneration", known_generation},
      {"WaitSeconds", to_seconds(wait)},
      {"Step", step_name(report.step)},
      {"Message", report.message},
      {"Checks", std::move(checks)},
      {"SlurmdStart", report.slurmd_start},
      {"SlurmdAlive", report.slurmd_alive},
      {"Cpus", report.cpus},
      {"MemoryMiB", report.memory_mib},
      {"Time", to_seconds(now)},
  });
  if (!report.node_name.empty()) body.set("NodeName", report.node_name);
  if (!report.address.empty()) body.set("Address", report.address);
  return body;
}

Result<NodeReport> read_report(const Value& body) {
  constexpr std::array<NodeStep, 6> steps{NodeStep::introduced, NodeStep::checking, NodeStep::ready,
                                          NodeStep::starting,   NodeStep::running,  NodeStep::failed};
  NodeReport report;
  report.instance = InstanceId{short_text(body, "InstanceId")};
  if (report.instance.empty()) return reject_error("InstanceId: expected the machine's id, found nothing");
  const std::string step = body.text_or("Step");
  const auto* known =
      std::find_if(steps.begin(), steps.end(), [&](NodeStep candidate) { return step_name(candidate) == step; });
  if (known == steps.end()) {
    return reject_error("Step: expected introduced, checking, ready, starting, running or failed, found \"" +
                        step.substr(0, 40) + "\"");
  }
  report.step = *known;
  report.node_name = short_text(body, "NodeName");
  report.boot_id = short_text(body, "BootId");
  report.host_name = short_text(body, "HostName");
  if (const std::string address = body.text_or("Address"); is_numeric_address(address)) report.address = address;
  report.message = short_text(body, "Message");
  report.slurmd_start = std::clamp<std::int64_t>(body.integer_or("SlurmdStart"), 0, 1'000'000);
  report.slurmd_alive = body.boolean_or("SlurmdAlive");
  report.cpus = static_cast<int>(std::clamp<std::int64_t>(body.integer_or("Cpus"), 0, 1 << 20));
  report.memory_mib = std::max<std::int64_t>(body.integer_or("MemoryMiB"), 0);
  for (const Value& check : body.list_or_empty("Checks")) {
    if (report.checks.size() == checks_limit) break;
    report.checks.push_back({short_text(check, "Name"), check.boolean_or("Ok"), short_text(check, "Text")});
  }
  return report;
}

bool is_numeric_address(const std::string& text) {
  const auto consists_of_digits = [&](std::string_view more) {
    return std::all_of(text.begin(), text.end(),
                       [&](char c) { return (c >= '0' && c <= '9') || more.find(c) != std::string_view::npos; });
  };
  if (text.empty() || text.size() > 45) return false;
  if (text.find(':') != std::string::npos) return consists_of_digits("abcdefABCDEF.:");
  return std::count(text.begin(), text.end(), '.') == 3 && consists_of_digits(".");
}

}  // namespace muster::logic
