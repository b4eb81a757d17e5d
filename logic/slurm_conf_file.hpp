// SPDX-License-Identifier: GPL-2.0-or-later
//
// slurm.conf and plugstack.conf as text: what the next start of slurmctld will find there, which is not always what the
// running one has. Reads only what muster asks about; Slurm's own reader stays the judge of the rest.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "logic/names.hpp"
#include "logic/result.hpp"
#include "logic/slurm_messages.hpp"

namespace muster::logic {

/// The content of a file that Include names: an absolute path.
using FileReader = std::function<Result<std::string>(const std::string& path)>;

/// What a slurm.conf says, with Slurm's defaults where it says nothing. What only a running slurmctld can know (its
/// version) is empty.
struct SlurmConfFile {
  std::string path;
  SlurmFacts facts;
  std::set<NodeName> nodes;          ///< those with a line of their own
  bool says_max_node_count = false;  ///< else facts.max_node_count is Slurm's default
  bool has_left_out = false;         ///< it includes the file that was to be left out
};

/// text is the content of the file at path; read_more is asked for those that it includes.
Result<SlurmConfFile> read_slurm_conf(std::string_view text, const std::string& path, const FileReader& read_more);

/// The nodes that a topology.conf lists.
std::set<NodeName> read_topology_conf(std::string_view text);

/// A line of plugstack.conf.
struct PlugstackLine {
  bool is_include = false;
  bool is_required = false;
  std::string path;  ///< of the plugin, or the pattern of files to include
};
std::vector<PlugstackLine> read_plugstack(std::string_view text);

}  // namespace muster::logic
