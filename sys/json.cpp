// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/json.hpp"

#include <cmath>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

namespace muster::sys {
namespace {

using logic::Value;

constexpr std::size_t max_depth = 64;
/// Above this many members a map gets an index for the search of duplicate keys.
constexpr std::size_t small_map = 16;

/// Walks over the text and leaves its position where the handler below can see it: nlohmann tells places only of
/// syntax errors.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** position) : at_(at), position_(position) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *position_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator!=(const CountingIterator& a, const CountingIterator& b) { return a.at_ != b.at_; }

 private:
  const char* at_;
  const char** position_;
};

/// nlohmann's event handler: builds Values, so that no nlohmann document is made.
class Builder {
 public:
  bool null() { return add(Value()); }
  bool boolean(bool flag) { return add(Value(flag)); }
  bool number_integer(std::int64_t number) { return add(Value(number)); }
  bool number_unsigned(std::uint64_t number) {
    if (number > static_cast<std::uint64_t>(INT64_MAX)) return add(Value(static_cast<double>(number)));
    return add(Value(static_cast<std::int64_t>(number)));
  }
  bool number_float(double number, const std::string& /*text*/) { return add(Value(number)); }
  bool string(std::string& text) { return add(Value(std::move(text))); }
  bool binary(std::vector<std::uint8_t>& /*bytes*/) { return fail("binary values are not accepted"); }
  bool start_object(std::size_t /*size*/) { return open(Level::map()); }
  bool start_array(std::size_t /*size*/) { return open(Level::list()); }
  bool key(std::string& name) {
    Level& level = levels_.back();
    if (level.has(name)) return fail("the key \"" + name + "\" stands here twice");
    level.add_key(std::move(name));
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const nlohmann::detail::exception& error) {
    problem_ = words_of(error.what());
    return false;
  }

  Value take() { return std::move(document_); }
  const std::string& problem() const { return problem_; }

 private:
  /// An open list or map. Members are gathered as a plain vector, which Value then takes over.
  struct Level {
    bool is_map = false;
    Value::List list_items;
    Value::Map members;
    std::unordered_set<std::string> index;

    static Level map() {
      Level level;
      level.is_map = true;
      return level;
    }
    static Level list() { return {}; }

    bool has(const std::string& name) {
      if (members.size() < small_map) {
        for (const auto& member : members) {
          if (member.first == name) return true;
        }
        return false;
      }
      if (index.empty()) {
        for (const auto& member : members) index.insert(member.first);
      }
      return index.count(name) != 0;
    }
    void add_key(std::string name) {
      if (!index.empty()) index.insert(name);
      members.emplace_back(std::move(name), Value());
    }
  };

  bool add(Value value) {
    if (levels_.empty()) {
      document_ = std::move(value);
    } else if (levels_.back().is_map) {
      levels_.back().members.back().second = std::move(value);
    } else {
      levels_.back().list_items.push_back(std::move(value));
    }
    return true;
  }
  bool open(Level level) {
    if (levels_.size() >= max_depth) return fail("more than " + std::to_string(max_depth) + " levels");
    levels_.push_back(std::move(level));
    return true;
  }
  bool close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    return add(level.is_map ? Value::map_of(std::move(level.members)) : Value(std::move(level.list_items)));
  }
  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  /// "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..." without what we say
  /// ourselves.
  static std::string words_of(const std::string& what) {
    for (const char* start : {"syntax error", "number overflow"}) {
      if (const auto found = what.find(start); found != std::string::npos) return what.substr(found);
    }
    return what;
  }

  std::vector<Level> levels_;
  Value document_;
  std::string problem_;
};

std::string place_words(std::string_view text, const char* position) {
  int line = 1;
  int column = 1;
  for (const char* at = text.data(); at + 1 < position && at < text.data() + text.size(); ++at) {
    if (*at == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

bool is_plain(std::string_view text) {
  for (char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x20 || byte >= 0x7f || letter == '"' || letter == '\\') return false;
  }
  return true;
}

class Writer {
 public:
  explicit Writer(bool pretty) : pretty_(pretty) {}

  void write(const Value& value) {
    switch (value.kind()) {
      case Value::Kind::null: out_ += "null"; break;
      case Value::Kind::boolean: out_ += *value.as_boolean() ? "true" : "false"; break;
      case Value::Kind::integer: out_ += std::to_string(*value.as_integer()); break;
      case Value::Kind::real: write_real(*value.as_real()); break;
      case Value::Kind::text: write_text(*value.as_text()); break;
      case Value::Kind::list:
        write_items('[', ']', *value.as_list(), [this](const Value& item) { write(item); });
        break;
      case Value::Kind::map:
        write_items('{', '}', *value.as_map(), [this](const std::pair<std::string, Value>& member) {
          write_text(member.first);
          out_ += pretty_ ? ": " : ":";
          write(member.second);
        });
        break;
    }
  }
  std::string take() { return std::move(out_); }

 private:
  template <typename Items, typename WriteItem>
  void write_items(char begin, char end, const Items& items, WriteItem write_item) {
    out_.push_back(begin);
    ++depth_;
    bool first = true;
    for (const auto& item : items) {
      if (!first) out_.push_back(',');
      first = false;
      new_line();
      write_item(item);
    }
    --depth_;
    if (!first) new_line();
    out_.push_back(end);
  }
  void new_line() {
    if (!pretty_) return;
    out_.push_back('\n');
    out_.append(depth_ * 2, ' ');
  }
  void write_real(double number) {
    // JSON knows neither; nlohmann writes the shortest text that reads back as the same number.
    out_ += std::isfinite(number) ? nlohmann::json(number).dump() : "null";
  }
  void write_text(const std::string& text) {
    if (!is_plain(text)) {
      out_ += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      return;
    }
    out_.push_back('"');
    out_ += text;
    out_.push_back('"');
  }

  bool pretty_;
  std::size_t depth_ = 0;
  std::string out_;
};

}  // namespace

logic::Result<Value> parse_json(std::string_view text, std::size_t max_bytes) {
  if (text.size() > max_bytes)
    return logic::reject_error("JSON: " + std::to_string(text.size()) + " bytes are more than the " +
                               std::to_string(max_bytes) + " allowed");
  const char* position = text.data();
  Builder builder;
  const bool parsed = nlohmann::json::sax_parse(CountingIterator(text.data(), &position),
                                                CountingIterator(text.data() + text.size(), &position), &builder);
  if (parsed) return builder.take();
  return logic::reject_error("JSON: " + place_words(text, position) + ": " + builder.problem());
}

std::string to_json(const Value& value, bool pretty) {
  Writer writer(pretty);
  writer.write(value);
  return writer.take();
}

}  // namespace muster::sys
