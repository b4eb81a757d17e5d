// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/plan.hpp"

#include "logic/group_planner.hpp"
#include "logic/release.hpp"

namespace muster::logic {
namespace {

/// The results and reports that came in, handed to the group they belong to.
class Inbox {
 public:
  Inbox(const Seen& seen, const Ledger& ledger) {
    if (seen.launch_results.empty() && seen.terminate_results.empty() && seen.reports.empty()) return;
    std::unordered_map<LaunchToken, GroupName> by_token;
    std::unordered_map<InstanceId, GroupName> by_instance;
    for (const auto& [name, group] : ledger.groups) {
      for (const SlotRecord& slot : group.slots) {
        if (!slot.token.empty()) by_token.emplace(slot.token, name);
        if (!slot.instance.empty()) by_instance.emplace(slot.instance, name);
      }
    }
    for (const LaunchResult& result : seen.launch_results) {
      const auto group = by_token.find(result.token);
      if (group == by_token.end()) continue;
      GroupMail& mail = mail_[group->second];
      mail.launch_results.push_back(&result);
      for (const auto& [other, record] : ledger.groups) {
        for (const SlotRecord& slot : record.slots) {
          if (slot.instance == result.instance && !slot.instance.empty())
            mail.taken_instances.emplace(slot.instance, slot.name);
        }
      }
      // A node may report within the same pass that learns of its launch.
      if (!result.instance.empty()) by_instance.emplace(result.instance, group->second);
    }
    for (const TerminateResult& result : seen.terminate_results) {
      if (const auto group = by_instance.find(result.instance); group != by_instance.end()) {
        mail_[group->second].terminate_results.push_back(&result);
      }
    }
    for (const NodeReport& report : seen.reports) {
      if (const auto group = by_instance.find(report.instance); group != by_instance.end()) {
        mail_[group->second].reports.push_back(&report);
      }
    }
  }

  const GroupMail& of(const GroupName& group) const {
    static const GroupMail none;
    const auto mail = mail_.find(group);
    return mail == mail_.end() ? none : mail->second;
  }

 private:
  std::map<GroupName, GroupMail> mail_;
};

}  // namespace

Plan plan(const ClusterSpec& wanted, const Ledger& ledger, const Seen& seen, Time now) {
  Plan plan;
  plan.ledger = ledger;
  const Inbox inbox(seen, ledger);
  for (const GroupSpec& spec : wanted.groups) {
    GroupRecord& record = plan.ledger.groups[spec.name];
    const auto provider = wanted.providers.find(spec.provider);
    if (provider == wanted.providers.end()) continue;  // the parser refuses this
    GroupPlanner(spec, provider->second, wanted.name, seen, inbox.of(spec.name), now, record, plan).run();
  }
  if (seen.nodes && seen.jobs && !seen.jobs->empty()) {
    const GateTable table = make_gate_table(wanted, plan.ledger, seen, now);
    ReleaseJobs release = plan_releases(table, *seen.jobs, now, plan.ledger, plan.events);
    if (!release.jobs.empty()) plan.actions.emplace_back(std::move(release));
  }
  return plan;
}

std::string_view event_level_name(EventLevel level) {
  switch (level) {
    case EventLevel::info: return "Info";
    case EventLevel::warn: return "Warn";
    case EventLevel::error: return "Error";
  }
  return "Info";
}

}  // namespace muster::logic
