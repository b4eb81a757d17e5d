// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulator/machine.hpp"

#include <algorithm>

#include "logic/backoff.hpp"

namespace muster::simulator {

using logic::Duration;
using logic::NodeDecision;
using logic::SlurmdAction;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

const logic::BackoffRule trouble_rule{milliseconds{500}, 2.0, seconds{30}, 0.3};
const logic::BackoffRule idle_rule{milliseconds{100}, 2.0, seconds{10}, 0.3};
constexpr Spread check_time{milliseconds{300}, seconds{3}};
constexpr Spread slurmd_start_time{milliseconds{500}, seconds{3}};
constexpr Spread registration_retry{seconds{1}, seconds{10}};

}  // namespace

Machine::Machine(Origin origin, const logic::GroupSpec& shape, Surroundings around)
    : origin_(std::move(origin)), shape_(shape), around_(around) {}

Duration Machine::pick(const Spread& spread, const char* what) {
  return around_.chance.duration(spread, origin_.token.str() + what, picks_++);
}

void Machine::later(Duration delay, std::function<void()> happening) {
  around_.clock.after(delay, [this, boot = boots_, happening = std::move(happening)] {
    if (exists_ && boots_ == boot) happening();
  });
}

void Machine::boot() {
  tell_slurm(false);
  stop_listening();
  ++boots_;
  is_up_ = checking_ = false;
  view_ = logic::NodeView{};
  told_.reset();
  report_ = logic::NodeReport{};
  if (origin_.faults.never_boots) return;
  later(pick(origin_.boot_time, "boot"), [this] { begin_noded(); });
}

void Machine::end() {
  tell_slurm(false);
  stop_listening();
  exists_ = false;
  ended_at_ = around_.clock.now();
  // A machine stays known for ever, its content need not.
  view_ = logic::NodeView{};
  told_.reset();
  report_ = logic::NodeReport{};
}

void Machine::begin_noded() {
  is_up_ = true;
  failed_syncs_ = 0;
  report_.instance = origin_.id;
  report_.boot_id = "boot-" + origin_.id.str() + "-" + std::to_string(boots_);
  report_.host_name = origin_.id.str();
  report_.address = origin_.address;
  report_.cpus = shape_.cpus;
  report_.memory_mib = shape_.memory_mib;
  look();
  sync();
}

// ---- Talking with musterd ----

void Machine::stop_listening() {
  last_contact_ = last_contact();
  listening_ = false;
  ++sync_number_;
}

void Machine::sync() {
  stop_listening();
  if (!is_up_) return;
  std::optional<logic::Assignment> answer;
  if (!is_cut_off_) answer = around_.head.sync(report_);
  if (!answer) {
    ++failed_syncs_;
    return sync_after(backoff_delay(trouble_rule, failed_syncs_, around_.chance.number(origin_.token.str(), picks_++)));
  }
  last_contact_ = around_.clock.now();
  told_ = report_;
  const bool is_news = !view_.assignment || view_.assignment->generation != answer->generation;
  failed_syncs_ = is_news ? 0 : failed_syncs_ + 1;
  if (view_.assignment && view_.assignment->node != answer->node) view_.checks.reset();
  view_.assignment = std::move(answer);
  if (view_.assignment->assigned) {
    listening_ = true;
    failed_syncs_ = 0;
  } else {
    sync_after(backoff_delay(idle_rule, failed_syncs_ + 1, around_.chance.number(origin_.token.str(), picks_++)));
  }
  look();
}

void Machine::sync_after(Duration delay) {
  later(delay, [this, number = sync_number_] {
    if (number == sync_number_) sync();
  });
}

void Machine::wake() {
  if (is_listening()) sync();
}

void Machine::wake_when_head_is_back() {
  if (!is_listening()) return;
  stop_listening();
  failed_syncs_ = 1;
  sync_after(pick({milliseconds{350}, milliseconds{500}}, "retry"));
}

void Machine::cut_off(bool yes) {
  if (is_cut_off_ == yes) return;
  stop_listening();
  is_cut_off_ = yes;
  tell_slurm(!yes);
  if (!is_up_) return;
  failed_syncs_ = 1;
  sync_after(pick({milliseconds{350}, milliseconds{500}}, "retry"));
}

// ---- noded's steps ----

