// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the SPANK module adds to sbatch, salloc and srun.
#pragma once

#include "spank_plugin/slurm_compat.hpp"

namespace muster::spank_plugin {

/// Registers --min-count. Slurm carries its value to slurmctld by itself, where job_submit_muster.so reads it.
int register_options(spank_t spank);

}  // namespace muster::spank_plugin
