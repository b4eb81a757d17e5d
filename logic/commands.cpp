// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/commands.hpp"

#include <algorithm>

#include "logic/field_reader.hpp"
#include "logic/group_planner.hpp"
#include "logic/plan.hpp"

namespace muster::logic {
namespace {

constexpr int max_count = 6758;  // HyperPod's limit of InstanceCount (API model)

std::string counts_text(const Counts& counts) {
  return "target " + std::to_string(counts.target) + ", MinCount " + std::to_string(counts.min);
}

std::string nodes_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " node" : " nodes"); }

class Runner {
 public:
  Runner(const ClusterSpec& spec, const Ledger& ledger, const std::string& by, Time now)
      : spec_(spec), by_(by), now_(now) {
    outcome_.ledger = ledger;
  }

  Result<CommandOutcome> operator()(const ScaleGroup& scale) {
    auto found = find_group(scale.group);
    if (!found) return found.error();
    if (auto there = must_stay(**found); !there) return there.error();
    Counts counts = (*found)->counts;
    if (scale.target) counts.target = *scale.target;
    if (scale.min) counts.min = *scale.min;
    if (auto fits = check_counts(**found, counts); !fits) return fits.error();
    set_counts(**found, counts);
    return std::move(outcome_);
  }

  Result<CommandOutcome> operator()(const AddNodes& add) {
    auto found = find_group(add.group);
    if (!found) return found.error();
    if (auto there = must_not_change(**found); !there) return there.error();
    if (add.count < 1 || add.count > max_count)
      return reject_error("expected 1 to " + std::to_string(max_count) + " nodes to add, found " +
                          std::to_string(add.count));
    Counts counts = (*found)->counts;
    counts.target += add.count;
    if (auto fits = check_counts(**found, counts); !fits) return fits.error();
    set_counts(**found, counts);
    return std::move(outcome_);
  }

  Result<CommandOutcome> operator()(const RemoveNodes& remove) {
    auto slots = find_slots(remove.names);
    if (!slots) return slots.error();
    std::map<GroupName, int> leaving;
    for (const auto& [group, slot] : *slots) {
      if (auto there = must_not_change(*group); !there) return there.error();
      if (slot->wish != Wish::remove) ++leaving[group->name];
    }
    for (const auto& [name, number] : leaving) {
      GroupRecord& group = outcome_.ledger.groups.at(name);
      Counts counts = group.counts;
      // Those that are above the target already (an admin drained them, say) go without lowering it.
      const auto kept = static_cast<int>(std::count_if(
          group.slots.begin(), group.slots.end(), [](const SlotRecord& slot) { return slot.wish != Wish::remove; }));
      counts.target -= std::max(0, number - std::max(0, kept - counts.target));
      if (counts.target < counts.min) {
        return conflict_error("group " + name.str() + ": expected a target of MinCount (" + std::to_string(counts.min) +
                              ") or more, found that " + std::to_string(counts.target) +
                              " would be left; lower MinCount first (muster scale " + name.str() + " --min " +
                              std::to_string(counts.target) + ")");
      }
      set_counts(group, counts);
    }
    for (const auto& [group, slot] : *slots) wish(*group, *slot, Wish::remove);
    tell("RemovalAsked", *slots);
    outcome_.message = nodes_text(slots->size()) + " will be removed: closed to new jobs now, ended when free of jobs";
    return std::move(outcome_);
  }

  Result<CommandOutcome> operator()(const ReplaceNodes& replace) {
    return to_each(replace.names, Wish::replace, "ReplaceAsked", "replaced");
  }
  Result<CommandOutcome> operator()(const RebootNodes& reboot) {
    return to_each(reboot.names, Wish::reboot, "RebootAsked", "rebooted");
  }

  Result<CommandOutcome> operator()(const OpenGroup& open) {
    auto found = find_group(open.group);
    if (!found) return found.error();
    GroupRecord& group = **found;
    if (auto there = must_stay(group); !there) return there.error();
    if (group.gathering == Gathering::no) return conflict_error("group " + group.name.str() + " is open already");
    const int ready = ready_count(group);
    const std::string progress = std::to_string(ready) + " of " + std::to_string(group.counts.min) + " nodes ready";
    group.floor_is_waived = ready < group.counts.min || group.gathering == Gathering::floor;
    group.gathering = Gathering::no;
    if (!group.gate_open) group.gate_opened_at = now_;
    group.gate_open = true;
    group.deadline = no_time;
    group.idle_spent = Duration{0};
    event(EventLevel::info, "OpenedByOperator", group.name, "opened by " + by_ + " with " + progress);
    outcome_.message = "group " + group.name.str() + " is open to jobs, with " + progress;
    return std::move(outcome_);
  }

