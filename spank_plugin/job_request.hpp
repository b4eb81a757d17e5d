// SPDX-License-Identifier: GPL-2.0-or-later
//
// From Slurm's job description to what the hold rule wants to know.
#pragma once

#include "logic/hold_rule.hpp"
#include "spank_plugin/slurm_compat.hpp"

namespace muster::spank_plugin {

/// Reads only; a field that was not given stays empty.
logic::JobRequest job_request_of(const job_desc_msg_t& job);

}  // namespace muster::spank_plugin
