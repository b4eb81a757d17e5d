// SPDX-License-Identifier: GPL-2.0-or-later
//
// Taking short texts apart.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace muster::logic {

/// The parts between separators; empty ones are left out.
inline std::vector<std::string_view> split_text(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = text.find_first_of(separators);
    if (end != 0) { parts.push_back(text.substr(0, end)); }
    if (end == std::string_view::npos) { break; }
    text.remove_prefix(end + 1);
  }
  return parts;
}

inline bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// The text as a whole number, if it is nothing else.
inline std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || end != text.data() + text.size()) { return std::nullopt; }
  return number;
}

}  // namespace muster::logic