  Result<CommandOutcome> operator()(const DeleteGroup& remove) {
    auto found = find_group(remove.group);
    if (!found) return found.error();
    delete_group(**found);
    outcome_.message = "group " + remove.group.str() +
                       " is being deleted: its nodes are closed to new jobs now, and ended "
                       "when free of jobs";
    return std::move(outcome_);
  }

  Result<CommandOutcome> operator()(const DeleteCluster&) {
    outcome_.ledger.cluster.deleting = by_;
    for (auto& [name, group] : outcome_.ledger.groups) {
      if (!group.deleted) delete_group(group);
    }
    event(EventLevel::warn, "ClusterDeleting", {}, "cluster " + spec_.name + " is deleted by " + by_);
    outcome_.message = "cluster " + spec_.name + " is being deleted";
    return std::move(outcome_);
  }

  Result<CommandOutcome> operator()(const RetryNow&) {
    for (auto& [name, group] : outcome_.ledger.groups) forget_troubles(group);
    event(EventLevel::info, "RetryAsked", {}, "back-offs are forgotten, asked for by " + by_);
    outcome_.message = "everything that waits for another try is tried now";
    return std::move(outcome_);
  }

  /// New counts, as the newest request of whatever origin.
  void set_counts(GroupRecord& group, const Counts& counts) {
    const Counts before = group.counts;
    group.counts = counts;
    forget_troubles(group);
    group.rolled_back.clear();
    const bool min_changed = counts.min != before.min;
    if (group.gathering == Gathering::creating || group.gathering == Gathering::updating) {
      // HyperPod: the time starts anew at each change of MinCount, and not at one of the target.
      if (min_changed) start_clock(group);
    } else if (min_changed && counts.min > ready_count(group)) {
      group.gathering = Gathering::updating;
      group.restore = before;
      group.gathering_since = now_;
      group.idle_spent = Duration{0};
      start_clock(group);
    }
    if (before == counts) {
      outcome_.message = "group " + group.name.str() + " has " + counts_text(counts) + " already";
      return;
    }
    event(EventLevel::info, "GroupScaling", group.name,
          counts_text(before) + " -> " + counts_text(counts) + ", asked for by " + by_);
    outcome_.message = "group " + group.name.str() + ": " + counts_text(before) + " -> " + counts_text(counts);
  }

  CommandOutcome take() { return std::move(outcome_); }
  Ledger& ledger() { return outcome_.ledger; }
  std::vector<Event>& events() { return outcome_.events; }

  void forget_troubles(GroupRecord& group) {
    group.troubles.clear();
    for (SlotRecord& slot : group.slots) {
      slot.given_up = false;
      if (slot.state == SlotState::waiting) slot.retry_at = no_time;
    }
  }

 private:
  using SlotPlace = std::pair<GroupRecord*, SlotRecord*>;

  Result<GroupRecord*> find_group(const GroupName& name) {
    const auto found = outcome_.ledger.groups.find(name);
    if (found == outcome_.ledger.groups.end() || found->second.deleted || !spec_.find_group(name))
      return absent_error("there is no group \"" + name.str() + "\"");
    return &found->second;
  }

  Result<std::vector<SlotPlace>> find_slots(const std::vector<NodeName>& names) {
    if (names.empty()) return reject_error("expected the name of a node, found none");
    std::vector<SlotPlace> places;
    for (const NodeName& name : names) {
      const std::size_t before = places.size();
      for (auto& [group_name, group] : outcome_.ledger.groups) {
        for (SlotRecord& slot : group.slots) {
          if (slot.name == name) places.emplace_back(&group, &slot);
        }
      }
      if (places.size() == before)
        return absent_error("\"" + name.str() + "\" is no node of a group of this cluster; nothing was changed");
    }
    return places;
  }

  static Status must_stay(const GroupRecord& group) {
    if (group.deleting.empty()) return Done{};
    return conflict_error("group " + group.name.str() + " is being deleted");
  }

  /// HyperPod: BatchAddClusterNodes and BatchDeleteClusterNodes are blocked while a group waits for its MinCount.
  static Status must_not_change(const GroupRecord& group) {
    if (const Status there = must_stay(group); !there) return there;
    if (group.gathering != Gathering::creating && group.gathering != Gathering::updating) return Done{};
    return conflict_error(
        "group " + group.name.str() + " waits for its MinCount (" + group.status_reason +
        "): nodes are neither added nor removed by number meanwhile; muster scale changes its counts, "
        "muster open ends the wait");
  }

