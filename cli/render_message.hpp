// SPDX-License-Identifier: GPL-2.0-or-later
//
// The answer to an operation that says in a sentence what it did or will do, as text.
#pragma once

#include <string>

#include "cli/view.hpp"

namespace muster::cli {

std::string render_message(const logic::Value& answer, const View& view);

}  // namespace muster::cli
