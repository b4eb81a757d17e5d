// SPDX-License-Identifier: GPL-2.0-or-later
//
// Slurm's files on this host: slurm.conf, topology.conf, plugstack.conf and plugin modules. Nothing is loaded and
// nothing of Slurm is called, so all of it works when Slurm does not.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "logic/doctor.hpp"
#include "logic/result.hpp"
#include "logic/slurm_conf_file.hpp"

namespace muster::sys {

/// SLURM_CONF, or the first of the usual places at which there is a file; empty where there is none.
std::string find_slurm_conf();
/// left_out: a file that it may include and that is not read.
logic::Result<logic::SlurmConfFile> load_slurm_conf(const std::string& path, const std::string& left_out = "");

/// The slurmctld that runs on this host, or its name where none does: what to ask for the version on disk.
std::string slurmctld_program();

/// The nodes that the topology.conf beside slurm.conf lists; nothing where it cannot be read.
std::optional<std::set<logic::NodeName>> load_topology(const std::string& slurm_conf);

/// The module in the first folder of the colon list that has it.
logic::PluginFile find_plugin(const std::string& plugin_dir, const std::string& file_name);

/// The job_submit module on the host of slurmctld, whose program has that version; slurm is what runs, or the file's.
logic::JobSubmitFacts find_job_submit(const logic::SlurmFacts& slurm, const std::string& plugin_dir,
                                      std::optional<logic::SlurmVersion> installed);

/// What plugstack.conf, with the files that it includes, says of the SPANK module. Does not know the cluster's version.
logic::SpankFacts find_spank_plugin(const std::string& plugstack, const std::string& plugin_dir,
                                    const std::string& file_name);

}  // namespace muster::sys
