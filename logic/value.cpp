// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/value.hpp"

#include <cassert>

namespace muster::logic {

const Value::List& Value::items() const {
  static const List none;
  const List* list = as_list();
  return list ? *list : none;
}

const Value::Map& Value::members() const {
  static const Map none;
  const Map* map = as_map();
  return map ? *map : none;
}

const Value* Value::find(std::string_view key) const {
  for (const auto& [name, value] : members()) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string Value::text_or(std::string_view key, std::string fallback) const {
  const Value* member = find(key);
  return member && member->as_text() ? *member->as_text() : std::move(fallback);
}

std::int64_t Value::integer_or(std::string_view key, std::int64_t fallback) const {
  const Value* member = find(key);
  if (!member) return fallback;
  if (const auto* whole = member->as_integer()) return *whole;
  if (const auto* real = member->as_real(); real && *real > -9e15 && *real < 9e15)
    return static_cast<std::int64_t>(*real);
  return fallback;
}

double Value::real_or(std::string_view key, double fallback) const {
  const Value* member = find(key);
  if (!member) return fallback;
  if (const auto* real = member->as_real()) return *real;
  if (const auto* whole = member->as_integer()) return static_cast<double>(*whole);
  return fallback;
}

bool Value::boolean_or(std::string_view key, bool fallback) const {
  const Value* member = find(key);
  return member && member->as_boolean() ? *member->as_boolean() : fallback;
}

const Value::List& Value::list_or_empty(std::string_view key) const {
  static const Value none;
  const Value* member = find(key);
  return (member ? *member : none).items();
}

Value& Value::set(std::string key, Value value) {
  if (is_null()) content_ = Map{};
  Map* members = std::get_if<Map>(&content_);
  assert(members && "Value::set needs a map");
  for (auto& [name, old] : *members) {
    if (name == key) {
      old = std::move(value);
      return *this;
    }
  }
  members->emplace_back(std::move(key), std::move(value));
  return *this;
}

Value& Value::push(Value value) {
  if (is_null()) content_ = List{};
  List* items = std::get_if<List>(&content_);
  assert(items && "Value::push needs a list");
  items->push_back(std::move(value));
  return *this;
}

std::string_view kind_name(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::null: return "nothing";
    case Value::Kind::boolean: return "true or false";
    case Value::Kind::integer: return "a whole number";
    case Value::Kind::real: return "a number";
    case Value::Kind::text: return "a text";
    case Value::Kind::list: return "a list";
    case Value::Kind::map: return "a map";
  }
  return "something unknown";
}

}  // namespace muster::logic
