// SPDX-License-Identifier: GPL-2.0-or-later
//
// Chance that depends on the seed and the subject alone, not on the order of asking: trouble in one place does not
// throw the dice of another anew, so two runs of one seed differ only where they were made to differ.
#pragma once

#include <cstdint>
#include <string_view>

#include "logic/time.hpp"

namespace muster::simulator {

/// A duration between two bounds.
struct Spread {
  logic::Duration low{0};
  logic::Duration high{0};
  logic::Duration at(double number) const {
    return low + logic::Duration{static_cast<std::int64_t>(static_cast<double>((high - low).count()) * number)};
  }
};

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : seed_(seed) {}

  /// A number in [0, 1): always the same for the same subject and turn.
  double number(std::string_view subject, std::uint64_t turn = 0) const {
    std::uint64_t hash = 14695981039346656037u;
    for (const char c : subject) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return static_cast<double>(mixed(mixed(hash ^ seed_ * 0x9e3779b97f4a7c15u) + turn) >> 11) * 0x1.0p-53;
  }
  bool happens(double probability, std::string_view subject, std::uint64_t turn = 0) const {
    return probability > 0 && number(subject, turn) < probability;
  }
  logic::Duration duration(const Spread& spread, std::string_view subject, std::uint64_t turn = 0) const {
    return spread.at(number(subject, turn));
  }

 private:
  /// The finalizer of splitmix64.
  static std::uint64_t mixed(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
  }

  std::uint64_t seed_;
};

}  // namespace muster::simulator
