// SPDX-License-Identifier: GPL-2.0-or-later
//
// The rules of plan.hpp and seen.hpp that others ask too, and their words for people.
#include <algorithm>
#include <array>

#include "logic/gres.hpp"
#include "logic/hostlist.hpp"
#include "logic/plan.hpp"
#include "logic/text_parts.hpp"

namespace muster::logic {
namespace {

/// What noded passes to slurmd -Z, so that a node whose record was lost is born closed (22.05 and 26.05 drop the text).
constexpr std::string_view unregistered_reason = "muster:unregistered";

/// Slurm's own texts, set at a registration it does not like; they say nothing about somebody's will (node_mgr.c). They
/// are compared whole: an admin's reason may begin like one of them.
constexpr std::array<std::string_view, 6> slurm_fault_texts{
    "Low socket*core*thread count", "Low socket*core count", "Low CPUs", "Not responding",
    "Node unexpectedly rebooted",   " : Not responding",
};
/// Those with figures, up to the bracket that closes them.
constexpr std::array<std::string_view, 2> slurm_fault_beginnings{"Low RealMemory (reported:", "Low TmpDisk (reported:"};

bool is_one_slurm_fault(std::string_view text) {
  const bool ends_in_bracket = !text.empty() && text.find(')') == text.size() - 1;
  if (starts_with(text, "gres/"))
    return ends_in_bracket && text.find(" count reported lower than configured (") != std::string_view::npos;
  return std::find(slurm_fault_texts.begin(), slurm_fault_texts.end(), text) != slurm_fault_texts.end() ||
         (ends_in_bracket && std::any_of(slurm_fault_beginnings.begin(), slurm_fault_beginnings.end(),
                                         [&](std::string_view known) { return starts_with(text, known); }));
}

}  // namespace

std::string_view reason_as_set(std::string_view reason) {
  constexpr std::string_view appended = " : Not responding";
  if (reason.size() >= appended.size() && reason.substr(reason.size() - appended.size()) == appended)
    reason.remove_suffix(appended.size());
  return reason;
}

bool is_slurm_fault(std::string_view reason) {
  if (reason.empty()) return false;
  // Several faults stand in one text.
  constexpr std::string_view between = ", ";
  for (;;) {
    const std::size_t end = reason.find(between);
    if (!is_one_slurm_fault(reason.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    reason.remove_prefix(end + between.size());
  }
}

std::string names_text(const std::vector<NodeName>& names) {
  std::vector<std::string> texts;
  texts.reserve(names.size());
  for (const NodeName& name : names) texts.push_back(name.str());
  return compress_names(std::move(texts));
}

std::string gathering_reason(const GroupName& group) { return "muster: group " + group.str() + " gathers"; }

bool is_in_shape(const GroupSpec& spec, const SeenNode& node, std::string* why_not) {
  const auto no = [&](const std::string& why) {
    if (why_not) *why_not = why;
    return false;
  };
  if (!node.is_registered()) return no("Slurm has no registration of it yet");
  if (node.invalid_registration) return no("Slurm rejects its registration: " + node.reason);
  if (node.base == NodeBase::down || node.failing)
    return no("Slurm has it " + node.state_text() + (node.reason.empty() ? "" : ": " + node.reason));
  if (node.not_responding) return no("it does not answer slurmctld's ping at " + node.address);
  if (!node_offers(node.gres, spec.gres))
    return no("Slurm sees GRES \"" + node.gres + "\", wanted is " + gres_text(spec.gres));
  if (node.cpus < spec.cpus) {
    return no("Slurm sees " + std::to_string(node.cpus) + " CPUs, wanted are " + std::to_string(spec.cpus));
  }
  return true;
}

bool is_foreign_drain(const SlotRecord& slot, const SeenNode& node) {
  if (!node.drained && !node.failing && node.base != NodeBase::down) return false;
  const std::string_view reason = reason_as_set(node.reason);
  if (reason.empty() || reason == slot.our_reason || reason == unregistered_reason || is_slurm_fault(reason))
    return false;
  // Killed just after a change, slurmctld comes back with our drain as it was saved before, and with its time. It is
  // told from somebody's by the time alone where the node was not opened yet; ever after by the ledger's text, too.
  const bool is_old = node.reason_time != no_time && node.reason_time <= std::max(slot.state_since, slot.wish_since);
  const bool is_like_ours = slot.state != SlotState::in_service && starts_with(reason, "muster: ");
  if (is_old && (is_like_ours || reason == slot.lifted_reason)) return false;
  // An open node keeps the text of our last drain (24.11); when Slurm then finds it DOWN, nobody has drained it.
  return node.drained || node.failing || !starts_with(reason, "muster: ");
}

int ready_count(const GroupRecord& group) {
  return static_cast<int>(std::count_if(group.slots.begin(), group.slots.end(), [](const SlotRecord& slot) {
    return (slot.state == SlotState::ready || slot.state == SlotState::in_service) && slot.wish == Wish::keep &&
           slot.foreign_reason.empty();
  }));
}

bool may_have_machines(const GroupRecord& group) { return group.launches > 0 && !group.deleted; }

int open_count(const GroupRecord& group) {
  return static_cast<int>(std::count_if(group.slots.begin(), group.slots.end(), [](const SlotRecord& slot) {
    return slot.state == SlotState::in_service && slot.wish == Wish::keep && slot.foreign_reason.empty();
  }));
}

std::string SeenNode::state_text() const {
  std::string text = base_text.empty() ? "UNKNOWN" : base_text;
  if (drained) text += "+DRAIN";
  if (not_responding) text += "+NOT_RESPONDING";
  if (invalid_registration) text += "+INVALID_REG";
  if (completing) text += "+COMPLETING";
  if (failing) text += "+FAIL";
  return text;
}

std::string describe(const Action& action) {
  struct Describe {
    static std::string nodes(const std::vector<NodeName>& names) { return names_text(names); }
    std::string operator()(const CreateRecords& a) const {
      return "make records " + nodes(a.names) + " (State=FUTURE " + a.line + ")";
    }
    std::string operator()(const DeleteRecords& a) const { return "delete records " + nodes(a.names); }
    std::string operator()(const DrainNodes& a) const { return "drain " + nodes(a.names) + " (\"" + a.reason + "\")"; }
    std::string operator()(const UndrainNodes& a) const { return "open " + nodes(a.names) + " to jobs"; }
    std::string operator()(const ResumeNodes& a) const { return "resume " + nodes(a.names); }
    std::string operator()(const ReturnToFuture& a) const { return "hide " + nodes(a.names) + " (State=FUTURE)"; }
    std::string operator()(const SetAddresses& a) const { return "set the addresses of " + nodes(a.names); }
    std::string operator()(const LaunchMachine& a) const {
      return "launch a machine for " + a.name.str() + " (attempt " + std::to_string(a.attempt) +
             (a.instance_type.empty() ? "" : ", " + a.instance_type) + ")";
    }
    std::string operator()(const RebootMachine& a) const {
      return "reboot machine " + a.instance.str() + " of " + a.name.str();
    }
    std::string operator()(const TerminateMachine& a) const {
      return "end machine " + a.instance.str() + " of " + a.name.str();
    }
    std::string operator()(const WriteNodeFile& a) const {
      return "write the include file of slurm.conf, " +
             std::to_string(std::count(a.text.begin(), a.text.end(), '\n') - 1) + " node(s)";
    }
    std::string operator()(const ReconfigureSlurm&) const { return "tell slurmctld to read its files again"; }
    std::string operator()(const ReleaseJobs& a) const {
      return "release " + std::to_string(a.jobs.size()) + " held job(s)";
    }
  };
  return std::visit(Describe{}, action);
}

}  // namespace muster::logic
