// SPDX-License-Identifier: GPL-2.0-or-later
//
// Everything that depends on Slurm's version, 22.05 to 26.05, and what its public headers leave out. No other file of
// the plugins includes a Slurm header or asks for SLURM_VERSION_NUMBER.
#pragma once

#include <cstdint>

// spank.h declares its callbacks outside its own guard: without this they would have C++ linkage.
extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>
#include <slurm/spank.h>

// Defined in Slurm's own programs. Text that Slurm will free has to come from here: its xfree steps back to a header
// that strdup does not write.
char* slurm_xstrdup(const char* text);
void slurm_xfree(void** text);

// The job record of slurmctld is not public; we only pass it by.
struct job_record;
}

static_assert(SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(22, 5, 0), "Slurm 22.05 or newer");

// -fvisibility=hidden hides everything; a version script cannot bring back what the compiler hid.
#define MUSTER_EXPORT __attribute__((visibility("default")))

// job_modify got its fourth argument in 23.02.
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
#define MUSTER_JOB_MODIFY_ARGUMENTS job_desc_msg_t*, job_record*, std::uint32_t, char**
#else
#define MUSTER_JOB_MODIFY_ARGUMENTS job_desc_msg_t*, job_record*, std::uint32_t
#endif
