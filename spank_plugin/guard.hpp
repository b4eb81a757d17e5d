// SPDX-License-Identifier: GPL-2.0-or-later
//
// The border to Slurm: no exception passes it, and errno leaves as it came (24.11 takes an errno left behind by
// job_modify for a failure of the user's update).
#pragma once

#include <cerrno>
#include <exception>

#include "spank_plugin/slurm_compat.hpp"

namespace muster::spank_plugin {

class ErrnoKeeper {
 public:
  ErrnoKeeper() : saved_(errno) {}
  ~ErrnoKeeper() { errno = saved_; }
  ErrnoKeeper(const ErrnoKeeper&) = delete;
  ErrnoKeeper& operator=(const ErrnoKeeper&) = delete;

 private:
  int saved_;
};

/// Runs body. If it throws, one line is logged and Slurm is told that all is well: we fail open.
template <typename Body>
int guarded(Body&& body) noexcept {
  const ErrnoKeeper keeper;
  try {
    return body();
  } catch (const std::exception& trouble) {
    slurm_error("muster: %s; the job goes on without muster", trouble.what());
  } catch (...) { slurm_error("muster: unknown trouble; the job goes on without muster"); }
  return SLURM_SUCCESS;
}

}  // namespace muster::spank_plugin
