// SPDX-License-Identifier: GPL-2.0-or-later
//
// Host lists as Slurm writes them: "gpu-[1-4,6],login1". For showing many names shortly and for reading
// SLURM_STEP_NODELIST; what goes to slurmctld is made by libslurm's own functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "logic/result.hpp"

namespace muster::logic {

/// The names as one short text, each once: ordered by what stands before the number, then by the number. Leading zeros
/// are kept.
std::string compress_names(std::vector<std::string> names);

/// The names of a host list, in its order. An error where it is malformed, or gives more than max_names names, or is
/// longer than 1 MiB. Several brackets in one name ("r[1-2]n[1-4]") are read too.
Result<std::vector<std::string>> expand_names(std::string_view list, std::size_t max_names = 65536);

}  // namespace muster::logic
