// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads the members of one map of a configuration document: knows which keys were asked for, so that an unknown key is
// an error, and words every problem as FILE:LINE:COLUMN, what was expected, what was found. Gathers all problems of a
// file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logic/result.hpp"
#include "logic/time.hpp"
#include "logic/value.hpp"

namespace muster::logic {

/// The problems of one file, in the order met.
class Problems {
 public:
  explicit Problems(std::string file_name) : file_name_(std::move(file_name)) {}
  /// "FILE:LINE:COLUMN: text"
  void add(Place place, const std::string& text);
  bool empty() const { return lines_.empty(); }
  /// All of them, a line each, as a reject error.
  Error error() const;

 private:
  std::string file_name_;
  std::vector<std::string> lines_;
};

class FieldReader {
 public:
  /// title names the map in sentences ("group gpu"); map must outlive the reader.
  FieldReader(const Value& map, std::string title, Problems& problems);

  Place place_of(std::string_view key) const;
  bool has(std::string_view key) const { return map_.find(key) != nullptr; }
  std::string text(std::string_view key, std::string fallback);
  std::string required_text(std::string_view key);
  std::int64_t count(std::string_view key, std::int64_t fallback, std::int64_t low, std::int64_t high);
  std::int64_t required_count(std::string_view key, std::int64_t low, std::int64_t high);
  double real(std::string_view key, double fallback, double low, double high);
  bool flag(std::string_view key, bool fallback);
  /// One of the words of choices, as the value that stands beside it.
  template <typename T>
  T choice(std::string_view key, T fallback, const std::vector<std::pair<std::string_view, T>>& choices);
  /// "90 s", "15 min", "3 h", "500 ms"; a bare 0 too.
  Duration duration(std::string_view key, Duration fallback);
  /// "1000 MiB", "64 GiB", "2 TiB"; the result is in MiB.
  std::int64_t size_mib(std::string_view key, std::optional<std::int64_t> fallback);
  std::vector<std::string> texts(std::string_view key);
  /// A member map or list; null where absent (a problem is noted if it is required or of another kind).
  const Value* map(std::string_view key, bool required);
  const Value* list(std::string_view key, bool required);
  /// Notes every key that nobody asked for, with the nearest known one.
  void finish();

 private:
  const Value* take(std::string_view key);
  void wrong(std::string_view key, const Value& found, std::string_view expected);
  const Value& map_;
  std::string title_;
  Problems& problems_;
  std::vector<std::string> known_;
};

template <typename T>
T FieldReader::choice(std::string_view key, T fallback, const std::vector<std::pair<std::string_view, T>>& choices) {
  const Value* found = take(key);
  if (!found) return fallback;
  std::string words;
  for (const auto& [word, value] : choices) {
    if (const auto* text = found->as_text(); text && *text == word) return value;
    words += (words.empty() ? "" : " or ") + std::string(word);
  }
  wrong(key, *found, words);
  return fallback;
}

/// How a found value is quoted in sentences: 17, "text", a list.
std::string describe(const Value& value);
std::optional<Duration> parse_duration(std::string_view text);
std::optional<std::int64_t> parse_size_mib(std::string_view text);
/// "3 h", "2 min 5 s", "41 s", "850 ms": for people.
std::string duration_text(Duration duration);
/// A name of Slurm's and HyperPod's common form: 1-63 of letters, digits and inner hyphens.
bool is_plain_name(std::string_view text);

}  // namespace muster::logic
