// SPDX-License-Identifier: GPL-2.0-or-later
//
// YAML text to Value (yaml-cpp inside), every value with its line and column. Never throws.
#pragma once

#include <string>
#include <string_view>

#include "logic/result.hpp"
#include "logic/value.hpp"

namespace muster::sys {

/// The document, or "FILE:LINE:COLUMN: what is wrong". file_name is only for that sentence. Plain scalars become
/// null, true/false, whole numbers or reals by YAML 1.2's core rules; quoted ones stay text. Refuses more than 1 MiB,
/// more than 32 levels, duplicate keys, aliases and anchors, tags, and several documents in one file.
logic::Result<logic::Value> parse_yaml(std::string_view text, const std::string& file_name);

}  // namespace muster::sys
