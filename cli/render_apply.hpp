// SPDX-License-Identifier: GPL-2.0-or-later
//
// The answer to Muster.Apply as text: what changes per group, warnings, and what is done first.
#pragma once

#include <string>

#include "cli/view.hpp"

namespace muster::cli {

std::string render_apply(const logic::Value& answer, const View& view);

}  // namespace muster::cli
