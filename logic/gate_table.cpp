// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/gate_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace muster::logic {
namespace {

constexpr std::string_view first_line = "muster-gate 1";
constexpr std::string_view no_words = "-";
constexpr int count_limit = 1'000'000;

/// FNV-1a, 64 bits: it has to notice a torn file, not an enemy.
std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const char byte : bytes) {
    sum ^= static_cast<unsigned char>(byte);
    sum *= 0x100000001b3U;
  }
  return sum;
}

std::string to_hex(std::uint64_t number) {
  std::string text(16, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, number >>= 4U) {
    *digit = "0123456789abcdef"[number & 0xfU];
  }
  return text;
}

bool breaks_a_line(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return code <= 0x20 || code == 0x7f;
}

std::string word(std::string_view text) {
  if (text.empty()) { return std::string(no_words); }
  std::string safe(text);
  std::replace_if(safe.begin(), safe.end(), breaks_a_line, '?');
  return safe;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& one : words) {
    if (!text.empty()) { text += ','; }
    text += one;
  }
  return word(text);
}

std::int64_t whole_seconds(Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

/// Takes the words of one line from left to right. The first trouble sticks and the rest reads as nothing, so that a
/// line is read in one expression and asked once whether it was good.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view next() {
    if (rest_.empty()) {
      fail("a word is missing");
      return {};
    }
    const auto end = rest_.find(' ');
    const auto taken = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
    if (taken.empty() || (end != std::string_view::npos && rest_.empty())) { fail("a word is empty"); }
    if (taken.size() > gate_table_word_limit) { fail("a word is too long"); }
    if (std::any_of(taken.begin(), taken.end(), breaks_a_line)) { fail("a word has a control character"); }
    return trouble_.empty() ? taken : std::string_view{};
  }

  std::string name() {
    const auto text = next();
    return text == no_words ? std::string{} : std::string(text);
  }

  std::int64_t number(std::int64_t limit) {
    const auto text = next();
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc{} || end != text.data() + text.size() || value < 0 || value > limit) {
      fail("expected a number from 0 to " + std::to_string(limit) + ", got '" + std::string(text.substr(0, 40)) + "'");
      return 0;
    }
    return value;
  }

  int count() { return static_cast<int>(number(count_limit)); }

  Time time() { return Time{std::chrono::seconds{number(latest_second)}}; }

  std::vector<std::string> list() {
    std::vector<std::string> words;
    auto text = next();
    if (text.empty() || text == no_words) { return words; }
    while (true) {
      const auto comma = text.find(',');
      words.emplace_back(text.substr(0, comma));
      if (words.back().empty()) { fail("a list has an empty part"); }
      if (comma == std::string_view::npos) { return words; }
      text = text.substr(comma + 1);
    }
  }

  bool either(std::string_view yes, std::string_view no) {
    const auto text = next();
    if (text != yes && text != no) { fail("expected " + std::string(yes) + " or " + std::string(no)); }
    return text == yes;
  }

  /// What was wrong with the line, words too many included; empty if nothing was.
  std::string trouble() const { return trouble_.empty() && !rest_.empty() ? "there are words too many" : trouble_; }

 private:
  // The year 9999: far beyond any deadline, far below an overflow in milliseconds.
  static constexpr std::int64_t latest_second = 253402300799;

  void fail(std::string trouble) {
    if (trouble_.empty()) { trouble_ = std::move(trouble); }
    rest_ = {};
  }

  std::string_view rest_;
  std::string trouble_;
};

GateGroup read_group(Words& words) {
  GateGroup group;
  group.partition = PartitionName(words.name());
  group.group = GroupName(words.name());
  group.open = words.either("open", "gathering");
  group.ready = words.count();
  group.open_nodes = words.count();
  group.min_count = words.count();
  group.target_count = words.count();
  group.cpus = words.count();
  group.memory_mib = words.number(std::numeric_limits<std::int64_t>::max());
  group.features = words.list();
  group.gres = words.list();
  group.deadline = words.time();
  return group;
}

