// SPDX-License-Identifier: GPL-2.0-or-later
//
// The subcommands: each makes one request and prints one answer, and returns the exit code. Their options as plain
// data.
#pragma once

#include <cstdint>
#include <string>

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
struct SlurmConfOptions {
  std::string file;
};
int run_slurm_conf(const CommonOptions& common, const SlurmConfOptions& options);

}  // namespace muster::cli
