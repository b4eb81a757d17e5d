// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/retry_policy.hpp"

#include <array>
#include <cstdint>

#include "logic/backoff.hpp"

namespace muster::logic {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// What passes by itself soon is tried soon; what needs a person or a returned machine is tried seldom. Capacity comes
// back within minutes, so its cap is low: an idle minute costs less than a missed machine.
constexpr std::array<RetryRule, 8> rules{{
    {FailureClass::capacity, seconds{2}, minutes{2}},
    {FailureClass::quota, seconds{30}, minutes{10}},
    {FailureClass::configuration, minutes{1}, minutes{30}},
    {FailureClass::transient, seconds{1}, minutes{1}},
    {FailureClass::boot_timeout, seconds{1}, minutes{10}},
    {FailureClass::never_registered, seconds{1}, minutes{10}},
    {FailureClass::lost, seconds{1}, minutes{10}},
    {FailureClass::unhealthy, seconds{1}, minutes{10}},
}};

std::uint64_t hash(std::string_view text, std::uint64_t seed) {
  std::uint64_t value = 14695981039346656037u ^ seed;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return value ^ (value >> 29);
}

}  // namespace

const RetryRule& retry_rule(FailureClass failure) {
  for (const RetryRule& rule : rules) {
    if (rule.failure == failure) return rule;
  }
  return rules[3];
}

Duration retry_delay(FailureClass failure, int failures_in_row, std::string_view salt) {
  const RetryRule& rule = retry_rule(failure);
  const auto chance = static_cast<double>(hash(salt, static_cast<std::uint64_t>(failures_in_row)) % 1000) / 1000.0;
  return backoff_delay({rule.first, 2.0, rule.cap, 0.25}, failures_in_row, chance);
}

}  // namespace muster::logic
