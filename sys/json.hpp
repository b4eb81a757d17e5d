// SPDX-License-Identifier: GPL-2.0-or-later
//
// JSON text to Value and back (nlohmann-json inside). Parsing is bounded in size and depth and never throws.
#pragma once

#include <string>
#include <string_view>

#include "logic/result.hpp"
#include "logic/value.hpp"

namespace muster::sys {

/// The document, or a sentence with line and column. Refuses more than max_bytes, more than 64 levels, invalid UTF-8,
/// duplicate keys. No places are set in the values.
logic::Result<logic::Value> parse_json(std::string_view text, std::size_t max_bytes = 64u << 20);

/// One line, no blanks. Bytes that are not UTF-8 are replaced. pretty: two blanks of indent, for people.
std::string to_json(const logic::Value& value, bool pretty = false);

}  // namespace muster::sys
