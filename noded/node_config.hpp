// SPDX-License-Identifier: GPL-2.0-or-later
//
// noded.yaml as a plain struct, and the one table of its keys, which the man page test reads too.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "logic/cluster_spec.hpp"
#include "logic/result.hpp"
#include "logic/time.hpp"
#include "logic/value.hpp"

namespace muster::noded {

enum class IdentitySource { file, hostname };
enum class SlurmdBy { automatic, systemd, child };

struct NodeConfig {
  std::vector<std::string> servers;  ///< URLs, tried in turn
  std::vector<IdentitySource> identity_sources;
  std::string identity_file;
  std::string node_name;  ///< the name asked for; empty = any
  std::string address;    ///< empty = musterd takes where our requests come from
  std::string state_directory;
  std::string run_directory;
  std::string munge_socket;
  std::vector<std::string> head_users;  ///< musterd is believed where it proves to be one of these
  logic::Duration poll_wait{0};
  logic::Duration max_clock_skew{0};
  logic::Duration check_interval{0};
  logic::Duration check_patience{0};
  std::map<std::string, std::string> device_patterns;  ///< by GRES name
  std::string slurmd_program;
  SlurmdBy slurmd_by = SlurmdBy::automatic;
  std::string slurmd_unit;
  std::string conf_server;  ///< empty = what musterd says
  std::vector<std::string> slurmd_arguments;
};

const std::vector<logic::KeyInfo>& node_file_keys();

/// The configuration, or all that is wrong with it, a sentence a line with FILE:LINE:COLUMN.
logic::Result<NodeConfig> parse_node_config(const logic::Value& document, const std::string& file_name);
/// Reads the file first.
logic::Result<NodeConfig> load_node_config(const std::string& path);

}  // namespace muster::noded
