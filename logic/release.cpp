// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/release.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "logic/field_reader.hpp"
#include "logic/text_parts.hpp"

namespace muster::logic {
namespace {

constexpr std::string_view released_prefix = "muster: released";
constexpr std::string_view released_again_prefix = "muster: released again with ";

/// Nodes of each partition that no slot of ours stands for.
std::map<PartitionName, int> count_foreign_nodes(const Ledger& ledger, const SeenNodes& nodes) {
  std::map<PartitionName, int> foreign;
  std::set<NodeName> ours;
  for (const auto& [name, group] : ledger.groups) {
    for (const SlotRecord& slot : group.slots) ours.insert(slot.name);
  }
  for (const auto& [name, node] : nodes) {
    if (node.partitions.empty() || ours.count(name) > 0) continue;
    for (const PartitionName& partition : split_partitions(node.partitions)) ++foreign[partition];
  }
  return foreign;
}

}  // namespace

GateTable make_gate_table(const ClusterSpec& wanted, const Ledger& ledger, const Seen& seen, Time now) {
  GateTable table;
  table.time = now;
  table.cluster = wanted.name;
  table.default_partition = seen.default_partition;
  static const SeenNodes no_nodes;
  const SeenNodes& nodes = seen.nodes ? *seen.nodes : no_nodes;
  std::map<PartitionName, int> foreign = count_foreign_nodes(ledger, nodes);
  std::set<PartitionName> listed;
  for (const GroupSpec& spec : wanted.groups) {
    const auto found = ledger.groups.find(spec.name);
    if (found == ledger.groups.end() || found->second.deleted || !spec.joins_slurm()) continue;
    const GroupRecord& record = found->second;
    if (listed.insert(spec.partition).second) table.partitions.push_back({spec.partition, foreign[spec.partition]});
    GateGroup line;
    line.partition = spec.partition;
    line.group = spec.name;
    line.open = record.gate_open;
    line.ready = ready_count(record);
    for (const SlotRecord& slot : record.slots) {
      const auto node = nodes.find(slot.name);
      if (slot.state != SlotState::in_service || node == nodes.end()) continue;
      if (!node->second.drained && node->second.base != NodeBase::future && node->second.base != NodeBase::down)
        ++line.open_nodes;
    }
    line.min_count = record.counts.min;
    line.target_count = record.deleting.empty() ? record.counts.target : 0;
    line.cpus = spec.cpus;
    line.memory_mib = spec.memory_mib;
    line.features = spec.features;
    line.features.push_back(spec.group_feature());
    for (const GresWant& want : spec.gres) line.gres.push_back(gres_text({want}));
    line.deadline = record.deadline;
    table.groups.push_back(std::move(line));
  }
  return table;
}

bool carries_our_hold(const SeenJob& job) {
  return job.state == "PENDING" && job.priority == 0 && job.reason != "JobHeldAdmin" &&
         starts_with(job.admin_comment, held_comment_prefix);
}

bool is_held_by_us(const SeenJob& job, const Ledger& ledger) {
  return carries_our_hold(job) && ledger.released_by_others.count(job.id) == 0;
}

JobRequest request_of(const SeenJob& job) {
  JobRequest request;
  request.partitions = split_partitions(job.partition);
  request.min_nodes = job.min_nodes;
  request.num_tasks = job.num_tasks;
  request.features = job.features;
  request.gres = job.gres;
  request.min_count = min_count_in_comment(job.admin_comment);
  return request;
}

namespace {

// Slurm gives a job up for good that no record fits at the moment (BadConstraints, priority 0), also one that is
// released.
bool was_given_up(const SeenJob& job) {
  return job.state == "PENDING" && job.priority == 0 && job.reason == "BadConstraints";
}

// How many nodes were open when the job was last released after that; -1: it was not. Its comment remembers.
int open_when_released_again(const SeenJob& job) {
  if (!starts_with(job.admin_comment, released_again_prefix)) return -1;
  const std::string_view rest = std::string_view(job.admin_comment).substr(released_again_prefix.size());
  return static_cast<int>(whole_number(rest.substr(0, rest.find(' '))).value_or(-1));
}

int open_nodes_of(const GateTable& table, const JobRequest& request) {
  int open = 0;
  for (const GateGroup& group : table.groups) {
    const auto& wanted = request.partitions;
    if (group.open && std::find(wanted.begin(), wanted.end(), group.partition) != wanted.end())
      open += group.open_nodes;
  }
  return open;
}

// A job that we released and that lost its nodes before it could start. Released once for each node that is open more,
// or a job that fits nowhere for a reason that we do not see would be released for ever.
void release_again(const GateTable& table, const SeenJob& job, Time now, ReleaseJobs& release,
                   std::vector<Event>& events) {
  if (!was_given_up(job)) return;
  const JobRequest request = request_of(job);
  const int open = open_nodes_of(table, request);
  if (open <= open_when_released_again(job)) return;
  if (decide_hold(table, request, now).verdict != HoldDecision::Verdict::admit) return;
  release.jobs.push_back(
      {job.id, std::string(released_again_prefix) + std::to_string(open) + " nodes open, after Slurm had given it up"});
  events.push_back(
      {EventLevel::warn,
       "JobReleasedAgain",
       {},
       {},
       {},
       "job " + std::to_string(job.id) +
           ": Slurm had given it up (BadConstraints) while too few nodes were there; they are open again"});
}

}  // namespace

ReleaseJobs plan_releases(const GateTable& table, const std::vector<SeenJob>& jobs, Time now, Ledger& ledger,
                          std::vector<Event>& events) {
  ReleaseJobs release;
  std::set<JobId> still_there;
  for (const SeenJob& job : jobs) {
    if (starts_with(job.admin_comment, released_prefix)) {
      release_again(table, job, now, release, events);
      continue;
    }
    if (!starts_with(job.admin_comment, held_comment_prefix)) continue;
    still_there.insert(job.id);
    if (is_held_by_us(job, ledger)) {
      if (decide_hold(table, request_of(job), now).verdict != HoldDecision::Verdict::admit) continue;
      const std::string waited = duration_text(std::max(Duration{0}, now - job.submitted_at));
      release.jobs.push_back({job.id, std::string(released_prefix) + " after " + waited + " on hold"});
      events.push_back(
          {EventLevel::info,
           "JobReleased",
           {},
           {},
           {},
           "job " + std::to_string(job.id) + ": its nodes are open; released after " + waited + " on hold"});
    } else if (job.state == "PENDING" && job.priority != 0 && ledger.released_by_others.insert(job.id).second) {
      events.push_back({EventLevel::warn,
                        "JobReleasedEarly",
                        {},
                        {},
                        {},
                        "job " + std::to_string(job.id) +
                            ": somebody released it before its nodes are open; it waits in Slurm's queue, since closed "
                            "nodes take no job"});
    }
  }
  // Remembered for as long as the job is there: a hold that comes later is not ours to lift.
  for (auto job = ledger.released_by_others.begin(); job != ledger.released_by_others.end();) {
    job = still_there.count(*job) > 0 ? std::next(job) : ledger.released_by_others.erase(job);
  }
  return release;
}

}  // namespace muster::logic
