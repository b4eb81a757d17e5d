// SPDX-License-Identifier: GPL-2.0-or-later
//
// spank_muster.so: the list of SPANK callbacks. It lives in sbatch, salloc, srun and slurmstepd; only the client may
// refuse anything, since a failure on a node would drain it.
#include "spank_plugin/guard.hpp"
#include "spank_plugin/slurm_compat.hpp"
#include "spank_plugin/spank_options.hpp"

namespace muster::spank_plugin {
namespace {

int init(spank_t spank, int argument_count, char** arguments) {
  switch (spank_context()) {
    case S_CTX_LOCAL:
    case S_CTX_ALLOCATOR:
      if (argument_count > 0) {
        // The admin sees at once that the line says something we do not know.
        slurm_error("muster: plugstack.conf: unknown argument '%s': this module takes none", arguments[0]);
        return -1;
      }
      return register_options(spank);
    case S_CTX_REMOTE:
      // slurmstepd looks for the option that the client sent. Whatever goes wrong here, the job runs.
      register_options(spank);
      return 0;
    default: return 0;
  }
}

}  // namespace
}  // namespace muster::spank_plugin

// SPANK_PLUGIN() does nothing in C++: its constants get internal linkage. Each is extern first.
extern "C" {
MUSTER_EXPORT extern const char plugin_name[];
MUSTER_EXPORT extern const char plugin_type[];
MUSTER_EXPORT extern const unsigned int plugin_version;
MUSTER_EXPORT extern const unsigned int spank_plugin_version;
const char plugin_name[] = "muster";
const char plugin_type[] = "spank";
const unsigned int plugin_version = SLURM_VERSION_NUMBER;
const unsigned int spank_plugin_version = 1;

MUSTER_EXPORT int slurm_spank_init(spank_t spank, int argument_count, char** arguments) {
  return muster::spank_plugin::guarded([&] { return muster::spank_plugin::init(spank, argument_count, arguments); });
}
}
