// SPDX-License-Identifier: GPL-2.0-or-later
//
// job_submit_muster.so: admits, holds or refuses a job at submission, by the gate table. Runs inside slurmctld, which
// holds read locks meanwhile: one small file is read, nothing is waited for, and on trouble the job is admitted.
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>

#include "logic/hold_rule.hpp"
#include "spank_plugin/gate_file.hpp"
#include "spank_plugin/guard.hpp"
#include "spank_plugin/job_request.hpp"
#include "spank_plugin/slurm_compat.hpp"

namespace muster::spank_plugin {
namespace {

using Verdict = logic::HoldDecision::Verdict;

/// The same trouble is logged again after this long.
constexpr auto log_again_after = std::chrono::minutes{5};

std::string gate_file_path() {
  // slurmctld's own environment, set by the admin; not the user's.
  const char* path = std::getenv("MUSTER_GATE_TABLE");
  return path != nullptr && path[0] == '/' ? path : MUSTER_RUNDIR "/gate-table";
}

/// Everything the module remembers between two jobs.
class Module {
 public:
  logic::HoldDecision decide(const logic::JobRequest& request) {
    const auto now = std::chrono::time_point_cast<logic::Duration>(std::chrono::system_clock::now());
    const std::lock_guard lock(mutex_);
    const auto& table = file_.read();
    if (!table) {
      log_trouble(table.error().message);
      return {};
    }
    if (table->time != logic::no_time && now - table->time > logic::gate_table_lifetime) {
      log_trouble("gate table " + file_.path() + ": not refreshed for 5 minutes: is musterd running?");
    } else {
      logged_.clear();
    }
    return logic::decide_hold(*table, request, now);
  }

 private:
  void log_trouble(const std::string& trouble) {
    const auto now = std::chrono::steady_clock::now();
    if (trouble == logged_ && now - logged_at_ < log_again_after) { return; }
    logged_ = trouble;
    logged_at_ = now;
    slurm_error("muster: %s; jobs are admitted without a hold", trouble.c_str());
  }

  std::mutex mutex_;
  GateFile file_{gate_file_path()};
  std::string logged_;
  std::chrono::steady_clock::time_point logged_at_;
};

Module& the_module() {
  static Module module;
  return module;
}

/// Slurm prints *message to the user. Another job_submit plugin may have written there before us.
void tell_user(char** message, const std::string& text) {
  if (message == nullptr) { return; }
  const std::string all = *message == nullptr ? text : std::string(*message) + "\n" + text;
  char* copy = slurm_xstrdup(all.c_str());
  if (*message != nullptr) { slurm_xfree(reinterpret_cast<void**>(message)); }
  *message = copy;
}

void set_admin_comment(job_desc_msg_t& job, const std::string& text) {
  if (job.admin_comment != nullptr) { slurm_xfree(reinterpret_cast<void**>(&job.admin_comment)); }
  job.admin_comment = slurm_xstrdup(text.c_str());
}

int submit(job_desc_msg_t* job, char** message) {
  if (job == nullptr) { return SLURM_SUCCESS; }
  const auto request = job_request_of(*job);
  const auto decision = the_module().decide(request);
  switch (decision.verdict) {
    case Verdict::admit: return SLURM_SUCCESS;
    case Verdict::refuse: tell_user(message, decision.text); return ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE;
    case Verdict::hold: break;
  }
  if (job->priority == 0) {
    // The user's own hold (sbatch -H) is the user's: without our AdminComment nobody but the user lifts it.
    tell_user(message, decision.text + "; the job is held by you too and stays so until you release it");
    return SLURM_SUCCESS;
  }
  job->priority = 0;
  set_admin_comment(*job, logic::held_comment(decision, request.min_count));
  tell_user(message, decision.text);
  return SLURM_SUCCESS;
}

}  // namespace
}  // namespace muster::spank_plugin

// Written one by one: a const at namespace scope has internal linkage in C++ unless it is extern first.
extern "C" {
MUSTER_EXPORT extern const char plugin_name[];
MUSTER_EXPORT extern const char plugin_type[];
MUSTER_EXPORT extern const std::uint32_t plugin_version;
const char plugin_name[] = "muster job submit plugin";
const char plugin_type[] = "job_submit/muster";
const std::uint32_t plugin_version = SLURM_VERSION_NUMBER;

MUSTER_EXPORT int job_submit(job_desc_msg_t* job, std::uint32_t submit_uid, char** err_msg);
MUSTER_EXPORT int job_modify(MUSTER_JOB_MODIFY_ARGUMENTS);

int job_submit(job_desc_msg_t* job, std::uint32_t /*submit_uid*/, char** err_msg) {
  return muster::spank_plugin::guarded([&] { return muster::spank_plugin::submit(job, err_msg); });
}

// Only the changed fields arrive here, and an AdminComment set here makes an ordinary user's update fail: a change is
// always let through, and the gate on the nodes does the rest.
int job_modify(MUSTER_JOB_MODIFY_ARGUMENTS) { return SLURM_SUCCESS; }
}
