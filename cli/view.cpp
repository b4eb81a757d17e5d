// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/view.hpp"

namespace muster::cli {

std::string shown(const logic::Value& map, std::string_view key, const View& view) {
  return logic::safe_text(map.text_or(key), view.style);
}

std::optional<logic::Time> time_member(const logic::Value& map, std::string_view key) {
  const double seconds = map.real_or(key, 0);
  // Beyond year 9999 a time is rubbish, and its arithmetic would overflow.
  if (!(seconds > 0) || seconds > 253402300799.0) return std::nullopt;
  return logic::time_from_seconds(seconds);
}

logic::Tone status_tone(std::string_view status) {
  if (status == "InService" || status == "Running") return logic::Tone::good;
  if (status == "Failed" || status == "Failure" || status == "Error") return logic::Tone::bad;
  if (status == "Degraded" || status == "RollingBack" || status == "ShuttingDown" || status == "Warn") {
    return logic::Tone::warning;
  }
  return logic::Tone::plain;
}

std::string without_stop(std::string text) {
  if (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

}  // namespace muster::cli
