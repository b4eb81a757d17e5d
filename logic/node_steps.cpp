// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/node_steps.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <map>

#include "logic/field_reader.hpp"

namespace muster::logic {
namespace {

std::string failing(const std::vector<NodeCheck>& checks) {
  std::string text;
  for (const NodeCheck& check : checks) {
    if (check.ok) continue;
    if (!text.empty()) text += "; ";
    text += check.name + ": " + check.text;
  }
  return text;
}

NodeCheck judge_clock(const HeadProof& proof, Duration limit) {
  if (!proof.skew) return {"clock", false, "not compared with the head's yet"};
  const Duration size{std::abs(proof.skew->count())};
  const std::string way = *proof.skew >= Duration{0} ? "ahead of" : "behind";
  std::string text = duration_text(size) + " " + way + " the head's";
  // What cannot be told from an exact clock counts as good: the limit is seconds, the error of a slow link may be too.
  if (size - proof.skew_error <= limit) return {"clock", true, text};
  return {"clock", false, text + ", allowed are " + duration_text(limit) + ": is the time service running?"};
}

NodeCheck judge_host_name(const std::string& name) {
  const bool ok = !name.empty() && name != "localhost" && name != "(none)" && name.rfind("localhost.", 0) != 0;
  return {"hostname", ok, ok ? name : "the host name is \"" + name + "\": not set yet"};
}

NodeCheck judge_devices(const std::string& gres, int wanted, const std::vector<DeviceCount>& devices) {
  for (const DeviceCount& seen : devices) {
    if (seen.gres != gres) continue;
    if (seen.first != seen.second) {
      return {gres, false,
              "the count of " + seen.pattern + " is still changing, " + std::to_string(wanted) + " wanted"};
    }
    return {gres, seen.second >= wanted,
            std::to_string(seen.second) + " of " + std::to_string(wanted) + " devices (" + seen.pattern + ")"};
  }
  return {gres, true, "not looked at: noded.yaml has no device_pattern for it"};
}

NodeCheck judge_at_least(const std::string& name, std::int64_t found, std::int64_t wanted, const std::string& unit) {
  return {name, found >= wanted,
          std::to_string(found) + unit + (found >= wanted ? "" : ", wanted are " + std::to_string(wanted) + unit)};
}

/// The number that counts against the assignment's.
std::int64_t own_start(const SlurmdView& slurmd, const Assignment& wanted) {
  return slurmd.node == wanted.node ? slurmd.start : 0;
}

NodeDecision decide_alive(const NodeView& view, const NodeRule& rule, Time now) {
  const Time settled = view.slurmd.since + rule.slurmd.settle;
  NodeDecision decision;
  decision.step = now >= settled ? NodeStep::running : NodeStep::starting;
  if (now < settled) decision.look_again = settled;
  decision.message = "slurmd runs as " + view.slurmd.node.str();
  const std::string bad = view.checks ? failing(*view.checks) : "";
  if (!bad.empty()) decision.message += ", although " + bad;
  return decision;
}

NodeDecision decide_start(const NodeView& view, const NodeRule& rule, Time now) {
  const Assignment& wanted = *view.assignment;
  const SlurmdView& slurmd = view.slurmd;
  NodeDecision decision;
  decision.step = NodeStep::starting;
  const bool is_retry = own_start(slurmd, wanted) >= wanted.slurmd_start;
  if (is_retry && now < slurmd.next_start) {
    if (slurmd.failures >= rule.slurmd.failed_after) decision.step = NodeStep::failed;
    decision.message = "slurmd ended: " + slurmd.last_end + "; it is started again soon";
    decision.look_again = slurmd.next_start;
    return decision;
  }
  if (now - view.checked_at > rule.check_lifetime) {
    decision.message = "checks once more before slurmd starts";
    decision.check_now = true;
    return decision;
  }
  decision.message = "starts slurmd as " + wanted.node.str();
  decision.action = slurmd.alive ? SlurmdAction::restart : SlurmdAction::start;
  return decision;
}

}  // namespace

Duration clock_skew(Time sent, Time received, Time head_time) { return sent + (received - sent) / 2 - head_time; }

std::vector<NodeCheck> judge_checks(const Assignment& wanted, const HeadProof& proof, const MachineFacts& facts,
                                    Duration max_clock_skew) {
  std::vector<NodeCheck> checks;
  checks.push_back({"munge", proof.accepted, proof.text});
  checks.push_back(judge_clock(proof, max_clock_skew));
  checks.push_back(judge_host_name(facts.host_name));
  checks.push_back(judge_at_least("cpus", facts.cpus, wanted.cpus, ""));
  checks.push_back(judge_at_least("memory", facts.memory_mib, wanted.memory_mib, " MiB"));
  std::map<std::string, int> gres;
  for (const GresWant& want : wanted.gres) gres[want.name] += want.count;
  for (const auto& [name, count] : gres) checks.push_back(judge_devices(name, count, facts.devices));
  if (!wanted.runs_slurmd) return checks;
  const bool has_slurmd = facts.slurmd_problem.empty();
  checks.push_back({"slurmd", has_slurmd, has_slurmd ? facts.slurmd_program : facts.slurmd_problem});
  return checks;
}

bool all_good(const std::vector<NodeCheck>& checks) {
  return std::all_of(checks.begin(), checks.end(), [](const NodeCheck& check) { return check.ok; });
}

void note_slurmd_start(SlurmdView& slurmd, const NodeName& node, std::int64_t start, Time now) {
  const bool is_retry = slurmd.node == node && slurmd.start == start;
  if (!is_retry) slurmd.failures = 0;
  slurmd.node = node;
  slurmd.start = start;
  slurmd.since = now;
  slurmd.next_start = no_time;
}

void note_slurmd_end(SlurmdView& slurmd, const SlurmdRule& rule, std::string how, Time now, double random) {
  const bool lasted = slurmd.alive && now - slurmd.since >= rule.lasting;
  slurmd.failures = lasted ? 1 : slurmd.failures + 1;
  slurmd.alive = false;
  slurmd.changing = false;
  slurmd.since = now;
  slurmd.last_end = std::move(how);
  slurmd.next_start = now + backoff_delay(rule.backoff, slurmd.failures, random);
}

NodeDecision decide_node(const NodeView& view, const NodeRule& rule, Time now) {
  const SlurmdView& slurmd = view.slurmd;
  NodeDecision decision;
  if (slurmd.changing) {
    decision.step = NodeStep::starting;
    decision.message = "starts slurmd as " + slurmd.node.str();
    return decision;
  }
  if (!view.assignment || !view.assignment->assigned) {
    // A slurmd that runs is never stopped because musterd does not know, or does not answer.
    if (slurmd.alive) return decide_alive(view, rule, now);
    const std::string& words = view.assignment ? view.assignment->message : "";
    decision.message = words.empty() ? "waits for an assignment" : words;
    return decision;
  }
  const Assignment& wanted = *view.assignment;
  if (slurmd.alive && slurmd.node == wanted.node && slurmd.start >= wanted.slurmd_start) {
    return decide_alive(view, rule, now);
  }
  if (!view.checks) {
    decision.step = NodeStep::checking;
    decision.message = "checks this machine for " + wanted.node.str();
    decision.check_now = true;
    return decision;
  }
  if (!all_good(*view.checks)) {
    const bool patient = view.bad_since == no_time || now - view.bad_since < rule.check_patience;
    decision.step = patient ? NodeStep::checking : NodeStep::failed;
    decision.message = failing(*view.checks);
    if (patient && view.bad_since != no_time) decision.look_again = view.bad_since + rule.check_patience;
    return decision;
  }
  if (wanted.slurmd_start == 0) {
    decision.step = NodeStep::ready;
    decision.message = wanted.runs_slurmd ? "ready, waits for musterd's word to start slurmd as " + wanted.node.str()
                                          : "ready as " + wanted.node.str() + "; runs no jobs";
    return decision;
  }
  return decide_start(view, rule, now);
}

std::int64_t reported_start(const NodeView& view) {
  if (!view.assignment || !view.assignment->assigned) return view.slurmd.start;
  return own_start(view.slurmd, *view.assignment);
}

std::vector<std::string> slurmd_arguments(const Assignment& wanted, const std::string& conf_server,
                                          const std::vector<std::string>& extra) {
  std::vector<std::string> arguments = extra;
  if (wanted.has_line) {
    arguments.insert(arguments.end(), {"-N", wanted.node.str()});
  } else {
    arguments.insert(arguments.end(), {"-Z", "-N", wanted.node.str(), "--conf"});
    arguments.push_back(wanted.node_conf + (wanted.node_conf.empty() ? "" : " ") +
                        "State=DRAIN Reason=muster:unregistered");
  }
  const std::string& server = conf_server.empty() ? wanted.conf_server : conf_server;
  if (!server.empty()) arguments.insert(arguments.end(), {"--conf-server", server});
  return arguments;
}

Result<std::string> systemd_options(const std::vector<std::string>& arguments) {
  std::string options;
  for (const std::string& argument : arguments) {
    if (argument.empty() || argument.find_first_of("\"'\\\n$") != std::string::npos) {
      return reject_error("slurmd's argument \"" + argument + "\" cannot be handed over by systemd: " +
                          "it is empty or has a quote, a backslash, a dollar sign or a new line");
    }
    if (!options.empty()) options += ' ';
    options += argument.find_first_of(" \t;") == std::string::npos ? argument : '"' + argument + '"';
  }
  return options;
}

}  // namespace muster::logic
