// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a rendering function needs besides the answer: the time, and the looks of the place where the text goes. All
// render_* functions are pure: answer and view in, text out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "logic/text_layout.hpp"
#include "logic/time.hpp"
#include "logic/value.hpp"

namespace muster::cli {

struct View {
  logic::TextStyle style;
  logic::Time now = logic::no_time;
  /// The login name of a uid; the number as text where it has none.
  std::function<std::string(std::int64_t uid)> user_name;
  /// A time in the operator's zone: "2026-05-01 07:31:02".
  std::function<std::string(logic::Time time)> clock_text;
};

/// The text member, made safe for a terminal; empty where there is none.
std::string shown(const logic::Value& map, std::string_view key, const View& view);
/// The member as a time; nothing where it is absent, null or zero.
std::optional<logic::Time> time_member(const logic::Value& map, std::string_view key);
/// How a HyperPod status is coloured.
logic::Tone status_tone(std::string_view status);
/// The text without the full stop at its end, so that more can follow.
std::string without_stop(std::string text);

}  // namespace muster::cli
