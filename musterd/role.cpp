// SPDX-License-Identifier: GPL-2.0-or-later
#include "musterd/role.hpp"

#include "sys/clock.hpp"
#include "sys/service_link.hpp"

namespace muster::musterd {

using logic::Duty;
using sys::log;
using sys::log_throttled;
using sys::LogLevel;

Role::Role(LedgerStore& store, logic::HostNames self) : store_(store), self_(std::move(self)) {
  view_.host = self_.name;
}

Role::Change Role::settle(const std::vector<logic::Controller>& controllers, bool slurm_was_read) {
  const logic::Time now = sys::now();
  view_.is_known = true;
  if (acts()) static_cast<void>(store_.confirm_ours());
  if (acts() && store_.successor()) {
    lost_at_ = now;
    lost_to_ = view_.acting_host = store_.successor()->host;
    return stand_by("musterd on " + view_.acting_host + " has taken the ledger over");
  }
  const logic::DutyDecision decision =
      logic::decide_duty({controllers, self_, slurm_was_read, lost_at_, lost_to_, now});
  if (decision.duty == Duty::stand_by) lost_to_.clear();
  if (!decision.acting_host.empty()) view_.acting_host = decision.acting_host;
  view_.trouble = acts() ? "" : decision.trouble;
  if (decision.duty != Duty::unchanged) is_due_ = decision.duty == Duty::act;
  if (decision.duty == Duty::stand_by && acts())
    return stand_by("slurmctld on " + view_.acting_host + " is in control");
  if (decision.duty != Duty::act || acts()) {
    say_standby();
    return Change::none;
  }
  auto before = store_.take_over(self_.name, now);
  if (!before) {
    give_up(before.error().message);
    return Change::none;
  }
  predecessor_ = *std::move(before);
  lost_to_.clear();
  view_.acts = true;
  view_.acting_host = self_.name;
  view_.trouble.clear();
  said_.clear();
  log(LogLevel::notice, "acting", {{"host", self_.name}, {"before", predecessor_.host}});
  sys::notify_status("acting");
  return Change::acts;
}

Role::Change Role::stand_by(const std::string& why) {
  view_.acts = false;
  is_due_ = false;
  view_.trouble.clear();
  store_.let_go();
  log(LogLevel::warning, "stands_by", {{"why", why}});
  return Change::stands_by;
}

/// Once, and again when it has become another sentence.
void Role::say_standby() {
  std::string text = logic::standby_text(view_);
  if (text == said_) return;
  said_ = std::move(text);
  if (said_.empty()) return;
  log(LogLevel::notice, "standby", {{"text", said_}});
  sys::notify_status(said_);
}

void Role::give_up(const std::string& trouble) {
  view_.acts = false;
  view_.trouble = "the ledger cannot be taken over: " + trouble;
  store_.let_go();
  log_throttled(LogLevel::err, "ledger_take_over", "ledger_take_over", view_.trouble);
}

}  // namespace muster::musterd
