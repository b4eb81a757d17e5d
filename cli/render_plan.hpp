// SPDX-License-Identifier: GPL-2.0-or-later
//
// The answers to Muster.Plan and Muster.Resync as text: what is done next, what is told of it, what could not be looked
// at.
#pragma once

#include <string>

#include "cli/view.hpp"

namespace muster::cli {

std::string render_plan(const logic::Value& answer, const View& view);
std::string render_resync(const logic::Value& answer, const View& view);

}  // namespace muster::cli
