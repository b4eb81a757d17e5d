// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/field_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace muster::logic {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

constexpr std::array<Unit, 9> duration_units{{{"ms", 1},
                                              {"s", 1000},
                                              {"sec", 1000},
                                              {"min", 60'000},
                                              {"m", 60'000},
                                              {"h", 3'600'000},
                                              {"hours", 3'600'000},
                                              {"d", 86'400'000},
                                              {"days", 86'400'000}}};
constexpr std::array<Unit, 6> size_units{
    {{"MiB", 1}, {"M", 1}, {"GiB", 1024}, {"G", 1024}, {"TiB", 1024 * 1024}, {"T", 1024 * 1024}}};

/// "NUMBER UNIT" with a whole number of at most twelve digits.
template <std::size_t N>
std::optional<std::int64_t> parse_with_unit(std::string_view text, const std::array<Unit, N>& units) {
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0 || number > 999'999'999'999) return std::nullopt;
  std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  for (const Unit& known : units) {
    if (known.name == unit && number <= std::int64_t{9'000'000'000'000'000} / known.factor)
      return number * known.factor;
  }
  return std::nullopt;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

void Problems::add(Place place, const std::string& text) {
  std::string line = file_name_;
  if (place.line > 0) line += ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
  lines_.push_back(line + ": " + text);
}

Error Problems::error() const {
  std::string all;
  for (const std::string& line : lines_) {
    if (!all.empty()) all += '\n';
    all += line;
  }
  return reject_error(all);
}

FieldReader::FieldReader(const Value& map, std::string title, Problems& problems)
    : map_(map), title_(std::move(title)), problems_(problems) {}

const Value* FieldReader::take(std::string_view key) {
  known_.emplace_back(key);
  const Value* found = map_.find(key);
  return found && !found->is_null() ? found : nullptr;
}

void FieldReader::wrong(std::string_view key, const Value& found, std::string_view expected) {
  problems_.add(found.place, title_ + ": " + std::string(key) + ": expected " + std::string(expected) + ", found " +
                                 describe(found));
}

Place FieldReader::place_of(std::string_view key) const {
  const Value* found = map_.find(key);
  return found ? found->place : map_.place;
}

std::string FieldReader::text(std::string_view key, std::string fallback) {
  const Value* found = take(key);
  if (!found) return fallback;
  if (const auto* text = found->as_text()) return *text;
  wrong(key, *found, "a text");
  return fallback;
}

std::string FieldReader::required_text(std::string_view key) {
  const Value* found = take(key);
  if (!found) {
    problems_.add(map_.place,
                  title_ + ": " + std::string(key) + ": expected a text, found nothing (the key is required)");
    return {};
  }
  if (const auto* text = found->as_text(); text && !text->empty()) return *text;
  wrong(key, *found, "a text");
  return {};
}

std::int64_t FieldReader::count(std::string_view key, std::int64_t fallback, std::int64_t low, std::int64_t high) {
  const Value* found = take(key);
  if (!found) return fallback;
  const auto* number = found->as_integer();
  if (number && *number >= low && *number <= high) return *number;
  wrong(key, *found, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return fallback;
}

std::int64_t FieldReader::required_count(std::string_view key, std::int64_t low, std::int64_t high) {
  if (!map_.find(key)) {
    known_.emplace_back(key);
    problems_.add(map_.place, title_ + ": " + std::string(key) + ": expected a whole number from " +
                                  std::to_string(low) + " to " + std::to_string(high) +
                                  ", found nothing (the key is required)");
    return low;
  }
  return count(key, low, low, high);
}

double FieldReader::real(std::string_view key, double fallback, double low, double high) {
  const Value* found = take(key);
  if (!found) return fallback;
  const auto* whole = found->as_integer();
  const double number = whole ? static_cast<double>(*whole) : found->as_real() ? *found->as_real() : low - 1;
  if (number >= low && number <= high) return number;
  wrong(key, *found, "a number of " + std::to_string(static_cast<std::int64_t>(low)) + " or more");
  return fallback;
}

bool FieldReader::flag(std::string_view key, bool fallback) {
  const Value* found = take(key);
  if (!found) return fallback;
  if (const auto* flag = found->as_boolean()) return *flag;
  wrong(key, *found, "true or false");
  return fallback;
}

Duration FieldReader::duration(std::string_view key, Duration fallback) {
  const Value* found = take(key);
  if (!found) return fallback;
  if (const auto* text = found->as_text()) {
    if (const auto duration = parse_duration(*text)) return *duration;
  }
  if (const auto* number = found->as_integer(); number && *number == 0) return Duration{0};
  wrong(key, *found, "a duration such as \"90 s\", \"15 min\" or \"3 h\"");
  return fallback;
}

std::int64_t FieldReader::size_mib(std::string_view key, std::optional<std::int64_t> fallback) {
  const Value* found = take(key);
  if (!found) {
    if (!fallback) {
      problems_.add(map_.place, title_ + ": " + std::string(key) +
                                    ": expected a size such as \"64 GiB\", found nothing (the key is required)");
    }
    return fallback.value_or(1);
  }
  if (const auto* text = found->as_text()) {
    if (const auto size = parse_size_mib(*text); size && *size > 0) return *size;
  }
  wrong(key, *found, "a size such as \"1000 MiB\" or \"64 GiB\"");
  return fallback.value_or(1);
}

std::vector<std::string> FieldReader::texts(std::string_view key) {
  std::vector<std::string> all;
  const Value* found = take(key);
  if (!found) return all;
  if (const auto* text = found->as_text()) return {*text};
  if (!found->is_list()) wrong(key, *found, "a text or a list of texts");
  for (const Value& item : found->items()) {
    if (const auto* text = item.as_text()) {
      all.push_back(*text);
    } else {
      wrong(key, item, "a text");
    }
  }
  return all;
}

const Value* FieldReader::map(std::string_view key, bool required) {
  const Value* found = take(key);
  if (found && found->is_map()) return found;
  if (found) {
    wrong(key, *found, "a map");
  } else if (required) {
    problems_.add(map_.place,
                  title_ + ": " + std::string(key) + ": expected a map, found nothing (the key is required)");
  }
  return nullptr;
}

const Value* FieldReader::list(std::string_view key, bool required) {
  const Value* found = take(key);
  if (found && found->is_list()) return found;
  if (found) {
    wrong(key, *found, "a list");
  } else if (required) {
    problems_.add(map_.place,
                  title_ + ": " + std::string(key) + ": expected a list, found nothing (the key is required)");
  }
  return nullptr;
}

void FieldReader::finish() {
  for (const auto& [key, value] : map_.members()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    std::string text = title_ + ": unknown key \"" + key + "\"";
    const auto nearest =
        std::min_element(known_.begin(), known_.end(), [&, &wanted = key](const auto& a, const auto& b) {
          return edit_distance(a, wanted) < edit_distance(b, wanted);
        });
    if (nearest != known_.end() && key.size() < 64 && edit_distance(*nearest, key) <= 3) {
      text += "; did you mean \"" + *nearest + "\"?";
    }
    problems_.add(value.place, text);
  }
}

std::string describe(const Value& value) {
  if (const auto* text = value.as_text()) return "\"" + text->substr(0, 80) + "\"";
  if (const auto* number = value.as_integer()) return std::to_string(*number);
  if (const auto* real = value.as_real()) return std::to_string(*real);
  if (const auto* flag = value.as_boolean()) return *flag ? "true" : "false";
  return std::string(kind_name(value.kind()));
}

std::optional<Duration> parse_duration(std::string_view text) {
  const auto milliseconds = parse_with_unit(text, duration_units);
  if (!milliseconds) return std::nullopt;
  return Duration{*milliseconds};
}

std::optional<std::int64_t> parse_size_mib(std::string_view text) { return parse_with_unit(text, size_units); }

std::string duration_text(Duration duration) {
  std::int64_t milliseconds = duration.count();
  if (milliseconds < 0) return "-" + duration_text(-duration);
  if (milliseconds < 1000) return std::to_string(milliseconds) + " ms";
  if (milliseconds < 10'000 && milliseconds % 1000 != 0) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(milliseconds) / 1000.0);
    return text;
  }
  const std::int64_t seconds = milliseconds / 1000;
  const auto pair = [](std::int64_t big, const char* big_unit, std::int64_t small, const char* small_unit) {
    std::string text = std::to_string(big) + big_unit;
    if (small > 0) text += " " + std::to_string(small) + small_unit;
    return text;
  };
  if (seconds < 60) return std::to_string(seconds) + " s";
  if (seconds < 3600) return pair(seconds / 60, " min", seconds % 60, " s");
  if (seconds < 86'400) return pair(seconds / 3600, " h", seconds % 3600 / 60, " min");
  return pair(seconds / 86'400, " d", seconds % 86'400 / 3600, " h");
}

bool is_plain_name(std::string_view text) {
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (text.empty() || text.size() > 63 || !is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) { return is_alphanumeric(c) || c == '-'; });
}

}  // namespace muster::logic
