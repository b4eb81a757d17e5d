// SPDX-License-Identifier: GPL-2.0-or-later
//
// Why musterd could not be reached, in the operator's words.
#pragma once

#include <string>

#include "logic/result.hpp"

namespace muster::cli {

/// No answer came from url: where it was looked for, why, and what to do. A local socket is looked at again for that.
logic::Error explained(const std::string& url, const logic::Error& error);

}  // namespace muster::cli
