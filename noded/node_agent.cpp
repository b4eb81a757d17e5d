// SPDX-License-Identifier: GPL-2.0-or-later
#include "noded/node_agent.hpp"

#include <utility>

#include "logic/field_reader.hpp"
#include "noded/machine.hpp"
#include "sys/clock.hpp"
#include "sys/service_link.hpp"

namespace muster::noded {
namespace {

using logic::Assignment;
using logic::Done;
using logic::Duration;
using logic::NodeStep;
using logic::SlurmdAction;
using logic::Status;
using std::chrono::milliseconds;
using std::chrono::seconds;
using sys::log;
using sys::LogLevel;

constexpr Duration between_samples{milliseconds{300}};
constexpr Duration calm_interval{seconds{30}};  ///< checks while all is well
const logic::BackoffRule identity_rule{seconds{1}, 1.5, seconds{10}, 0.3};

bool same_wants(const Assignment& a, const Assignment& b) {
  return a.assigned == b.assigned && a.node == b.node && a.node_conf == b.node_conf && a.gres == b.gres &&
         a.runs_slurmd == b.runs_slurmd && a.has_line == b.has_line && a.cpus == b.cpus && a.memory_mib == b.memory_mib;
}

}  // namespace

NodeAgent::NodeAgent(sys::EventLoop& loop, NodeConfig config, StateFile state)
    : loop_(loop),
      config_(std::move(config)),
      keeper_(
          loop, config_, std::move(state), boot_id(), logic::SlurmdRule{}, [this] { return random(); },
          [this] { look_soon(); }),
      identity_backoff_(identity_rule) {
  report_.boot_id = boot_id();
}

Status NodeAgent::begin() {
  if (auto adopted = keeper_.adopt(); !adopted) return adopted.error();
  look();
  identify();
  return Done{};
}

void NodeAgent::use_config(NodeConfig config) {
  if (config.state_directory != config_.state_directory) {
    log(LogLevel::warning, "reload", {{"state_directory", "changes only with a restart"}});
    config.state_directory = config_.state_directory;
  }
  config_ = std::move(config);
  keeper_.use_config(config_);
  link_.reset();
  told_.reset();
  identify();
}

logic::NodeRule NodeAgent::rule() const {
  logic::NodeRule rule;
  rule.check_patience = config_.check_patience;
  return rule;
}

void NodeAgent::identify() {
  const auto id = find_instance_id(config_);
  if (!id) {
    // A provider may write the file while we are already here.
    const Duration delay = identity_backoff_.failed(random());
    sys::log_throttled(LogLevel::warning, "identity", "identity", id.error().message);
    sys::notify_status("waiting to learn who this machine is: " + id.error().message + ", retry " +
                       std::to_string(identity_backoff_.failures()) + " in " + logic::duration_text(delay));
    identity_timer_ = loop_.after(delay, [this] { identify(); });
    return;
  }
  identity_backoff_.reset();
  report_.instance = logic::InstanceId{*id};
  report_.node_name = config_.node_name;
  report_.address = config_.address;
  log(LogLevel::info, "identity", {{"instance", *id}});
  if (auto connected = connect(); !connected)
    log(LogLevel::err, "musterd_link", {{"result", connected.error().message}});
}

Status NodeAgent::connect() {
  HeadLink::Owner owner;
  owner.body = [this](std::int64_t generation, Duration wait) {
    told_ = report_;
    return report_body(report_, generation, wait, sys::now());
  };
  owner.assigned = [this](const Assignment& assignment) { take_assignment(assignment); };
  owner.changed = [this] { look_soon(); };
  owner.random = [this] { return random(); };
  auto link = HeadLink::create(loop_, config_, std::move(owner));
  if (!link) return link.error();
  link_ = std::move(*link);
  look();
  link_->begin();
  return Done{};
}

void NodeAgent::take_assignment(const Assignment& assignment) {
  const bool is_other = !view_.assignment || !same_wants(*view_.assignment, assignment);
  const bool is_news = !view_.assignment || view_.assignment->generation != assignment.generation;
  view_.assignment = assignment;
  if (is_other) {
    view_.checks.reset();
    view_.bad_since = logic::no_time;
  }
  if (!is_news) return;
  log(LogLevel::notice, "assignment",
      {{"generation", std::to_string(assignment.generation)},
       {"node", assignment.assigned ? assignment.node.str() : "none"},
       {"group", assignment.group.str()},
       {"start", std::to_string(assignment.slurmd_start)},
       {"text", assignment.message}});
}

void NodeAgent::look_soon() {
  if (!look_now_) look_now_ = loop_.after(Duration{0}, [this] { look(); });
}

void NodeAgent::look() {
  look_now_.reset();
  look_timer_.reset();
  view_.slurmd = keeper_.view();
  const logic::Time now = sys::now();
  const logic::NodeDecision decision = decide_node(view_, rule(), now);
  if (decision.look_again != logic::no_time) {
    look_timer_ = loop_.after(decision.look_again - now + milliseconds{1}, [this] { look(); });
  }
  act(decision);
  report(decision);
  show_status();
}

void NodeAgent::act(const logic::NodeDecision& decision) {
  if (decision.check_now) begin_checks();
  if (decision.action != SlurmdAction::none) {
    keeper_.start(*view_.assignment);
    view_.slurmd = keeper_.view();
  }
}

void NodeAgent::report(const logic::NodeDecision& decision) {
  if (report_.step != decision.step) {
    log(decision.step == NodeStep::failed ? LogLevel::warning : LogLevel::notice, "node_step",
        {{"from", std::string(step_name(report_.step))},
         {"to", std::string(step_name(decision.step))},
         {"text", decision.message}});
  }
  report_.step = decision.step;
  report_.message = decision.message;
  report_.checks = view_.checks.value_or(std::vector<logic::NodeCheck>{});
  report_.slurmd_start = reported_start(view_);
  report_.slurmd_alive = view_.slurmd.alive;
  const logic::MachineFacts facts = look_at_machine(config_, {});
  report_.host_name = facts.host_name;
  report_.cpus = facts.cpus;
  report_.memory_mib = facts.memory_mib;
  if (link_ && told_ && is_news(*told_, report_)) link_->tell_news();
}

void NodeAgent::show_status() {
  if (!link_) return;
  std::string status = link_->waiting();
  if (status.empty()) {
    status = std::string(step_name(report_.step)) + ": " + report_.message;
  } else if (report_.slurmd_alive) {
    status += " (" + report_.message + ")";
  }
  if (status == status_) return;
  status_ = status;
  sys::notify_status(status_);
}

void NodeAgent::begin_checks() {
  if (checking_ || !view_.assignment || !view_.assignment->assigned) return;
  checking_ = true;
  check_timer_.reset();
  facts_ = look_at_machine(config_, *view_.assignment);
  // One sample is enough where nothing is counted.
  sample_timer_ = loop_.after(facts_.devices.empty() ? Duration{0} : between_samples, [this] { end_checks(); });
}

void NodeAgent::end_checks() {
  checking_ = false;
  if (!view_.assignment || !view_.assignment->assigned || !link_) return;
  const logic::Time now = sys::now();
  count_devices_again(facts_);
  view_.checks = judge_checks(*view_.assignment, link_->proof(), facts_, config_.max_clock_skew);
  view_.checked_at = now;
  const bool good = all_good(*view_.checks);
  if (good) {
    view_.bad_since = logic::no_time;
  } else if (view_.bad_since == logic::no_time) {
    view_.bad_since = now;
  }
  for (const logic::NodeCheck& check : *view_.checks) {
    if (!check.ok) sys::log_throttled(LogLevel::warning, "check_failed", check.name, check.name + ": " + check.text);
  }
  keeper_.trim_output();
  check_timer_ = loop_.after(good ? calm_interval : config_.check_interval, [this] { begin_checks(); });
  look();
}

}  // namespace muster::noded
