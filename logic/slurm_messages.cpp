// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/slurm_messages.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "logic/field_reader.hpp"
#include "logic/hostlist.hpp"
#include "logic/text_parts.hpp"

namespace muster::logic {
namespace {

NodeBase base_from_text(std::string_view text) {
  if (text == "FUTURE") return NodeBase::future;
  if (text == "IDLE") return NodeBase::idle;
  if (text == "DOWN") return NodeBase::down;
  if (text == "ALLOCATED") return NodeBase::allocated;
  if (text == "MIXED") return NodeBase::mixed;
  if (text == "ERROR") return NodeBase::error;
  return NodeBase::unknown;
}

Time time_of(const Value& record, std::string_view key) {
  const std::int64_t seconds = record.integer_or(key);
  return seconds > 0 ? time_from_milliseconds(seconds * 1000) : no_time;
}

SeenNode read_node(const Value& record) {
  SeenNode node;
  node.base_text = record.text_or("state");
  node.base = base_from_text(node.base_text);
  for (const Value& flag : record.list_or_empty("flags")) {
    const std::string* text = flag.as_text();
    if (!text) continue;
    if (*text == "DRAIN")
      node.drained = true;
    else if (*text == "NO_RESPOND")
      node.not_responding = true;
    else if (*text == "INVALID_REG")
      node.invalid_registration = true;
    else if (*text == "COMPLETING")
      node.completing = true;
    else if (*text == "FAIL")
      node.failing = true;
    else if (*text == "REBOOT_REQUESTED" || *text == "REBOOT_ISSUED")
      node.rebooting = true;
  }
  node.reason = record.text_or("reason");
  node.reason_uid = record.integer_or("reason_uid", -1);
  node.reason_time = time_of(record, "reason_time");
  node.address = record.text_or("address");
  node.cpus = record.integer_or("cpus");
  node.memory_mib = record.integer_or("memory_mib");
  node.gres = record.text_or("gres");
  node.features = record.text_or("features");
  node.partitions = record.text_or("partitions");
  node.boot_time = time_of(record, "boot_time");
  node.version = record.text_or("version");
  node.slurmd_start_time = time_of(record, "slurmd_start_time");
  return node;
}

std::optional<int> optional_count(const Value& record, std::string_view key) {
  const Value* found = record.find(key);
  if (!found || !found->as_integer()) return std::nullopt;
  const std::int64_t number = *found->as_integer();
  if (number < 0 || number > 1'000'000'000) return std::nullopt;
  return static_cast<int>(number);
}

Result<std::vector<NodeName>> node_names(const Value& record, std::string_view key) {
  auto names = expand_names(record.text_or(key));
  if (!names) return names.error();
  std::vector<NodeName> nodes;
  nodes.reserve(names->size());
  for (std::string& name : *names) nodes.emplace_back(std::move(name));
  return nodes;
}

std::vector<std::string> texts_of(const Value& answer, std::string_view key) {
  std::vector<std::string> texts;
  for (const Value& item : answer.list_or_empty(key)) {
    if (item.as_text()) texts.push_back(*item.as_text());
  }
  return texts;
}

}  // namespace

Result<SeenNodes> read_seen_nodes(const Value& answer) {
  const Value* records = answer.find("nodes");
  if (!records || !records->is_list()) return bug_error("the Slurm helper's answer to nodes has no list of nodes");
  SeenNodes nodes;
  nodes.reserve(records->items().size());
  for (const Value& record : records->items()) {
    std::string name = record.text_or("name");
    if (name.empty()) return bug_error("the Slurm helper's answer to nodes has a node without a name");
    nodes.emplace(NodeName{std::move(name)}, read_node(record));
  }
  return nodes;
}

Result<std::vector<SeenJob>> read_seen_jobs(const Value& answer) {
  const Value* records = answer.find("jobs");
  if (!records || !records->is_list()) return bug_error("the Slurm helper's answer to jobs has no list of jobs");
  std::vector<SeenJob> jobs;
  for (const Value& record : records->items()) {
    SeenJob job;
    job.id = static_cast<JobId>(record.integer_or("id"));
    job.user_id = record.integer_or("user_id", -1);
    job.partition = record.text_or("partition");
    job.state = record.text_or("state");
    job.priority = record.integer_or("priority", -1);
    job.reason = record.text_or("reason");
    job.min_nodes = optional_count(record, "min_nodes");
    job.num_tasks = optional_count(record, "num_tasks");
    job.features = record.text_or("features");
    job.gres = record.text_or("tres_per_node");
    job.admin_comment = record.text_or("admin_comment");
    job.submitted_at = time_of(record, "submit_time");
    auto nodes = node_names(record, "nodes");
    if (!nodes) return bug_error("job " + std::to_string(job.id) + ": nodes: " + nodes.error().message);
    job.nodes = *std::move(nodes);
    // What a user wrote must not keep all jobs from being read: a list that cannot be expanded names no node there is.
    if (auto required = node_names(record, "required_nodes")) job.required_nodes = *std::move(required);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Result<std::vector<SeenReservation>> read_seen_reservations(const Value& answer) {
  const Value* records = answer.find("reservations");
  if (!records || !records->is_list()) return bug_error("the Slurm helper's answer to reservations has no list");
  std::vector<SeenReservation> reservations;
  for (const Value& record : records->items()) {
    SeenReservation reservation;
    reservation.name = record.text_or("name");
    reservation.start = time_of(record, "start_time");
    reservation.end = time_of(record, "end_time");
    auto nodes = node_names(record, "nodes");
    if (!nodes) return bug_error("reservation " + reservation.name + ": nodes: " + nodes.error().message);
    reservation.nodes = *std::move(nodes);
    reservations.push_back(std::move(reservation));
  }
  return reservations;
}

Result<std::vector<Controller>> read_controllers(const Value& ping_answer) {
  std::vector<Controller> controllers;
  for (const Value& record : ping_answer.list_or_empty("controllers")) {
    controllers.push_back({record.text_or("host"), record.text_or("address"), record.boolean_or("answers")});
    if (controllers.back().host.empty())
      return bug_error("the Slurm helper's answer to ping has a controller without a host");
  }
  if (controllers.empty()) return bug_error("the Slurm helper's answer to ping has no controllers");
  return controllers;
}

PartitionName SlurmFacts::default_partition() const {
  for (const Partition& partition : partitions) {
    if (partition.is_default) return partition.name;
  }
  return {};
}

bool SlurmFacts::is_configless() const { return slurmctld_parameters.find("enable_configless") != std::string::npos; }

namespace {

/// "24.11.5" is at least major.minor.
bool is_since(const std::string& version, int major, int minor) {
  int found_major = 0;
  int found_minor = 0;
  const char* const end = version.data() + version.size();
  const auto [dot, error] = std::from_chars(version.data(), end, found_major);
  if (error != std::errc{} || dot == end || *dot != '.') return false;
  if (std::from_chars(dot + 1, end, found_minor).ec != std::errc{}) return false;
  return found_major > major || (found_major == major && found_minor >= minor);
}

}  // namespace

bool SlurmFacts::rereads_nodes() const { return is_since(version, 23, 11); }
bool SlurmFacts::takes_topology() const { return is_since(version, 25, 5); }

std::string SlurmFacts::conf_server() const {
  std::string servers;
  if (!is_configless()) return servers;
  for (const std::string& host : controller_hosts)
    servers += (servers.empty() ? "" : ",") + host + ":" + std::to_string(controller_port);
  return servers;
}

Result<SlurmFacts> read_slurm_facts(const Value& config_answer, const Value& partitions_answer) {
  const Value* partitions = partitions_answer.find("partitions");
  if (!partitions || !partitions->is_list()) return bug_error("the Slurm helper's answer to partitions has no list");
  SlurmFacts facts;
  facts.version = config_answer.text_or("version");
  facts.helper_version = config_answer.text_or("helper_version");
  facts.slurm_conf = config_answer.text_or("slurm_conf");
  facts.cluster_name = config_answer.text_or("cluster_name");
  facts.slurm_user_uid = config_answer.integer_or("slurm_user_uid");
  facts.max_node_count = static_cast<int>(config_answer.integer_or("max_node_count"));
  facts.controller_hosts = texts_of(config_answer, "controller_hosts");
  facts.controller_port = static_cast<int>(config_answer.integer_or("controller_port", 6817));
  facts.gres_types = config_answer.text_or("gres_types");
  facts.return_to_service = static_cast<int>(config_answer.integer_or("return_to_service"));
  facts.job_submit_plugins = config_answer.text_or("job_submit_plugins");
  facts.plugin_dir = config_answer.text_or("plugin_dir");
  facts.plugstack = config_answer.text_or("plugstack");
  facts.slurmctld_parameters = config_answer.text_or("slurmctld_parameters");
  facts.scheduler_parameters = config_answer.text_or("scheduler_parameters");
  facts.select_type = config_answer.text_or("select_type");
  facts.auth_type = config_answer.text_or("auth_type");
  facts.topology_plugin = config_answer.text_or("topology_plugin");
  facts.topology_param = config_answer.text_or("topology_param");
  facts.suspend_program = config_answer.text_or("suspend_program");
  facts.suspend_time = optional_count(config_answer, "suspend_time");
  facts.suspend_exc_nodes = config_answer.text_or("suspend_exc_nodes");
  facts.suspend_exc_parts = config_answer.text_or("suspend_exc_parts");
  facts.suspend_exc_states = config_answer.text_or("suspend_exc_states");
  facts.reconfig_flags = texts_of(config_answer, "reconfig_flags");
  facts.enforce_part_limits = config_answer.text_or("enforce_part_limits");
  facts.slurmctld_timeout = optional_count(config_answer, "slurmctld_timeout");
  facts.slurmd_timeout = optional_count(config_answer, "slurmd_timeout");
  facts.tree_width = optional_count(config_answer, "tree_width");
  facts.node_sets = texts_of(config_answer, "node_sets");
  for (const Value& record : partitions->items()) {
    SlurmFacts::Partition partition;
    partition.name = PartitionName{record.text_or("name")};
    partition.nodes_spec = record.text_or("nodes_spec");
    partition.nodes = record.text_or("nodes");
    partition.state = record.text_or("state");
    partition.is_default = record.boolean_or("default");
    partition.suspend_time = optional_count(record, "suspend_time");
    partition.is_never_suspended = record.boolean_or("suspend_never");
    facts.partitions.push_back(std::move(partition));
  }
  return facts;
}

namespace {

/// Slurm 22.05 reports success for records beyond MaxNodeCount and makes none (tried), so it is never asked for them.
std::optional<std::string> shortage_of_room(int to_make, const SlurmFacts& facts, const SeenNodes& nodes) {
  const int present = static_cast<int>(nodes.size());
  if (to_make == 0 || present + to_make <= facts.max_node_count) return std::nullopt;
  return "expected slurm.conf's MaxNodeCount to be " + std::to_string(present + to_make) + " or more (" +
         std::to_string(present) + " nodes there, " + std::to_string(to_make) + " to make), found " +
         std::to_string(facts.max_node_count) + "; set it and restart slurmctld once";
}

/// For what the groups are to have. A slot that is to go keeps its record for a while, and the one for it is a new one.
int records_to_make(const ClusterSpec& spec, const Ledger& ledger, const SeenNodes& nodes) {
  int number = 0;
  for (const GroupSpec& group : spec.groups) {
    const auto record = ledger.groups.find(group.name);
    if (!group.joins_slurm() || record == ledger.groups.end() || !record->second.deleting.empty()) continue;
    int present = 0;
    for (const SlotRecord& slot : record->second.slots)
      present += slot.wish != Wish::remove && nodes.count(slot.name) > 0 ? 1 : 0;
    number += std::max(0, record->second.counts.target - present);
  }
  return number;
}

}  // namespace

Status check_against_slurm(const ClusterSpec& spec, const Ledger& ledger, const SlurmFacts& facts,
                           const SeenNodes& nodes) {
  Problems problems(spec.file_name);
  std::set<NodeName> ours;
  for (const auto& [name, group] : ledger.groups) {
    for (const SlotRecord& slot : group.slots) ours.insert(slot.name);
  }
  std::string known_partitions;
  for (const auto& partition : facts.partitions)
    known_partitions += (known_partitions.empty() ? "" : ", ") + partition.name.str();
  int wanted_new = 0;
  for (const GroupSpec& group : spec.groups) {
    if (!group.joins_slurm()) continue;
    const std::string title = "group " + group.name.str();
    const bool has_partition =
        std::any_of(facts.partitions.begin(), facts.partitions.end(),
                    [&](const SlurmFacts::Partition& partition) { return partition.name == group.partition; });
    if (!has_partition) {
      problems.add(group.partition_place, title + ": partition: expected a partition of slurm.conf (" +
                                              known_partitions + "), found \"" + group.partition.str() +
                                              "\"; muster slurm-conf prints the lines it needs");
    }
    for (const GresWant& want : group.gres) {
      const auto types = split_text(facts.gres_types, ",");
      if (std::find(types.begin(), types.end(), want.name) != types.end()) continue;
      problems.add(group.place, title + ": node: gres: expected one of slurm.conf's GresTypes (" + facts.gres_types +
                                    "), found \"" + want.name + "\"; muster slurm-conf prints the line it needs");
    }
    std::vector<std::string> taken;
    for (int index = 1; index <= group.target_count; ++index) {
      const NodeName name = group.node_name(index);
      if (ours.count(name) > 0) continue;
      if (nodes.count(name) == 0)
        ++wanted_new;
      else
        taken.push_back(name.str());
      if (std::find(facts.node_sets.begin(), facts.node_sets.end(), name.str()) != facts.node_sets.end()) {
        problems.add(group.prefix_place,
                     title + ": node_prefix: node name " + name.str() +
                         " equals a NodeSet of slurm.conf, which slurmctld does not survive; choose another prefix");
      }
    }
    if (!taken.empty()) {
      problems.add(group.prefix_place,
                   title + ": node_prefix: expected names that Slurm does not have yet, found " + taken.front() +
                       (taken.size() > 1 ? " and " + std::to_string(taken.size() - 1) + " more" : "") +
                       " (not made by muster)");
    }
  }
  if (const auto shortage = shortage_of_room(wanted_new, facts, nodes)) {
    const Place place = spec.groups.empty() ? Place{} : spec.groups.front().target_place;
    problems.add(place, "target_count: " + *shortage);
  }
  if (!problems.empty()) return problems.error();
  return Done{};
}

Status check_room(const ClusterSpec& spec, const Ledger& before, const Ledger& after, const SlurmFacts& facts,
                  const SeenNodes& nodes) {
  const int to_make = records_to_make(spec, after, nodes);
  if (to_make <= records_to_make(spec, before, nodes)) return Done{};
  if (const auto shortage = shortage_of_room(to_make, facts, nodes)) return conflict_error(*shortage);
  return Done{};
}

std::vector<std::string> warnings_against_slurm(const ClusterSpec& spec, const SlurmFacts& facts) {
  std::vector<std::string> warnings;
  for (const GroupSpec& group : spec.groups) {
    for (const SlurmFacts::Partition& partition : facts.partitions) {
      if (partition.name != group.partition || partition.nodes_spec.empty()) continue;
      const auto sets = split_text(partition.nodes_spec, ",");
      const bool takes_it = std::find(sets.begin(), sets.end(), group.group_feature()) != sets.end() ||
                            std::find(sets.begin(), sets.end(), "ALL") != sets.end();
      if (takes_it) continue;
      warnings.push_back("group " + group.name.str() + ": partition " + partition.name.str() +
                         " has Nodes=" + partition.nodes_spec + " and not NodeSet " + group.group_feature() +
                         ": unless one of these takes its nodes, no job will reach them");
    }
  }
  return warnings;
}

}  // namespace muster::logic
