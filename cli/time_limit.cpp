// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/time_limit.hpp"

#include "logic/field_reader.hpp"

namespace muster::cli {

std::optional<logic::Duration> read_time_limit(const std::string& text) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string::npos || digits > 9) return std::nullopt;
  const std::size_t begin = text.find_first_not_of(' ', digits);
  if (begin == std::string::npos) return std::nullopt;
  const std::string unit = text.substr(begin);
  return logic::parse_duration(text.substr(0, digits) + " " + (unit == "m" ? "min" : unit));
}

}  // namespace muster::cli
