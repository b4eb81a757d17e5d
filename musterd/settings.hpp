// SPDX-License-Identifier: GPL-2.0-or-later
//
// musterd.yaml as plain data, and the one table of its keys. Every key has a default, so the file may be absent.
#pragma once

#include <string>
#include <vector>

#include "logic/cluster_spec.hpp"
#include "logic/result.hpp"
#include "logic/time.hpp"
#include "logic/value.hpp"

namespace muster::musterd {

struct Settings {
  std::string state_directory = MUSTER_STATEDIR;
  std::string run_directory = MUSTER_RUNDIR;
  std::string socket;      ///< default RUN_DIRECTORY/musterd.sock
  std::string gate_table;  ///< default RUN_DIRECTORY/gate-table
  std::string listen_address = "0.0.0.0";
  int port = 6820;
  std::string munge_socket;                                ///< empty = munge's default
  std::string slurm_conf;                                  ///< empty = Slurm's default
  std::string node_file = "/etc/slurm/muster-nodes.conf";  ///< our include file of slurm.conf
  std::string slurm_helper = MUSTER_LIBEXECDIR "/muster-slurm";
  std::string conf_server =
      "auto";  ///< auto: the controller's host and port; none: nodes have a slurm.conf of their own
  logic::Duration pass_interval{std::chrono::seconds{2}};
  logic::Duration slurm_timeout{std::chrono::seconds{30}};
  int event_keep = 10000;
  logic::Duration event_age{std::chrono::hours{30 * 24}};
  std::string log_level = "info";
};

const std::vector<logic::KeyInfo>& settings_keys();
/// The settings, or all that is wrong with the file.
logic::Result<Settings> parse_settings(const logic::Value& document, const std::string& file_name);

}  // namespace muster::musterd
