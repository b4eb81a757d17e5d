// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace muster::sys {
namespace {

using logic::Place;
using logic::Value;

constexpr std::size_t max_bytes = 1u << 20;
constexpr std::size_t max_depth = 32;

/// A problem at a place; leaves yaml-cpp's parser as an exception and parse_yaml as an Error.
struct Problem {
  Place place;
  std::string text;
};

Place place_of(const YAML::Mark& mark) {
  if (mark.line < 0) return {};
  return {mark.line + 1, mark.column + 1};
}

bool only_of(std::string_view text, std::string_view letters) {
  return !text.empty() && text.find_first_not_of(letters) == std::string_view::npos;
}

std::optional<std::int64_t> whole_number(const std::string& text) {
  int base = 10;
  std::string_view digits = text;
  std::string_view allowed = "0123456789";
  if (text.rfind("0o", 0) == 0) {
    base = 8;
    allowed = "01234567";
    digits.remove_prefix(2);
  } else if (text.rfind("0x", 0) == 0) {
    base = 16;
    allowed = "0123456789abcdefABCDEF";
    digits.remove_prefix(2);
  } else if (text[0] == '+' || text[0] == '-') {
    digits.remove_prefix(1);
  }
  if (!only_of(digits, allowed)) return std::nullopt;
  const std::string number = base == 10 ? text : std::string(digits);
  errno = 0;
  const long long result = std::strtoll(number.c_str(), nullptr, base);
  if (errno == ERANGE) return std::nullopt;
  return result;
}

/// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool looks_real(std::string_view text) {
  std::size_t at = 0;
  const auto skip_digits = [&] {
    const std::size_t start = at;
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) ++at;
    return at - start;
  };
  const auto skip_one_of = [&](std::string_view letters) {
    const bool there = at < text.size() && letters.find(text[at]) != std::string_view::npos;
    if (there) ++at;
    return there;
  };
  skip_one_of("+-");
  const std::size_t whole = skip_digits();
  const std::size_t fraction = skip_one_of(".") ? skip_digits() : 0;
  if (whole + fraction == 0) return false;
  if (skip_one_of("eE")) {
    skip_one_of("+-");
    if (skip_digits() == 0) return false;
  }
  return at == text.size();
}

std::optional<double> special_real(std::string_view text) {
  std::string_view unsigned_text = text;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) unsigned_text.remove_prefix(1);
  if (unsigned_text == ".inf" || unsigned_text == ".Inf" || unsigned_text == ".INF") {
    const double infinity = std::numeric_limits<double>::infinity();
    return text[0] == '-' ? -infinity : infinity;
  }
  if (text == ".nan" || text == ".NaN" || text == ".NAN") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

/// A scalar without quotes, by YAML 1.2's core rules: yes and no are texts.
Value plain_scalar(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") return Value();
  if (text == "true" || text == "True" || text == "TRUE") return Value(true);
  if (text == "false" || text == "False" || text == "FALSE") return Value(false);
  if (const auto whole = whole_number(text)) return Value(*whole);
  if (const auto special = special_real(text)) return Value(*special);
  if (looks_real(text)) return Value(std::strtod(text.c_str(), nullptr));
  return Value(text);
}

class Builder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) throw Problem{place_of(mark), "a second document; one file holds one"};
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check(mark, "?", anchor);
    if (wants_key()) throw Problem{place_of(mark), "a key without a name"};
    add(Value(), mark);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw Problem{place_of(mark), "aliases (*name) are not accepted"};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    check(mark, tag, anchor);
    if (wants_key()) {
      add_key(text, mark);
    } else {
      add(tag == "!" ? Value(text) : plain_scalar(text), mark);
    }
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, false);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, true);
  }
  void OnMapEnd() override { close(); }

  Value take() { return std::move(document_); }

 private:
  struct Level {
    bool is_map = false;
    bool has_key = false;  ///< a map's last member still waits for its value
    Place place;
    Value::List items;
    Value::Map members;
  };

  bool wants_key() const { return !levels_.empty() && levels_.back().is_map && !levels_.back().has_key; }

  static void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) throw Problem{place_of(mark), "anchors (&name) are not accepted"};
    if (!tag.empty() && tag != "?" && tag != "!") throw Problem{place_of(mark), "tags (!name) are not accepted"};
  }
  void add_key(const std::string& name, const YAML::Mark& mark) {
    Level& level = levels_.back();
    for (const auto& member : level.members) {
      if (member.first == name) throw Problem{place_of(mark), "the key \"" + name + "\" stands here twice"};
    }
    level.members.emplace_back(name, Value());
    // A reader that misses a value's own place (null) still finds the key's.
    level.members.back().second.place = place_of(mark);
    level.has_key = true;
  }
  void add(Value value, const YAML::Mark& mark) {
    value.place = place_of(mark);
    put(std::move(value));
  }
  void put(Value value) {
    if (levels_.empty()) {
      document_ = std::move(value);
      return;
    }
    Level& level = levels_.back();
    if (level.is_map) {
      level.members.back().second = std::move(value);
      level.has_key = false;
    } else {
      level.items.push_back(std::move(value));
    }
  }
  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, bool is_map) {
    check(mark, tag, anchor);
    if (wants_key()) throw Problem{place_of(mark), "a key has to be a text"};
    if (levels_.size() >= max_depth)
      throw Problem{place_of(mark), "more than " + std::to_string(max_depth) + " levels"};
    Level level;
    level.is_map = is_map;
    level.place = place_of(mark);
    levels_.push_back(std::move(level));
  }
  void close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    Value value = level.is_map ? Value::map_of(std::move(level.members)) : Value(std::move(level.items));
    value.place = level.place;
    put(std::move(value));
  }

  int documents_ = 0;
  std::vector<Level> levels_;
  Value document_;
};

logic::Error error_at(const std::string& file_name, Place place, const std::string& text) {
  std::string sentence = file_name + ":";
  if (place.line > 0) sentence += std::to_string(place.line) + ":" + std::to_string(place.column) + ":";
  return logic::reject_error(sentence + " " + text);
}

}  // namespace

logic::Result<Value> parse_yaml(std::string_view text, const std::string& file_name) {
  if (text.size() > max_bytes) return error_at(file_name, {}, "larger than " + std::to_string(max_bytes) + " bytes");
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    return error_at(file_name, {}, "holds a NUL byte: not a text file");
  Builder builder;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {}
    return builder.take();
  } catch (const Problem& problem) {
    return error_at(file_name, problem.place, problem.text);
  } catch (const YAML::Exception& exception) {
    return error_at(file_name, place_of(exception.mark), exception.msg);
  } catch (const std::exception& exception) { return error_at(file_name, {}, exception.what()); }
}

}  // namespace muster::sys
