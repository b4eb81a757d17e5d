// SPDX-License-Identifier: GPL-2.0-or-later
//
// muster release: which of Slurm's jobs muster holds, and what became of them, as text.
#pragma once

#include <string>

#include "logic/result.hpp"
#include "logic/value.hpp"

namespace muster::cli {

/// From the helper's answer to "jobs", the "jobs" of a release request: those that carry our hold. A job that a user or
/// an admin held is not among them.
logic::Result<logic::Value::List> jobs_to_release(const logic::Value& jobs_answer);

/// From the helper's answer to "release": {"Released": [7], "Failed": [{"JobId", "Message"}]}.
logic::Value release_outcome(const logic::Value& release_answer);

/// "released 2 jobs: 7, 9"
std::string render_release(const logic::Value& outcome);

}  // namespace muster::cli
