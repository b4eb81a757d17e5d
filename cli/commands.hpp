// SPDX-License-Identifier: GPL-2.0-or-later
//
// The subcommands: each makes one request and prints one answer, and returns the exit code. Their options as plain
// data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/head.hpp"

namespace muster::cli {

struct ApplyOptions {
  std::string file;
  bool dry_run = false;
};
int run_apply(const CommonOptions& common, const ApplyOptions& options);

struct StatusOptions {
  bool watch = false;
};
int run_status(const CommonOptions& common, const StatusOptions& options);

struct NodesOptions {
  std::string group;  ///< empty = all
};
int run_nodes(const CommonOptions& common, const NodesOptions& options);

struct EventsOptions {
  std::string group;  ///< empty = all
  std::int64_t count = 20;
  bool follow = false;
};
int run_events(const CommonOptions& common, const EventsOptions& options);

struct WhyOptions {
  std::string subject;
};
int run_why(const CommonOptions& common, const WhyOptions& options);

struct OpenOptions {
  std::string group;
  bool yes = false;
};
int run_open(const CommonOptions& common, const OpenOptions& options);

struct ScaleOptions {
  std::string group;
  std::optional<std::int64_t> target;
  std::optional<std::int64_t> min;
};
int run_scale(const CommonOptions& common, const ScaleOptions& options);

struct AddOptions {
  std::string group;
  std::int64_t count = 0;
};
int run_add(const CommonOptions& common, const AddOptions& options);

struct NodeNamesOptions {
  std::vector<std::string> nodes;  ///< names or host lists, as typed
  bool yes = false;
};
int run_remove(const CommonOptions& common, const NodeNamesOptions& options);
int run_replace(const CommonOptions& common, const NodeNamesOptions& options);
int run_reboot(const CommonOptions& common, const NodeNamesOptions& options);

struct DeleteOptions {
  std::string group;
  std::string cluster;
  bool yes = false;
};
int run_delete(const CommonOptions& common, const DeleteOptions& options);

struct WaitOptions {
  std::string group;
  std::string what;  ///< "inservice", "target", "deleted"
  std::string timeout = "30m";
};
int run_wait(const CommonOptions& common, const WaitOptions& options);

struct PlanOptions {};
int run_plan(const CommonOptions& common, const PlanOptions& options);

struct ResyncOptions {
  bool dry_run = false;
};
int run_resync(const CommonOptions& common, const ResyncOptions& options);

/// Works without musterd: it speaks to Slurm through the helper.
struct ReleaseOptions {
  bool all = false;
  std::string slurm_helper;  ///< path of muster-slurm
  std::string slurm_conf;    ///< empty = Slurm's own default
};
int run_release(const CommonOptions& common, const ReleaseOptions& options);

/// Works without musterd and without Slurm, as far as that goes.
struct DoctorOptions {
  std::string slurm_helper;  ///< path of muster-slurm; empty = musterd's
  std::string slurm_conf;    ///< empty = musterd's, or Slurm's own default
};
int run_doctor(const CommonOptions& common, const DoctorOptions& options);

/// Works without musterd: reads the file itself.
struct SimulateOptions {
  std::string file;
  std::optional<std::uint64_t> seed;
};
/// Plays a scenario in virtual time; needs neither musterd nor Slurm. Fails where a promise of muster was broken.
int run_simulate(const CommonOptions& common, const SimulateOptions& options);

struct SlurmConfOptions {
  std::string file;
};
int run_slurm_conf(const CommonOptions& common, const SlurmConfOptions& options);

}  // namespace muster::cli
