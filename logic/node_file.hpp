// SPDX-License-Identifier: GPL-2.0-or-later
//
// registration: slurm_conf, the way for sites that must have every node in a file: an include file of slurm.conf that
// musterd alone writes, with all nodes of such groups. It changes when a target changes, never because a node arrives.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "logic/cluster_spec.hpp"
#include "logic/ledger.hpp"
#include "logic/seen.hpp"

namespace muster::logic {

/// The first line of the file; a file without it is not ours and is never written.
inline constexpr std::string_view node_file_mark = "# Written by musterd. Edits are lost; muster apply changes it.";

/// The whole file: State=UNKNOWN and known addresses (a FUTURE line would lose its drain at a restart of slurmctld, a
/// DRAIN line would close its group at each; 22.05 and 24.11, tried). Never without a line, as every Slurm command
/// complains of an empty include file.
std::string node_file_text(const ClusterSpec& spec, const Ledger& ledger);
/// The nodes that the file has, and their addresses.
std::map<NodeName, std::string> nodes_of_file(const ClusterSpec& spec, const Ledger& ledger);
/// Why these lines must not be put in place: slurmctld would not start with them, or the file is somebody else's. Empty
/// = they may. 22.05 has nothing that checks a configuration; later ones check it when they are told to read it.
std::string node_file_trouble(const std::map<NodeName, std::string>& lines, const SeenNodeFile& file);
/// Some group wants the file.
bool needs_node_file(const ClusterSpec& spec);

}  // namespace muster::logic
