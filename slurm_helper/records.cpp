// SPDX-License-Identifier: GPL-2.0-or-later
#include "slurm_helper/records.hpp"

#include <array>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

#include "slurm_helper/host_names.hpp"

namespace muster::slurm_helper {
namespace {

using logic::Value;

Value text(const char* value) { return value == nullptr ? Value() : Value(value); }

/// NO_VAL stands for "not set", INFINITE for "no limit"; neither is a number for our readers.
Value count(std::uint32_t value) { return value == NO_VAL || value == INFINITE ? Value() : Value(value); }

Value time(std::time_t value) { return value <= 0 ? Value() : Value(std::int64_t{value}); }

std::string_view base_state_name(std::uint32_t state) {
  switch (state & NODE_STATE_BASE) {
    case NODE_STATE_DOWN: return "DOWN";
    case NODE_STATE_IDLE: return "IDLE";
    case NODE_STATE_ALLOCATED: return "ALLOCATED";
    case NODE_STATE_ERROR: return "ERROR";
    case NODE_STATE_MIXED: return "MIXED";
    case NODE_STATE_FUTURE: return "FUTURE";
    default: return "UNKNOWN";
  }
}

struct FlagName {
  std::uint64_t bit;
  std::string_view name;
};
constexpr std::array flag_names = {
    FlagName{NODE_STATE_RES, "RES"},
    FlagName{NODE_STATE_CLOUD, "CLOUD"},
    FlagName{NODE_STATE_DRAIN, "DRAIN"},
    FlagName{NODE_STATE_COMPLETING, "COMPLETING"},
    FlagName{NODE_STATE_NO_RESPOND, "NO_RESPOND"},
    FlagName{NODE_STATE_POWERED_DOWN, "POWERED_DOWN"},
    FlagName{NODE_STATE_FAIL, "FAIL"},
    FlagName{NODE_STATE_POWERING_UP, "POWERING_UP"},
    FlagName{NODE_STATE_MAINT, "MAINT"},
    FlagName{NODE_STATE_REBOOT_REQUESTED, "REBOOT_REQUESTED"},
    FlagName{NODE_STATE_POWERING_DOWN, "POWERING_DOWN"},
    FlagName{NODE_STATE_DYNAMIC_FUTURE, "DYNAMIC_FUTURE"},
    FlagName{NODE_STATE_REBOOT_ISSUED, "REBOOT_ISSUED"},
    FlagName{NODE_STATE_PLANNED, "PLANNED"},
    FlagName{NODE_STATE_INVALID_REG, "INVALID_REG"},
    FlagName{NODE_STATE_POWER_DOWN, "POWER_DOWN"},
    FlagName{NODE_STATE_POWER_UP, "POWER_UP"},
    FlagName{NODE_STATE_POWER_DRAIN, "POWER_DRAIN"},
    FlagName{NODE_STATE_DYNAMIC_NORM, "DYNAMIC_NORM"},
};

template <std::size_t size>
Value names_of(const std::array<FlagName, size>& flags, std::uint64_t bits) {
  Value names = Value::list();
  for (const FlagName& flag : flags) {
    if ((bits & flag.bit) != 0) names.push(Value(flag.name));
  }
  return names;
}

/// Those that tell how a reservation takes nodes.
constexpr std::array reservation_flag_names = {
    FlagName{RESERVE_FLAG_MAINT, "MAINT"},           FlagName{RESERVE_FLAG_IGN_JOBS, "IGNORE_JOBS"},
    FlagName{RESERVE_FLAG_HOURLY, "HOURLY"},         FlagName{RESERVE_FLAG_DAILY, "DAILY"},
    FlagName{RESERVE_FLAG_WEEKLY, "WEEKLY"},         FlagName{RESERVE_FLAG_WEEKDAY, "WEEKDAY"},
    FlagName{RESERVE_FLAG_WEEKEND, "WEEKEND"},       FlagName{RESERVE_FLAG_ANY_NODES, "ANY_NODES"},
    FlagName{RESERVE_FLAG_STATIC, "STATIC"},         FlagName{RESERVE_FLAG_PART_NODES, "PART_NODES"},
    FlagName{RESERVE_FLAG_OVERLAP, "OVERLAP"},       FlagName{RESERVE_FLAG_SPEC_NODES, "SPEC_NODES"},
    FlagName{RESERVE_FLAG_TIME_FLOAT, "TIME_FLOAT"}, FlagName{RESERVE_FLAG_REPLACE, "REPLACE"},
    FlagName{RESERVE_FLAG_ALL_NODES, "ALL_NODES"},   FlagName{RESERVE_FLAG_FLEX, "FLEX"},
    FlagName{RESERVE_FLAG_MAGNETIC, "MAGNETIC"},     FlagName{RESERVE_FLAG_REPLACE_DOWN, "REPLACE_DOWN"},
};

constexpr std::array reconfig_flag_names = {
    FlagName{RECONFIG_KEEP_PART_INFO, "KeepPartInfo"},
    FlagName{RECONFIG_KEEP_PART_STAT, "KeepPartState"},
};

std::string_view enforcement_name(std::uint16_t value) {
  switch (value) {
    case PARTITION_ENFORCE_ALL: return "ALL";
    case PARTITION_ENFORCE_ANY: return "ANY";
    default: return "NO";
  }
}

/// A 16-bit field's own "not set" and "no limit".
Value count16(std::uint16_t value) { return value == NO_VAL16 || value == INFINITE16 ? Value() : Value(value); }

std::string_view job_state_name(std::uint32_t state) {
  if ((state & JOB_COMPLETING) != 0) return "COMPLETING";
  switch (state & JOB_STATE_BASE) {
    case JOB_PENDING: return "PENDING";
    case JOB_RUNNING: return "RUNNING";
    case JOB_SUSPENDED: return "SUSPENDED";
    case JOB_COMPLETE: return "COMPLETED";
    case JOB_CANCELLED: return "CANCELLED";
    case JOB_FAILED: return "FAILED";
    case JOB_TIMEOUT: return "TIMEOUT";
    case JOB_NODE_FAIL: return "NODE_FAIL";
    case JOB_PREEMPTED: return "PREEMPTED";
    case JOB_BOOT_FAIL: return "BOOT_FAIL";
    case JOB_DEADLINE: return "DEADLINE";
    case JOB_OOM: return "OUT_OF_MEMORY";
    default: return "UNKNOWN";
  }
}

/// The reasons that concern us, as squeue names them (libslurm's own function for this is not in its headers).
std::string reason_name(std::uint32_t reason) {
  switch (reason) {
    case WAIT_NO_REASON: return "None";
    case WAIT_PRIORITY: return "Priority";
    case WAIT_DEPENDENCY: return "Dependency";
    case WAIT_RESOURCES: return "Resources";
    case WAIT_PART_NODE_LIMIT: return "PartitionNodeLimit";
    case WAIT_PART_TIME_LIMIT: return "PartitionTimeLimit";
    case WAIT_PART_DOWN: return "PartitionDown";
    case WAIT_PART_INACTIVE: return "PartitionInactive";
    case WAIT_PART_CONFIG: return "PartitionConfig";
    case WAIT_HELD: return "JobHeldAdmin";
    case WAIT_HELD_USER: return "JobHeldUser";
    case WAIT_TIME: return "BeginTime";
    case WAIT_LICENSES: return "Licenses";
    case WAIT_RESERVATION: return "Reservation";
    case WAIT_NODE_NOT_AVAIL: return "ReqNodeNotAvail";
    case WAIT_ARRAY_TASK_LIMIT: return "JobArrayTaskLimit";
    case WAIT_MAX_REQUEUE: return "JobHoldMaxRequeue";
    case WAIT_ACCOUNT_POLICY: return "AccountingPolicy";
    case FAIL_BAD_CONSTRAINTS: return "BadConstraints";
    case FAIL_DOWN_NODE: return "NodeDown";
    case FAIL_DOWN_PARTITION: return "PartitionDown";
    case FAIL_LAUNCH: return "JobLaunchFailure";
    default: return "Reason" + std::to_string(reason);
  }
}

std::string_view partition_state_name(std::uint16_t state) {
  switch (state) {
    case PARTITION_UP: return "UP";
    case PARTITION_DOWN: return "DOWN";
    case PARTITION_DRAIN: return "DRAIN";
    case PARTITION_INACTIVE: return "INACTIVE";
    default: return "UNKNOWN";
  }
}

Value member_map(std::initializer_list<std::pair<std::string, Value>> members) { return Value::map(members); }

}  // namespace

bool is_active(const slurm_job_info_t& job) {
  return (job.job_state & JOB_STATE_BASE) <= JOB_SUSPENDED || (job.job_state & JOB_COMPLETING) != 0;
}

Value node_value(const node_info_t& node) {
  const bool has_reason = node.reason != nullptr && *node.reason != '\0';
  return member_map({
      {"name", text(node.name)},
      {"state", base_state_name(node.node_state)},
      {"flags", names_of(flag_names, node.node_state)},
      {"reason", has_reason ? Value(node.reason) : Value()},
      {"reason_uid", has_reason ? count(node.reason_uid) : Value()},
      {"reason_time", has_reason ? time(node.reason_time) : Value()},
      {"address", text(node.node_addr)},
      {"hostname", text(node.node_hostname)},
      {"cpus", Value(static_cast<int>(node.cpus))},
      {"memory_mib", Value(static_cast<std::int64_t>(node.real_memory))},
      {"gres", text(node.gres)},
      {"features", text(node.features)},
      {"partitions", text(node.partitions)},
      {"boot_time", time(node.boot_time)},
      {"slurmd_start_time", time(node.slurmd_start_time)},
      {"version", text(node.version)},
  });
}

Value job_value(const slurm_job_info_t& job) {
  return member_map({
      {"id", Value(job_id_of(job))},
      {"array_job_id", job.array_job_id == 0 ? Value() : Value(job.array_job_id)},
      {"array_task", count(job.array_task_id)},
      {"array_tasks", text(job.array_task_str)},
      {"het_job_id", job.het_job_id == 0 ? Value() : count(job.het_job_id)},
      {"name", text(job.name)},
      {"user_id", Value(job.user_id)},
      {"partition", text(job.partition)},
      {"state", job_state_name(job.job_state)},
      {"priority", count(job.priority)},
      {"reason", Value(reason_name(job.state_reason))},
      {"reason_text", text(job.state_desc)},
      {"min_nodes", count(job.num_nodes)},
      {"max_nodes", job.max_nodes == 0 ? Value() : count(job.max_nodes)},
      {"num_tasks", count(job.num_tasks)},
      {"features", text(job.features)},
      {"tres_per_node", text(job.tres_per_node)},
      {"admin_comment", text(job.admin_comment)},
      {"comment", text(job.comment)},
      {"submit_time", time(job.submit_time)},
      {"start_time", time(job.start_time)},
      {"nodes", text(job.nodes)},
      {"required_nodes", job.req_nodes == nullptr ? Value() : Value(normal_form(job.req_nodes))},
  });
}

Value reservation_value(const reserve_info_t& reservation) {
  return member_map({
      {"name", text(reservation.name)},
      {"nodes", text(reservation.node_list)},
      {"start_time", time(reservation.start_time)},
      {"end_time", time(reservation.end_time)},
      {"flags", names_of(reservation_flag_names, reservation.flags)},
  });
}

Value partition_value(const partition_info_t& partition) {
  return member_map({
      {"name", text(partition.name)},
      {"default", Value((partition.flags & PART_FLAG_DEFAULT) != 0)},
      {"nodes_spec", text(partition.nodesets)},
      {"nodes", text(partition.nodes)},
      {"state", partition_state_name(partition.state_up)},
      {"total_nodes", Value(partition.total_nodes)},
      {"max_nodes", count(partition.max_nodes)},
      {"suspend_time", count(partition.suspend_time)},
      {"suspend_never", Value(partition.suspend_time == INFINITE)},
  });
}

Value config_value(const slurm_conf_t& config) {
  Value hosts = Value::list();
  for (std::uint32_t index = 0; index < config.control_cnt; ++index) hosts.push(text(config.control_machine[index]));
  return member_map({
      {"max_node_count", count(config.max_node_cnt)},
      {"slurm_user_uid", Value(config.slurm_user_id)},
      {"slurm_user", text(config.slurm_user_name)},
      {"version", text(config.version)},
      {"helper_version", Value(built_for_version())},
      {"slurm_conf", text(config.slurm_conf)},
      {"cluster_name", text(config.cluster_name)},
      {"return_to_service", Value(static_cast<int>(config.ret2service))},
      {"job_submit_plugins", text(config.job_submit_plugins)},
      {"gres_types", text(config.gres_plugins)},
      {"controller_hosts", std::move(hosts)},
      {"controller_port", Value(config.slurmctld_port)},
      {"plugin_dir", text(config.plugindir)},
      {"plugstack", text(config.plugstack)},
      {"slurmctld_parameters", text(config.slurmctld_params)},
      {"scheduler_parameters", text(config.sched_params)},
      {"select_type", text(config.select_type)},
      {"topology_plugin", text(config.topology_plugin)},
      {"topology_param", text(config.topology_param)},
      {"suspend_program", text(config.suspend_program)},
      {"suspend_time", count(config.suspend_time)},
      {"suspend_exc_nodes", text(config.suspend_exc_nodes)},
      {"suspend_exc_parts", text(config.suspend_exc_parts)},
      {"suspend_exc_states", text(suspend_exc_states_of(config))},
      {"reconfig_flags", names_of(reconfig_flag_names, config.reconfig_flags)},
      {"enforce_part_limits", enforcement_name(config.enforce_part_limits)},
      {"slurmctld_timeout", count16(config.slurmctld_timeout)},
      {"slurmd_timeout", count16(config.slurmd_timeout)},
      {"tree_width", count16(config.tree_width)},
      {"auth_type", text(config.authtype)},
  });
}

}  // namespace muster::slurm_helper
