// SPDX-License-Identifier: GPL-2.0-or-later
//
// The one place that knows how libslurm's interface differs from version to version (22.05 to 26.05 were
// read; 22.05, 24.11 and 26.05 were tried). Members that come and go are found by their presence in the headers, not by
// a version number, so that the versions between the tried ones build too. errno is used everywhere: slurm_get_errno(),
// which only returned it, is gone since 23.02.
#pragma once

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
}

#include <dlfcn.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <type_traits>

namespace muster::slurm_helper {

static_assert(SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(22, 5, 0), "dynamic nodes begin with Slurm 22.05");

/// hostlist_t is the pointer itself up to 22.05 and the thing pointed to since 23.02.
using HostlistPointer = decltype(slurm_hostlist_create(nullptr));

namespace detail {

template <typename Message>
auto set_reason_uid(Message& message, uid_t uid, int) -> decltype(message.reason_uid, void()) {
  message.reason_uid = uid;
}
template <typename Message>
void set_reason_uid(Message&, uid_t, long) {}  // gone in 26.05: slurmctld takes the sender's

template <typename Job>
auto job_id(const Job& job, int) -> decltype(job.step_id.job_id, std::uint32_t{}) {
  return job.step_id.job_id;
}
template <typename Job>
auto job_id(const Job& job, long) -> decltype(job.job_id) {
  return job.job_id;
}

template <typename Config>
auto suspend_exc_states(const Config& config, int) -> decltype(config.suspend_exc_states) {
  return config.suspend_exc_states;
}
template <typename Config>
const char* suspend_exc_states(const Config&, long) {  // since 23.02
  return nullptr;
}

template <typename Response>
auto job_error_text(const Response& response, std::uint32_t index, int)
    -> std::decay_t<decltype(response.err_msg[index])> {
  return response.err_msg != nullptr ? response.err_msg[index] : nullptr;
}
template <typename Response>
const char* job_error_text(const Response&, std::uint32_t, long) {  // since 23.02
  return nullptr;
}

// The names depend on the argument, so that one which is not declared is no error.
template <typename Config>
auto free_config(Config* config, int) -> decltype(slurm_free_ctl_conf(config)) {
  slurm_free_ctl_conf(config);
}
template <typename Config>
auto free_config(Config* config, long) -> decltype(slurm_free_conf(config)) {  // its name in 26.05
  slurm_free_conf(config);
}

}  // namespace detail

/// Who set a reason; ignored by versions that know it from the credential.
inline void set_reason_uid(update_node_msg_t& message, uid_t uid) { detail::set_reason_uid(message, uid, 0); }
inline std::uint32_t job_id_of(const slurm_job_info_t& job) { return detail::job_id(job, 0); }
inline const char* job_error_text(const job_array_resp_msg_t& response, std::uint32_t index) {
  return detail::job_error_text(response, index, 0);
}

inline const char* suspend_exc_states_of(const slurm_conf_t& config) { return detail::suspend_exc_states(config, 0); }

struct HostlistDestroy {
  void operator()(std::remove_pointer_t<HostlistPointer>* list) const { slurm_hostlist_destroy(list); }
};
using Hostlist = std::unique_ptr<std::remove_pointer_t<HostlistPointer>, HostlistDestroy>;

inline void free_config(slurm_conf_t* config) { detail::free_config(config, 0); }

template <auto release>
struct ReleaseWith {
  template <typename Message>
  void operator()(Message* message) const {
    release(message);
  }
};
using NodeMessage = std::unique_ptr<node_info_msg_t, ReleaseWith<slurm_free_node_info_msg>>;
using JobMessage = std::unique_ptr<job_info_msg_t, ReleaseWith<slurm_free_job_info_msg>>;
using PartitionMessage = std::unique_ptr<partition_info_msg_t, ReleaseWith<slurm_free_partition_info_msg>>;
using ReservationMessage = std::unique_ptr<reserve_info_msg_t, ReleaseWith<slurm_free_reservation_info_msg>>;
using ConfigMessage = std::unique_ptr<slurm_conf_t, ReleaseWith<free_config>>;
using JobResponse = std::unique_ptr<job_array_resp_msg_t, ReleaseWith<slurm_free_job_array_resp>>;

/// "22.05.8": what the helper was built for. libslurm tells only the number of its interface (38), and its file name
/// pins that to one Slurm release.
inline std::string built_for_version() {
  constexpr unsigned long version = SLURM_VERSION_NUMBER;
  const auto two_digits = [](unsigned long number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  return two_digits(SLURM_VERSION_MAJOR(version)) + "." + two_digits(SLURM_VERSION_MINOR(version)) + "." +
         std::to_string(SLURM_VERSION_MICRO(version));
}

/// The names of slurm.conf's NodeSets. No public call lists them; slurm_conf_nodeset_array and its record are
/// libslurm's own (src/common/read_config.h; the same in 22.05, 24.11 and 26.05, tried), so it is looked up, and its
/// absence means none.
inline std::set<std::string> configured_node_sets() {
  struct NodeSet {
    char* feature;
    char* name;
    char* nodes;
  };
  using ReadNodeSets = int (*)(NodeSet***);
  std::set<std::string> names;
  void* symbol = dlsym(RTLD_DEFAULT, "slurm_conf_nodeset_array");
  if (symbol == nullptr) return names;
  NodeSet** sets = nullptr;
  const int count = reinterpret_cast<ReadNodeSets>(symbol)(&sets);
  for (int index = 0; index < count; ++index) {
    if (sets[index]->name != nullptr) names.insert(sets[index]->name);
  }
  return names;
}

/// slurm.conf as libslurm itself has read it: known also while no slurmctld answers. The type is public, the variable
/// is not (src/common/read_config.h; exported by 22.05, 24.11 and 26.05, tried); null where it is not exported.
inline const slurm_conf_t* own_config() { return static_cast<const slurm_conf_t*>(dlsym(RTLD_DEFAULT, "slurm_conf")); }

}  // namespace muster::slurm_helper
