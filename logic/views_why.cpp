// SPDX-License-Identifier: GPL-2.0-or-later
//
// muster why: what a group, a node or a job waits for, since when, until when, and what happens then.
#include <algorithm>
#include <charconv>
#include <map>

#include "logic/field_reader.hpp"
#include "logic/head_role.hpp"
#include "logic/launch_trouble.hpp"
#include "logic/release.hpp"
#include "logic/text_layout.hpp"
#include "logic/view_parts.hpp"
#include "logic/views.hpp"

namespace muster::logic {
namespace {

/// More of one group's nodes than that make no answer of one screen.
constexpr std::size_t node_lines_at_most = 20;
constexpr std::size_t longest_label = 20;

class WhyLines {
 public:
  WhyLines(std::string kind, std::string title)
      : view_(Value::map({{"Kind", std::move(kind)}, {"Title", std::move(title)}})) {}
  void add(std::string label, std::string text) {
    if (!text.empty()) lines_.push(Value::map({{"Label", std::move(label)}, {"Text", std::move(text)}}));
  }
  /// One text about several nodes.
  void add_nodes(const std::vector<NodeName>& names, const std::string& text) {
    std::string label = names_text(names);
    if (label.size() <= longest_label) return add(std::move(label), text);
    add(plural(static_cast<std::int64_t>(names.size()), "node"), label + ": " + text);
  }
  Value view() && {
    view_.set("Lines", std::move(lines_));
    return std::move(view_);
  }

