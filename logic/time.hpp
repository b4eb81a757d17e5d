// SPDX-License-Identifier: GPL-2.0-or-later
//
// Times and durations. Logic never reads a clock: it is given the time, so tests turn it by hand.
#pragma once

#include <chrono>
#include <cstdint>

namespace muster::logic {

using Duration = std::chrono::milliseconds;
/// A point in wall-clock time, kept to the millisecond. Deadlines that must survive a restart are Times, not Durations.
using Time = std::chrono::time_point<std::chrono::system_clock, Duration>;

/// "Never", "not yet", "not known": the epoch itself.
inline constexpr Time no_time{};

inline Time time_from_milliseconds(std::int64_t milliseconds) { return Time{Duration{milliseconds}}; }
inline std::int64_t to_milliseconds(Time time) { return time.time_since_epoch().count(); }
inline Time time_from_seconds(double seconds) { return Time{Duration{static_cast<std::int64_t>(seconds * 1000.0)}}; }
inline double to_seconds(Time time) { return static_cast<double>(time.time_since_epoch().count()) / 1000.0; }
inline double to_seconds(Duration duration) { return static_cast<double>(duration.count()) / 1000.0; }

}  // namespace muster::logic