void Machine::look_at(logic::Time time) {
  const Duration delay = std::max(Duration{0}, time - around_.clock.now()) + milliseconds{1};
  later(delay, [this, number = look_number_] {
    if (number == look_number_) look();
  });
}

void Machine::look() {
  if (!is_up_) return;
  ++look_number_;
  const logic::NodeRule rule;
  NodeDecision decision = decide_node(view_, rule, around_.clock.now());
  if (decision.check_now && !checking_) {
    checking_ = true;
    later(pick(check_time, "check"), [this] { end_checks(); });
  }
  if (decision.action != SlurmdAction::none) {
    start_slurmd();
    decision.step = logic::NodeStep::starting;
  }
  if (decision.look_again != logic::no_time) look_at(decision.look_again);
  report_.step = decision.step;
  report_.message = std::move(decision.message);
  report_.checks = view_.checks.value_or(std::vector<logic::NodeCheck>{});
  report_.slurmd_start = reported_start(view_);
  report_.slurmd_alive = view_.slurmd.alive;
  if (told_ && listening_ && is_news(*told_, report_)) {
    // A request more, which is answered with the assignment as it is.
    told_ = report_;
    later(Duration{0}, [this] { sync(); });
  }
}

void Machine::end_checks() {
  checking_ = false;
  if (!view_.assignment || !view_.assignment->assigned) return look();
  logic::HeadProof proof;
  proof.accepted = true;
  proof.text = "accepted by the head";
  proof.skew = milliseconds{2};
  logic::MachineFacts facts;
  facts.host_name = report_.host_name;
  facts.cpus = shape_.cpus;
  facts.memory_mib = shape_.memory_mib;
  facts.slurmd_program = "/usr/sbin/slurmd";
  for (const logic::GresWant& want : shape_.gres) {
    const int found = origin_.faults.lacks_devices ? 0 : want.count;
    facts.devices.push_back({want.name, "/dev/" + want.name + "[0-9]*", found, found});
  }
  view_.checks = judge_checks(*view_.assignment, proof, facts, seconds{5});
  view_.checked_at = around_.clock.now();
  if (all_good(*view_.checks)) {
    view_.bad_since = logic::no_time;
  } else {
    if (view_.bad_since == logic::no_time) view_.bad_since = around_.clock.now();
    later(seconds{30}, [this] { end_checks(); });
  }
  look();
}

// ---- slurmd ----

void Machine::start_slurmd() {
  const std::int64_t start = view_.assignment->slurmd_start;
  if (view_.slurmd.alive) tell_slurm(false);
  view_.slurmd.alive = false;
  note_slurmd_start(view_.slurmd, view_.assignment->node, start, around_.clock.now());
  view_.slurmd.changing = true;
  later(pick(slurmd_start_time, "slurmd"), [this, start] { slurmd_started(start); });
}

void Machine::slurmd_started(std::int64_t start) {
  if (view_.slurmd.start != start) return;
  if (origin_.faults.slurmd_ends) {
    note_slurmd_end(view_.slurmd, logic::SlurmdRule{}, "exit status 1 after 0.2 s", around_.clock.now(),
                    around_.chance.number(origin_.token.str(), picks_++));
    return look();
  }
  view_.slurmd.changing = false;
  view_.slurmd.alive = true;
  view_.slurmd.since = around_.clock.now();
  slurmd_registers();
  look();
}

void Machine::slurmd_registers() {
  if (!view_.slurmd.alive) return;
  // slurmd asks for its configuration first, and tries until somebody answers; whether what it says then is kept by a
  // slurmctld that restarts is another matter.
  if (is_cut_off_ || around_.slurm.is_away())
    return later(pick(registration_retry, "register"), [this] { slurmd_registers(); });
  Registration registration;
  registration.name = view_.slurmd.node;
  registration.machine = origin_.id;
  registration.address = origin_.address;
  registration.cpus = shape_.cpus;
  registration.memory_mib = shape_.memory_mib;
  registration.gres = gres_text(shape_.gres);
  registration.features = feature_text(shape_);
  registration.has_devices = !origin_.faults.is_rejected;
  around_.slurm.register_node(registration);
}

void Machine::tell_slurm(bool answers) {
  if (view_.slurmd.node.empty()) return;
  around_.slurm.note_reachable(view_.slurmd.node, origin_.id,
                               answers && exists_ && is_up_ && !is_cut_off_ && view_.slurmd.alive);
}

}  // namespace muster::simulator