 private:
  Value view_;
  Value lines_ = Value::list();
};

std::string counts_text(const GroupRecord& group) {
  return "target " + std::to_string(group.counts.target) + ", MinCount " + std::to_string(group.counts.min);
}

/// "16 counted, 15 usable" where the two differ, else "16 ready".
std::string ready_text(const HeadState& state, const GroupSpec& spec, const GroupRecord& group, Time now) {
  const int ready = ready_count(group);
  const int usable = usable_count(state, spec, group, now);
  if (usable == ready) return std::to_string(ready) + " ready, " + counts_text(group);
  return std::to_string(ready) + " counted, " + std::to_string(usable) + " usable, " + counts_text(group);
}

std::string gathering_text(const GroupRecord& group) {
  const std::string missing = plural(std::max(0, group.counts.min - ready_count(group)), "more ready node");
  switch (group.gathering) {
    case Gathering::no: return "";
    case Gathering::creating: return missing + "; no job can run on its nodes before that";
    case Gathering::updating:
      return missing + ", since MinCount was raised; its open nodes go on taking jobs, new ones stay closed until then";
    case Gathering::floor:
      return "MinCount (" + std::to_string(group.counts.min) +
             ") usable nodes again (gate: floor); what runs goes on, no new job starts before that";
  }
  return "";
}

std::string rolled_back_text(const GroupRecord& group) {
  if (group.rolled_back.empty()) return "";
  return group.rolled_back + "; it has " + counts_text(group) + " since. muster scale or muster apply tries again";
}

void add_gathering(WhyLines& why, const GroupSpec& spec, const GroupRecord& group, Time now) {
  if (group.gathering == Gathering::no) return;
  why.add("Waits for", gathering_text(group));
  if (const auto estimate = estimated_open(group, now))
    why.add("Estimate", "opens in about " + duration_text(*estimate - now) + ", at the present rate");
  if (const std::string then = deadline_action(group); !then.empty()) {
    why.add("Deadline", group.deadline > now ? "in " + duration_text(group.deadline - now)
                                             : duration_text(now - group.deadline) + " ago");
    why.add("Then", then);
  }
  if (const auto bound = idle_bound(spec, group, now)) {
    why.add("Cost", rough_hours(bound->spent) + " of " + rough_hours(bound->limit) +
                        " node hours (max_idle_node_hours) are spent on machines that wait" +
                        (bound->reached_at == no_time
                             ? std::string()
                             : "; all of them in " + duration_text(bound->reached_at - now) + ", then the same"));
  }
}

void add_troubles(WhyLines& why, const GroupRecord& group, Time now) {
  for (const auto& [type, trouble] : group.troubles) {
    if (holds_up_the_type(trouble)) why.add("Trouble", trouble_text(type, trouble) + "; " + trouble_next(trouble, now));
  }
}

void add_nodes(WhyLines& why, const HeadState& state, const GroupSpec& spec, const GroupRecord& group, Time now) {
  const SlotWords words(state, now);
  std::map<std::string, std::vector<NodeName>> by_text;
  std::vector<std::string> order;
  for (const SlotRecord& slot : group.slots) {
    const auto unusable = find_unusable(state, spec, slot, now);
    const bool is_well =
        slot.state == SlotState::in_service && slot.foreign_reason.empty() && slot.wish == Wish::keep && !unusable;
    if (is_well) continue;
    std::string text = words.message(spec, group, slot);
    if (unusable) {
      text = "counted, but not usable: " + unusable->why +
             (unusable->since == no_time ? "" : ", for " + duration_text(now - unusable->since));
    }
    auto& names = by_text[text];
    if (names.empty()) order.push_back(text);
    names.push_back(slot.name);
  }
  std::size_t lines = 0;
  std::size_t left_out = 0;
  for (const std::string& text : order) {
    if (++lines <= node_lines_at_most) {
      why.add_nodes(by_text[text], text);
    } else {
      left_out += by_text[text].size();
    }
  }
  if (left_out > 0) {
    why.add("And", plural(static_cast<std::int64_t>(left_out), "more node") + ": muster nodes " + spec.name.str());
  }
}

Value why_group(const HeadState& state, const GroupSpec& spec, const GroupRecord& group, Time now) {
  WhyLines why("Group", "group " + spec.name.str() +
                            (spec.joins_slurm() ? "" : " (" + std::string(node_type_name(spec.node_type)) + " nodes)"));
  why.add("Status", std::string(group_status_name(group.status)) + ": " + group.status_reason);
  why.add("Rolled back", rolled_back_text(group));
  if (!group.deleting.empty()) why.add("Deleting", "asked for by " + group.deleting);
  why.add("Nodes", ready_text(state, spec, group, now));
  if (group.gate_open && group.gate_opened_at != no_time)
    why.add("Open since", duration_text(now - group.gate_opened_at) + " ago");
  if (group.deleting.empty() && !may_launch(*state.spec, state.ledger, spec))
    why.add("Order", "its machines are launched when a controller is there");
  add_gathering(why, spec, group, now);
  add_troubles(why, group, now);
  if (!state.slurm_is_up) why.add("Slurm", "slurmctld does not answer: " + state.slurm_trouble);
  why.add("Role", standby_text(state.role));
  if (spec.registration == Registration::slurm_conf) why.add("slurm.conf", state.ledger.cluster.node_file_needs);
  if (!state.store_trouble.empty()) why.add("Ledger", "nothing new is done: " + state.store_trouble);
  add_nodes(why, state, spec, group, now);
  return std::move(why).view();
}

/// What happens when the slot's deadline passes.
std::string deadline_text(const SlotRecord& slot, Time now) {
  if (slot.deadline == no_time) return "";
  const std::string when = slot.deadline > now ? "in " + duration_text(slot.deadline - now) : "now";
  if (!slot.foreign_reason.empty()) return when + "; but while somebody else's drain stands its machine is left alone";
  return when + "; then the machine is ended and replaced";
}

Value why_node(const HeadState& state, const GroupSpec& spec, const GroupRecord& group, const SlotRecord& slot,
               Time now) {
  const SlotWords words(state, now);
  WhyLines why("Node", "node " + slot.name.str());
  why.add("Now", words.message(spec, group, slot));
  why.add("Since", duration_text(now - slot.state_since) + " ago");
  why.add("Until", deadline_text(slot, now));
  if (is_leaving(slot)) {
    why.add("Wish", "to be " + std::string(done_word(slot.wish)) + ", " + slot.wish_reason + ", " +
                        duration_text(now - slot.wish_since) + " ago");
  }
  if (const int jobs = words.jobs_on(slot.name); jobs > 0) why.add("Jobs", plural(jobs, "job") + " on it");
  why.add("Group", spec.name.str() + ", " + std::string(group_status_name(group.status)) +
                       (group.rolled_back.empty() ? "" : ", rolled back"));
  if (!slot.instance.empty()) {
    why.add("Machine", slot.instance.str() + (slot.instance_type.empty() ? "" : " (" + slot.instance_type + ")") +
                           (slot.address.empty() ? "" : " at " + slot.address) + ", attempt " +
                           std::to_string(slot.attempt));
  }
  if (!spec.joins_slurm()) {
    why.add("Slurm",
            std::string("has no record of it: ") + std::string(node_type_name(spec.node_type)) + " nodes run no jobs");
  } else if (const SeenNode* node = find_seen(state, slot.name)) {
    why.add("Slurm", node->state_text() + (node->reason.empty() ? "" : " (" + node->reason + ")"));
  } else {
    why.add("Slurm", state.nodes ? "has no record of it" : "has not been read yet");
  }
  if (const auto unusable = find_unusable(state, spec, slot, now)) {
    why.add("Not usable", "it counts as ready, but: " + unusable->why +
                              (unusable->since == no_time ? "" : ", for " + duration_text(now - unusable->since)));
  }
  if (!slot.foreign_reason.empty())
    why.add("Drained", "by somebody else: \"" + slot.foreign_reason + "\"; muster leaves it alone");
  if (!slot.refused_action.empty()) {
    why.add("Action",
            "the reason \"" + slot.refused_action + "\" was not understood: expected Action:Replace or Action:Reboot");
  }
  if (const auto silence = silent_for(state, slot, now))
    why.add("Noded", "SILENT for " + duration_text(*silence) + "; what follows is as old");
  for (const NodeCheck& check : slot.checks)
    why.add("Check " + check.name, (check.ok ? "good: " : "BAD: ") + check.text);
  if (!slot.last_problem.empty()) {
    why.add("Last problem", slot.last_problem + " (" + duration_text(now - slot.last_problem_at) + " ago" +
                                (slot.failures > 0 ? ", " + plural(slot.failures, "failure") + " in a row" : "") + ")");
  }
  return std::move(why).view();
}

void add_waiting(WhyLines& why, const HeadState& state, const SeenJob& job, Time now) {
  const HoldDecision decision = decide_hold(present_gate_table(state, now), request_of(job), now);
  if (is_held_by_us(job, state.ledger)) {
    why.add("Held", decision.verdict == HoldDecision::Verdict::admit
                        ? "its nodes are open; it is released with the next pass"
                        : waits_until(decision));
    const auto ahead = std::count_if(state.jobs.begin(), state.jobs.end(), [&](const SeenJob& other) {
      return is_held_by_us(other, state.ledger) && other.id < job.id;
    });
    if (ahead > 0) why.add("Before it", plural(ahead, "held job"));
  } else if (decision.verdict != HoldDecision::Verdict::admit) {
    why.add("Waits", "in Slurm's queue, not held by muster; cannot start " + waits_until(decision));
  } else {
    why.add("Waits", "in Slurm's queue for Slurm's own reasons; muster does not hold it");
  }
  const auto wanted = split_partitions(job.partition);
  for (const GroupSpec& spec : state.spec->groups) {
    const GroupRecord* group = find_record(state, spec.name);
    if (!group || std::find(wanted.begin(), wanted.end(), spec.partition) == wanted.end()) continue;
    why.add("Group " + spec.name.str(),
            std::string(group_status_name(group->status)) + ", " + ready_text(state, spec, *group, now));
    why.add("Rolled back", rolled_back_text(*group));
    if (!group->deleting.empty()) why.add("Deleting", "the group is being deleted, asked for by " + group->deleting);
    add_gathering(why, spec, *group, now);
    add_troubles(why, *group, now);
  }
}

/// Nodes under a running job that are to go when it has ended.
void add_leaving(WhyLines& why, const HeadState& state, const SeenJob& job, Time now) {
  for (const auto& [name, group] : state.ledger.groups) {
    for (const SlotRecord& slot : group.slots) {
      if (!is_leaving(slot) || std::find(job.nodes.begin(), job.nodes.end(), slot.name) == job.nodes.end()) continue;
      why.add(
          slot.name.str(),
          "is to be " + std::string(done_word(slot.wish)) + " (" + slot.wish_reason + ") when the job has ended" +
              (slot.drain_deadline > now ? "; the job is ended with it in " + duration_text(slot.drain_deadline - now)
                                         : ""));
    }
  }
}

Value why_job(const HeadState& state, const SeenJob& job, Time now) {
  WhyLines why("Job", "job " + std::to_string(job.id));
  why.add("Partition", job.partition);
  const bool is_pending = job.state == "PENDING";
  why.add("State",
          job.state + (job.reason.empty() || job.reason == "None" ? "" : " (" + job.reason + ")") +
              (is_pending && job.submitted_at != no_time ? ", for " + duration_text(now - job.submitted_at) : ""));
  if (job.min_nodes)
    why.add("Asks for", plural(*job.min_nodes, "node") + (job.gres.empty() ? "" : " with " + job.gres) +
                            (job.features.empty() ? "" : ", constraint " + job.features));
  if (state.spec && state.nodes && is_pending) add_waiting(why, state, job, now);
  if (!is_pending) add_leaving(why, state, job, now);
  return std::move(why).view();
}

}  // namespace

Result<Value> why_view(const HeadState& state, std::string_view name, Time now) {
  JobId job_id = 0;
  const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), job_id);
  if (!name.empty() && error == std::errc{} && rest == name.data() + name.size()) {
    for (const SeenJob& job : state.jobs)
      if (job.id == job_id) return why_job(state, job, now);
    return absent_error("no job " + std::to_string(job_id) + " is pending or running in Slurm");
  }
  if (state.spec) {
    for (const GroupSpec& spec : state.spec->groups) {
      const GroupRecord* group = find_record(state, spec.name);
      if (!group) continue;
      if (spec.name.str() == name) return why_group(state, spec, *group, now);
      for (const SlotRecord& slot : group->slots) {
        if (slot.name.str() == name) return why_node(state, spec, *group, slot, now);
      }
    }
  }
  return absent_error("expected a job id, a node or a group of this cluster, found \"" +
                      std::string(name.substr(0, 64)) + "\"");
}

}  // namespace muster::logic
