// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/head_role.hpp"

#include <algorithm>
#include <cctype>

namespace muster::logic {
namespace {

/// Two hosts that each believe that they are the one (they have the same name, say) would take the ledger from each
/// other in every pass.
constexpr Duration rest_after_loss = std::chrono::seconds{10};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string without_domain(const std::string& name) { return name.substr(0, name.find('.')); }

bool is_same_name(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  const bool both_long = a.find('.') != std::string::npos && b.find('.') != std::string::npos;
  return both_long ? lower(a) == lower(b) : lower(without_domain(a)) == lower(without_domain(b));
}

bool is_self(const Controller& controller, const HostNames& self) {
  for (const std::string& known_as : {controller.host, controller.address}) {
    if (is_same_name(known_as, self.name) || self.addresses.count(known_as) > 0) return true;
  }
  return false;
}

/// Why we may not take back what we have lost; empty if we may.
std::string must_rest(const RoleFacts& facts) {
  if (facts.lost_at != no_time && facts.now - facts.lost_at < rest_after_loss)
    return "another musterd has just taken the ledger over";
  // Slurm asks the controllers in their order, so an earlier one that took over is alive. If it does not answer us, it
  // is this host that is cut off, together with a slurmctld that does not know it.
  for (const Controller& controller : facts.controllers) {
    if (is_self(controller, facts.self)) break;
    if (is_same_name(controller.host, facts.lost_to))
      return "musterd on " + facts.lost_to + " took the ledger over and slurmctld there has not answered since; is " +
             facts.self.name + " cut off?";
  }
  return "";
}

std::string hosts_text(const std::vector<Controller>& controllers) {
  std::string text;
  for (const Controller& controller : controllers) text += (text.empty() ? "" : ", ") + controller.host;
  return text;
}

}  // namespace

DutyDecision decide_duty(const RoleFacts& facts) {
  DutyDecision decision;
  if (facts.controllers.empty()) {
    decision.trouble = "the controllers of slurm.conf are not known yet";
    return decision;
  }
  if (facts.controllers.size() == 1) {
    decision.duty = Duty::act;
  } else {
    const bool is_among_them =
        std::any_of(facts.controllers.begin(), facts.controllers.end(),
                    [&](const Controller& controller) { return is_self(controller, facts.self); });
    if (!is_among_them) {
      decision.duty = Duty::stand_by;
      decision.trouble = "expected this host, " + facts.self.name +
                         ", to be one of slurm.conf's SlurmctldHost, found " + hosts_text(facts.controllers);
      return decision;
    }
    const auto in_control = std::find_if(facts.controllers.begin(), facts.controllers.end(),
                                         [](const Controller& controller) { return controller.answers; });
    if (in_control == facts.controllers.end() || !facts.slurm_was_read) {
      decision.trouble = "no slurmctld is in control (" + hosts_text(facts.controllers) + ")";
      return decision;
    }
    decision.acting_host = in_control->host;
    decision.duty = is_self(*in_control, facts.self) ? Duty::act : Duty::stand_by;
  }
  if (decision.duty != Duty::act) return decision;
  decision.trouble = must_rest(facts);
  if (!decision.trouble.empty()) {
    decision.duty = Duty::unchanged;
    decision.acting_host.clear();
  }
  return decision;
}

std::string_view role_name(const HeadRole& role) {
  if (role.acts) return "acting";
  return role.is_known ? "standby" : "starting";
}

std::string standby_text(const HeadRole& role) {
  if (role.acts) return "";
  if (!role.is_known) return "musterd on " + role.host + " has just started and does not know yet whether it acts";
  const std::string standby = "musterd on " + role.host + " is on standby";
  if (!role.trouble.empty()) return standby + ": " + role.trouble;
  return standby + "; musterd on " + role.acting_host + " acts";
}

}  // namespace muster::logic
