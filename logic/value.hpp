// SPDX-License-Identifier: GPL-2.0-or-later
//
// Value: the one document model. sys/json and sys/yaml turn text into it; everything else reads and builds it, so no
// third-party document type leaves sys/. Each value knows the line and column it came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace muster::logic {

/// Where a value stood in its text; line and column count from 1; 0 = built by program or unknown.
struct Place {
  int line = 0;
  int column = 0;
};

class Value {
 public:
  enum class Kind { null, boolean, integer, real, text, list, map };
  using List = std::vector<Value>;
  /// Members in the order of the text. Documents are small or are read in order, so there is no index.
  using Map = std::vector<std::pair<std::string, Value>>;

  Value() = default;
  Value(bool flag) : content_(flag) {}                                        // NOLINT(google-explicit-constructor)
  Value(int number) : content_(std::int64_t{number}) {}                       // NOLINT(google-explicit-constructor)
  Value(std::int64_t number) : content_(number) {}                            // NOLINT(google-explicit-constructor)
  Value(std::uint32_t number) : content_(std::int64_t{number}) {}             // NOLINT(google-explicit-constructor)
  Value(std::size_t number) : content_(static_cast<std::int64_t>(number)) {}  // NOLINT(google-explicit-constructor)
  Value(double number) : content_(number) {}                                  // NOLINT(google-explicit-constructor)
  Value(std::string text) : content_(std::move(text)) {}                      // NOLINT(google-explicit-constructor)
  Value(std::string_view text) : content_(std::string(text)) {}               // NOLINT(google-explicit-constructor)
  Value(const char* text) : content_(std::string(text)) {}                    // NOLINT(google-explicit-constructor)
  Value(std::nullptr_t) = delete;                  // would be taken for a const char*; Value() is null
  Value(List list) : content_(std::move(list)) {}  // NOLINT(google-explicit-constructor)

  static Value map(std::initializer_list<std::pair<std::string, Value>> members = {}) {
    Value value;
    value.content_ = Map(members);
    return value;
  }
  /// A map of members whose keys the caller knows to differ.
  static Value map_of(Map members) {
    Value value;
    value.content_ = std::move(members);
    return value;
  }
  static Value list() { return Value(List{}); }

  Kind kind() const { return static_cast<Kind>(content_.index()); }
  bool is_null() const { return kind() == Kind::null; }
  bool is_map() const { return kind() == Kind::map; }
  bool is_list() const { return kind() == Kind::list; }
  bool is_text() const { return kind() == Kind::text; }

  /// The content if it has that kind, else null; an integer also answers to as_real.
  const bool* as_boolean() const { return std::get_if<bool>(&content_); }
  const std::int64_t* as_integer() const { return std::get_if<std::int64_t>(&content_); }
  const double* as_real() const { return std::get_if<double>(&content_); }
  const std::string* as_text() const { return std::get_if<std::string>(&content_); }
  const List* as_list() const { return std::get_if<List>(&content_); }
  const Map* as_map() const { return std::get_if<Map>(&content_); }

  /// The items of a list, the members of a map; empty where this is of another kind.
  const List& items() const;
  const Map& members() const;

  /// The member of a map; null if this is no map or has no such member.
  const Value* find(std::string_view key) const;
  /// Lenient readers for answers of our own programs: the fallback where the member is absent or of another kind.
  std::string text_or(std::string_view key, std::string fallback = {}) const;
  std::int64_t integer_or(std::string_view key, std::int64_t fallback = 0) const;
  double real_or(std::string_view key, double fallback = 0) const;
  bool boolean_or(std::string_view key, bool fallback = false) const;
  /// The member list; an empty list where it is absent or of another kind.
  const List& list_or_empty(std::string_view key) const;

  /// Sets (or replaces) a member; this must be a map or null (which becomes a map). Returns *this.
  Value& set(std::string key, Value value);
  /// Appends; this must be a list or null (which becomes a list).
  Value& push(Value value);

  Place place;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Map> content_;
};

/// "a whole number", "a text", "a list": how a kind is named in error sentences.
std::string_view kind_name(Value::Kind kind);

}  // namespace muster::logic
