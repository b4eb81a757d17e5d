// SPDX-License-Identifier: GPL-2.0-or-later
//
// The answer to Muster.Why as text: a title, then what it waits for, how far it is, since when, until when.
#pragma once

#include <string>

#include "cli/view.hpp"

namespace muster::cli {

std::string render_why(const logic::Value& answer, const View& view);

}  // namespace muster::cli
