// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/plan.hpp"

#include <algorithm>
#include <exception>
#include <iterator>

#include "logic/field_reader.hpp"
#include "logic/group_planner.hpp"
#include "logic/node_file.hpp"
#include "logic/release.hpp"

namespace muster::logic {
namespace {

/// The results and reports that came in, handed to the group they belong to.
class Inbox {
 public:
  Inbox(const Seen& seen, const Ledger& ledger) {
    if (seen.launch_results.empty() && seen.terminate_results.empty() && seen.reboot_results.empty() &&
        seen.reports.empty())
      return;
    std::unordered_map<LaunchToken, GroupName> by_token;
    std::unordered_map<InstanceId, GroupName> by_instance;
    std::unordered_map<InstanceId, NodeName> holders;
    for (const auto& [name, group] : ledger.groups) {
      for (const SlotRecord& slot : group.slots) {
        if (!slot.token.empty()) by_token.emplace(slot.token, name);
        if (slot.instance.empty()) continue;
        by_instance.emplace(slot.instance, name);
        holders.emplace(slot.instance, slot.name);
      }
      for (const auto& [instance, orphan] : group.orphans) by_instance.emplace(instance, name);
    }
    for (const LaunchResult& result : seen.launch_results) {
      const auto group = by_token.find(result.token);
      if (group == by_token.end()) continue;
      GroupMail& mail = mail_[group->second];
      mail.launch_results.push_back(&result);
      if (const auto holder = holders.find(result.instance); holder != holders.end())
        mail.taken_instances.emplace(result.instance, holder->second);
      // A node may report within the same pass that learns of its launch.
      if (!result.instance.empty()) by_instance.emplace(result.instance, group->second);
    }
    for (const TerminateResult& result : seen.terminate_results) {
      if (const auto group = by_instance.find(result.instance); group != by_instance.end()) {
        mail_[group->second].terminate_results.push_back(&result);
      }
    }
    for (const RebootResult& result : seen.reboot_results) {
      if (const auto group = by_instance.find(result.instance); group != by_instance.end()) {
        mail_[group->second].reboot_results.push_back(&result);
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

const GroupRecord* record_of(const Ledger& ledger, const GroupName& name) {
  const auto record = ledger.groups.find(name);
  return record == ledger.groups.end() ? nullptr : &record->second;
}

bool has_been_ready(const Ledger& ledger, const GroupName& name) {
  const GroupRecord* record = record_of(ledger, name);
  return record && !record->arrivals.empty();
}

/// HyperPod: controllers come first; when one is healthy, all others in parallel. Where the cluster has no controller
/// group the head that musterd runs on is the healthy controller; and a cluster that was InService once has had one.
bool has_had_controller(const ClusterSpec& wanted, const Ledger& ledger) {
  if (ledger.cluster.in_service_at != no_time) return true;
  bool has_group = false;
  for (const GroupSpec& spec : wanted.groups) {
    if (spec.node_type != NodeType::controller) continue;
    if (const GroupRecord* record = record_of(ledger, spec.name);
        record && (record->deleted || !record->deleting.empty()))
      continue;
    has_group = true;
    if (has_been_ready(ledger, spec.name)) return true;
  }
  return !has_group;
}

/// Plans one group into a plan of its own, so that whatever goes wrong with it leaves the others alone.
void plan_group(const GroupSpec& spec, const ClusterSpec& wanted, const Seen& seen, const GroupMail& mail,
                bool may_launch, Time now, const GroupRecord* before, Plan& plan) {
  const auto provider = wanted.providers.find(spec.provider);
  if (provider == wanted.providers.end()) return;  // the parser refuses this
  GroupRecord& record = plan.ledger.groups[spec.name];
  if (record.deleted) return;
  Plan own;
  GroupRecord after = std::move(record);
  try {
    GroupPlanner(spec, provider->second, wanted.name, seen, mail, may_launch, now, after, own).run();
  } catch (const std::exception& problem) {
    record = before ? *before : GroupRecord{};
    Event event;
    event.level = EventLevel::error;
    event.kind = "PlanFailed";
    event.group = spec.name;
    event.text = std::string("nothing is done for this group: ") + problem.what();
    if (record.status_reason == event.text) return;
    record.status_reason = event.text;
    plan.events.push_back(std::move(event));
    return;
  }
  record = std::move(after);
  std::move(own.actions.begin(), own.actions.end(), std::back_inserter(plan.actions));
  std::move(own.events.begin(), own.events.end(), std::back_inserter(plan.events));
  if (own.next_deadline != no_time && (plan.next_deadline == no_time || own.next_deadline < plan.next_deadline))
    plan.next_deadline = own.next_deadline;
}

/// HyperPod: InService is one controller up, plus one login node if there is a login group; workers are not waited for.
void plan_cluster(const ClusterSpec& wanted, Time now, Plan& plan) {
  ClusterRecord& cluster = plan.ledger.cluster;
  if (!cluster.deleting.empty() || cluster.in_service_at != no_time) return;
  bool has_login_group = false;
  bool has_login_node = false;
  std::string failure;
  for (const GroupSpec& spec : wanted.groups) {
    if (spec.node_type == NodeType::compute) continue;
    const GroupRecord* record = record_of(plan.ledger, spec.name);
    if (spec.node_type == NodeType::login) {
      has_login_group = true;
      has_login_node = has_login_node || has_been_ready(plan.ledger, spec.name);
    }
    if (!record || !failure.empty()) continue;
    const std::string title = std::string(node_type_name(spec.node_type)) + " group " + spec.name.str() + ": ";
    if (!record->rolled_back.empty()) failure = title + record->rolled_back;
    if (record->status == GroupStatus::failed) failure = title + record->status_reason;
  }
  Event event;
  if (has_had_controller(wanted, plan.ledger) && (has_login_node || !has_login_group)) {
    cluster.in_service_at = now;
    cluster.failure.clear();
    event.kind = "ClusterInService";
    event.text = "cluster " + wanted.name + " is InService";
  } else if (failure != cluster.failure) {
    cluster.failure = failure;
    event.level = failure.empty() ? EventLevel::info : EventLevel::error;
    event.kind = failure.empty() ? "ClusterCreating" : "ClusterFailed";
    event.text = failure.empty() ? "cluster " + wanted.name + " may come into service again" : failure;
  }
  if (!event.kind.empty()) plan.events.push_back(std::move(event));
}

/// What an operator must do for the node file; told once.
void tell_node_file(const char* kind, const std::string& needed, Plan& plan) {
  std::string& told = plan.ledger.cluster.node_file_needs;
  if (told == needed) return;
  told = needed;
  Event event;
  event.level = EventLevel::warn;
  event.kind = kind;
  event.text = needed;
  plan.events.push_back(std::move(event));
}

/// The nodes that Slurm has otherwise than the file says.
struct NodeFileDifference {
  std::vector<NodeName> lacking;  ///< or with another address
  std::vector<NodeName> surplus;

  bool empty() const { return lacking.empty() && surplus.empty(); }
  std::string text() const {
    std::string text;
    if (!lacking.empty()) text = "takes in the lines of " + names_text(lacking);
    if (!surplus.empty()) text += (text.empty() ? "" : " and ") + ("drops " + names_text(surplus));
    return text;
  }
};

NodeFileDifference difference(const std::map<NodeName, std::string>& lines, const Ledger& ledger,
                              const SeenNodes& nodes) {
  NodeFileDifference result;
  for (const auto& [name, address] : lines) {
    const auto node = nodes.find(name);
    if (node == nodes.end() || node->second.address != address) result.lacking.push_back(name);
  }
  for (const auto& [group_name, group] : ledger.groups) {
    for (const SlotRecord& slot : group.slots) {
      if (slot.record_is_over && nodes.count(slot.name) > 0) result.surplus.push_back(slot.name);
    }
  }
  return result;
}

/// slurmctld hands a file to its slurmds only where it is included by its bare name.
std::string include_name(const SeenNodeFile& file) {
  const std::string folder = file.slurm_conf.substr(0, file.slurm_conf.rfind('/') + 1);
  return file.path.compare(0, folder.size(), folder) == 0 ? file.path.substr(folder.size()) : file.path;
}

/// registration: slurm_conf. The file first, then Slurm's reading of it; nothing is launched before its nodes are
/// there. Also where slurmctld has it all, a reconfigure hands the lines to every slurmd: without them no job step on
/// an older node reaches a newer one (22.05, tried).
void plan_node_file(const ClusterSpec& wanted, const Seen& seen, Time now, Plan& plan) {
  constexpr Duration before_new_nodes = std::chrono::seconds{10};
  constexpr Duration before_drops = std::chrono::seconds{30};
  constexpr Duration before_what_was_in_vain = std::chrono::minutes{5};
  ClusterRecord& cluster = plan.ledger.cluster;
  if (!needs_node_file(wanted)) {
    cluster.node_file_needs.clear();
    return;
  }
  if (!seen.node_file) return;
  const SeenNodeFile& file = *seen.node_file;
  const std::map<NodeName, std::string> lines = nodes_of_file(wanted, plan.ledger);
  if (const std::string trouble = node_file_trouble(lines, file); !trouble.empty())
    return tell_node_file("NodeFileTrouble", trouble, plan);
  if (std::string text = node_file_text(wanted, plan.ledger); file.text != text) {
    cluster.reconfigure_owed = true;
    plan.actions.emplace_back(WriteNodeFile{std::move(text)});
    if (!file.write_trouble.empty()) tell_node_file("NodeFileTrouble", file.write_trouble, plan);
    return;
  }
  if (!seen.nodes) return;
  const NodeFileDifference differing = difference(lines, plan.ledger, *seen.nodes);
  if (differing.empty() && seen.slurm_was_reconfigured) cluster.reconfigure_owed = false;
  if (differing.empty() && !cluster.reconfigure_owed) {
    cluster.reconfigures = 0;
    cluster.node_file_needs.clear();
    return;
  }
  const std::string include =
      file.is_included ? "" : "add the line \"Include " + include_name(file) + "\" to " + file.slurm_conf;
  if (!differing.empty() && !seen.slurm_rereads_nodes) {
    return tell_node_file("RestartNeeded",
                          include + (include.empty() ? "" : ", and ") + "restart slurmctld, so that it " +
                              differing.text() + "; this version of Slurm does so at no other time",
                          plan);
  }
  if (!include.empty()) {
    return tell_node_file("IncludeNeeded",
                          include + "; musterd then tells slurmctld to read it" +
                              (differing.empty() ? "" : ", so that it " + differing.text()),
                          plan);
  }
  const Duration wait = cluster.reconfigures > 1    ? before_what_was_in_vain
                        : differing.lacking.empty() ? before_drops
                                                    : before_new_nodes;
  const Time due = cluster.reconfigured_at + wait;
  if (now < due) {
    if (plan.next_deadline == no_time || due < plan.next_deadline) plan.next_deadline = due;
    return;
  }
  if (cluster.reconfigures > 0 && !differing.empty()) {
    tell_node_file("ReconfigureInVain",
                   "slurmctld was told to read its files again and does not do it; its log says why. Until it " +
                       differing.text() + " they are told every " + duration_text(before_what_was_in_vain) +
                       "; scontrol reconfigure does it at once",
                   plan);
  }
  cluster.reconfigured_at = now;
  ++cluster.reconfigures;
  plan.actions.emplace_back(ReconfigureSlurm{});
}

}  // namespace

bool may_launch(const ClusterSpec& wanted, const Ledger& ledger, const GroupSpec& group) {
  return group.node_type == NodeType::controller || has_had_controller(wanted, ledger);
}

Plan plan(const ClusterSpec& wanted, const Ledger& ledger, const Seen& seen, Time now) {
  Plan plan;
  plan.ledger = ledger;
  const Inbox inbox(seen, ledger);
  for (const GroupSpec& spec : wanted.groups) {
    plan_group(spec, wanted, seen, inbox.of(spec.name), may_launch(wanted, ledger, spec), now,
               record_of(ledger, spec.name), plan);
  }
  plan_cluster(wanted, now, plan);
  plan_node_file(wanted, seen, now, plan);
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