  Status check_counts(const GroupRecord& group, const Counts& counts) const {
    const std::string title = "group " + group.name.str() + ": ";
    if (counts.target < 0 || counts.target > max_count)
      return reject_error(title + "expected a target of 0 to " + std::to_string(max_count) + ", found " +
                          std::to_string(counts.target));
    if (counts.min < 0 || counts.min > counts.target)
      return reject_error(title + "expected a MinCount of 0 to the target (" + std::to_string(counts.target) +
                          "), found " + std::to_string(counts.min));
    const GroupSpec* spec = spec_.find_group(group.name);
    if (spec && spec->registration == Registration::slurm_conf) {
      const auto addresses = static_cast<int>(spec->node_addresses.size());
      if (counts.target > addresses)
        return reject_error(title + "expected a target of 0 to " + std::to_string(addresses) +
                            ", as many as it has node_addresses, found " + std::to_string(counts.target) +
                            "; muster apply a file with more of them");
    }
    return Done{};
  }

  void start_clock(GroupRecord& group) {
    const GroupSpec* spec = spec_.find_group(group.name);
    if (spec) group.deadline = now_ + spec->deadline;
  }

  void delete_group(GroupRecord& group) {
    if (!group.deleting.empty()) return;
    group.deleting = by_;
    group.gathering = Gathering::no;
    group.deadline = no_time;
    event(EventLevel::warn, "GroupDeleting", group.name, "deleted by " + by_);
  }

  Duration drain_timeout(const GroupRecord& group) const {
    const GroupSpec* spec = spec_.find_group(group.name);
    return spec ? spec->drain_timeout : Duration{0};
  }

  void wish(const GroupRecord& group, SlotRecord& slot, Wish wish) {
    slot.wish = wish;
    slot.by_name = true;
    slot.wish_reason = "asked for by " + by_;
    slot.wish_since = now_;
    slot.drain_deadline = now_ + drain_timeout(group);
  }

  Result<CommandOutcome> to_each(const std::vector<NodeName>& names, Wish what, const char* kind, const char* done) {
    auto slots = find_slots(names);
    if (!slots) return slots.error();
    for (const auto& [group, slot] : *slots) {
      if (auto there = must_stay(*group); !there) return there.error();
      if (slot->wish == Wish::remove)
        return conflict_error("node " + slot->name.str() + " is being removed; nothing was changed");
      if (what == Wish::reboot && slot->instance.empty())
        return conflict_error("node " + slot->name.str() + " has no machine to reboot; nothing was changed");
    }
    for (const auto& [group, slot] : *slots) wish(*group, *slot, what);
    tell(kind, *slots);
    outcome_.message =
        nodes_text(slots->size()) + " will be " + done + ": closed to new jobs now, done when free of jobs";
    return std::move(outcome_);
  }

  void tell(const char* kind, const std::vector<SlotPlace>& slots) {
    for (const auto& [group, slot] : slots) {
      event(EventLevel::info, kind, group->name, "asked for by " + by_);
      outcome_.events.back().node = slot->name;
      outcome_.events.back().instance = slot->instance;
    }
  }

  void event(EventLevel level, const char* kind, const GroupName& group, const std::string& text) {
    Event event;
    event.level = level;
    event.kind = kind;
    event.group = group;
    event.text = text;
    outcome_.events.push_back(std::move(event));
  }

  const ClusterSpec& spec_;
  const std::string& by_;
  const Time now_;
  CommandOutcome outcome_;
};

}  // namespace

Result<CommandOutcome> run_command(const ClusterSpec& spec, const Ledger& ledger, const Command& command,
                                   const std::string& by, Time now) {
  return std::visit(Runner(spec, ledger, by, now), command);
}

CommandOutcome take_file(const ClusterSpec* before, const ClusterSpec& spec, const Ledger& ledger,
                         const std::string& by, Time now) {
  Runner runner(spec, ledger, by, now);
  auto& groups = runner.ledger().groups;
  for (auto group = groups.begin(); group != groups.end();) {
    group = group->second.deleted ? groups.erase(group) : std::next(group);
  }
  for (const GroupSpec& group : spec.groups) {
    const auto found = groups.find(group.name);
    if (found == groups.end()) {
      groups.emplace(group.name, new_group(group, now, runner.events()));
    } else if (found->second.deleting.empty()) {
      const GroupSpec* old_group = before ? before->find_group(group.name) : nullptr;
      // A wait that is under way ends so much sooner or later.
      if (old_group && found->second.deadline != no_time)
        found->second.deadline += group.deadline - old_group->deadline;
      runner.set_counts(found->second, {group.target_count, group.min_count});
    }
  }
  return runner.take();
}

}  // namespace muster::logic