GatePartition read_partition(Words& words) {
  GatePartition partition;
  partition.name = PartitionName(words.name());
  partition.foreign_nodes = words.count();
  return partition;
}

Error trouble_at(std::size_t line, const std::string& trouble) {
  return reject_error("gate table: line " + std::to_string(line) + ": " + trouble);
}

/// The lines between the first and the last one.
std::optional<Error> read_line(std::string_view line, std::size_t number, GateTable& table) {
  Words words(line);
  const auto kind = words.next();
  if (kind == "time") {
    table.time = words.time();
  } else if (kind == "cluster") {
    table.cluster = words.name();
  } else if (kind == "default") {
    table.default_partition = PartitionName(words.name());
  } else if (kind == "partition") {
    table.partitions.push_back(read_partition(words));
  } else if (kind == "group") {
    table.groups.push_back(read_group(words));
  } else {
    return trouble_at(number, "unknown kind of line");
  }
  if (auto trouble = words.trouble(); !trouble.empty()) { return trouble_at(number, trouble); }
  return std::nullopt;
}

/// The last line proves that the text is whole: it counts the lines before it and carries their checksum.
std::optional<Error> check_end(std::string_view line, std::size_t lines_before, std::string_view bytes_before) {
  Words words(line);
  words.next();
  const auto lines = words.number(static_cast<std::int64_t>(gate_table_line_limit));
  const auto sum = words.next();
  if (auto trouble = words.trouble(); !trouble.empty()) { return trouble_at(lines_before + 1, trouble); }
  if (static_cast<std::size_t>(lines) != lines_before || sum != to_hex(checksum(bytes_before))) {
    return reject_error("gate table: torn: line count or checksum does not match");
  }
  return std::nullopt;
}

}  // namespace

std::string write_gate_table(const GateTable& table) {
  std::string text(first_line);
  text += "\ntime " + std::to_string(whole_seconds(table.time));
  text += "\ncluster " + word(table.cluster);
  text += "\ndefault " + word(table.default_partition.str()) + '\n';
  for (const auto& partition : table.partitions) {
    text += "partition " + word(partition.name.str()) + ' ' + std::to_string(partition.foreign_nodes) + '\n';
  }
  for (const auto& group : table.groups) {
    text += "group " + word(group.partition.str()) + ' ' + word(group.group.str());
    text += group.open ? " open" : " gathering";
    for (const int count : std::array{group.ready, group.open_nodes, group.min_count, group.target_count, group.cpus}) {
      text += ' ' + std::to_string(count);
    }
    text += ' ' + std::to_string(group.memory_mib) + ' ' + joined(group.features) + ' ' + joined(group.gres);
    text += ' ' + std::to_string(whole_seconds(group.deadline)) + '\n';
  }
  const auto lines = std::count(text.begin(), text.end(), '\n');
  return text + "end " + std::to_string(lines) + ' ' + to_hex(checksum(text)) + '\n';
}

Result<GateTable> read_gate_table(std::string_view text) {
  if (text.size() > gate_table_size_limit) { return reject_error("gate table: larger than 4 MiB"); }
  GateTable table;
  std::size_t line_number = 0;
  std::size_t position = 0;
  while (position < text.size()) {
    const auto line_end = text.find('\n', position);
    if (line_end == std::string_view::npos) { break; }
    const auto line = text.substr(position, line_end - position);
    ++line_number;
    if (line_number > gate_table_line_limit) { return reject_error("gate table: too many lines"); }
    if (line_number == 1) {
      if (line != first_line) {
        return reject_error("gate table: does not begin with '" + std::string(first_line) + "'");
      }
    } else if (line.substr(0, 4) == "end ") {
      if (auto error = check_end(line, line_number - 1, text.substr(0, position))) { return *error; }
      if (line_end + 1 != text.size()) { return reject_error("gate table: text after the end line"); }
      if (table.time == no_time) { return reject_error("gate table: has no time"); }
      return table;
    } else if (auto error = read_line(line, line_number, table)) {
      return *error;
    }
    position = line_end + 1;
  }
  return reject_error("gate table: torn: no end line");
}

}  // namespace muster::logic
