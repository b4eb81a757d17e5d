// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/hostlist.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <tuple>

namespace muster::logic {

namespace {

constexpr std::size_t longest_list = 1U << 20;
constexpr std::size_t longest_name = 255;
constexpr std::size_t most_digits = 18;  // fits 64 bits with room for one step more

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A name apart: what stands before its last number, and that number as written.
struct Parts {
  std::string prefix;
  std::string digits;  ///< empty = the name does not end in a number
  std::uint64_t number = 0;
};

Parts split(const std::string& name) {
  std::size_t start = name.size();
  while (start > 0 && is_digit(name[start - 1]) && name.size() - start < most_digits) --start;
  Parts parts{name.substr(0, start), name.substr(start), 0};
  if (!parts.digits.empty()) parts.number = std::stoull(parts.digits);
  return parts;
}

bool has_leading_zero(const std::string& digits) { return digits.size() > 1 && digits.front() == '0'; }

/// "8" then "9", "9" then "10", "08" then "09", "099" then "100"; but not "09" then "010".
bool follows(const Parts& next, const Parts& previous) {
  if (next.number != previous.number + 1) return false;
  if (next.digits.size() == previous.digits.size()) return true;
  return !has_leading_zero(next.digits) && !has_leading_zero(previous.digits);
}

Error malformed(std::string_view list, const std::string& what) {
  const std::string shown = list.size() > 60 ? std::string(list.substr(0, 60)) + "..." : std::string(list);
  return reject_error("host list \"" + shown + "\": " + what);
}

std::string padded(std::uint64_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

/// The numbers of "1-4,6" as text; an error's message names the trouble.
Result<std::vector<std::string>> expand_ranges(std::string_view ranges, std::size_t max_numbers) {
  std::vector<std::string> numbers;
  while (true) {
    const std::size_t comma = ranges.find(',');
    const std::string_view range = ranges.substr(0, comma);
    const std::size_t dash = range.find('-');
    const std::string_view low = range.substr(0, dash);
    const std::string_view high = dash == std::string_view::npos ? low : range.substr(dash + 1);
    for (const std::string_view side : {low, high}) {
      if (side.empty() || side.size() > most_digits || !std::all_of(side.begin(), side.end(), is_digit)) {
        return reject_error("expected a number or a range such as 1-4 within the brackets");
      }
    }
    const std::uint64_t first = std::stoull(std::string(low));
    const std::uint64_t last = std::stoull(std::string(high));
    if (last < first) return reject_error("a range goes down");
    if (last - first >= max_numbers || numbers.size() + (last - first) >= max_numbers) {
      return reject_error("more than " + std::to_string(max_numbers) + " names");
    }
    for (std::uint64_t number = first; number <= last; ++number) numbers.push_back(padded(number, low.size()));
    if (comma == std::string_view::npos) return numbers;
    ranges.remove_prefix(comma + 1);
  }
}

/// The names of one item, which may have brackets: "gpu-[1-4]", "r[1-2]n[1-4]", "login1".
Result<std::vector<std::string>> expand_item(std::string_view item, std::size_t max_names) {
  std::vector<std::string> names{""};
  while (!item.empty()) {
    const std::size_t open = item.find('[');
    const std::string_view plain = item.substr(0, open);
    // Checked before it is multiplied, so that a short list cannot ask for gigabytes.
    if (names.front().size() + plain.size() > longest_name) {
      return reject_error("a name of more than " + std::to_string(longest_name) + " characters");
    }
    for (std::string& name : names) name += plain;
    if (open == std::string_view::npos) break;
    const std::size_t close = item.find(']', open);
    if (close == std::string_view::npos) return reject_error("a bracket is not closed");
    auto numbers = expand_ranges(item.substr(open + 1, close - open - 1), max_names);
    if (!numbers) return numbers.error();
    if (names.size() * numbers->size() > max_names) {
      return reject_error("more than " + std::to_string(max_names) + " names");
    }
    std::vector<std::string> longer;
    longer.reserve(names.size() * numbers->size());
    for (const std::string& name : names) {
      for (const std::string& number : *numbers) longer.push_back(name + number);
    }
    names = std::move(longer);
    item.remove_prefix(close + 1);
  }
  return names;
}

}  // namespace

std::string compress_names(std::vector<std::string> names) {
  std::vector<Parts> all;
  all.reserve(names.size());
  for (const std::string& name : names) {
    if (!name.empty()) all.push_back(split(name));
  }
  const auto key = [](const Parts& parts) { return std::tie(parts.prefix, parts.number, parts.digits); };
  std::sort(all.begin(), all.end(), [&](const Parts& a, const Parts& b) { return key(a) < key(b); });
  all.erase(std::unique(all.begin(), all.end(), [&](const Parts& a, const Parts& b) { return key(a) == key(b); }),
            all.end());

  std::string out;
  for (std::size_t index = 0; index < all.size();) {
    const std::string& prefix = all[index].prefix;
    if (!out.empty()) out += ',';
    if (all[index].digits.empty()) {
      out += prefix;
      ++index;
      continue;
    }
    // One bracket for all numbers of this prefix.
    std::string ranges;
    std::size_t numbers = 0;
    while (index < all.size() && all[index].prefix == prefix) {
      std::size_t end = index;
      while (end + 1 < all.size() && all[end + 1].prefix == prefix && follows(all[end + 1], all[end])) ++end;
      if (!ranges.empty()) ranges += ',';
      ranges += all[index].digits;
      if (end > index) ranges += '-' + all[end].digits;
      numbers += end - index + 1;
      index = end + 1;
    }
    out += prefix;
    out += numbers == 1 ? ranges : '[' + ranges + ']';
  }
  return out;
}

Result<std::vector<std::string>> expand_names(std::string_view list, std::size_t max_names) {
  std::vector<std::string> names;
  if (list.empty()) return names;
  if (list.size() > longest_list) return malformed(list, "longer than 1 MiB");
  const std::string_view whole = list;
  std::size_t start = 0;
  bool inside = false;
  for (std::size_t index = 0; index <= list.size(); ++index) {
    const char c = index < list.size() ? list[index] : ',';
    if (c == '[') {
      if (inside) return malformed(whole, "a bracket within brackets");
      inside = true;
    } else if (c == ']') {
      if (!inside) return malformed(whole, "a bracket is closed that was not opened");
      inside = false;
    } else if (index == list.size() && inside) {
      return malformed(whole, "a bracket is not closed");
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) < 0x20) {
      return malformed(whole, "a blank or control character");
    } else if (c == ',' && !inside) {
      const std::string_view item = list.substr(start, index - start);
      if (item.empty()) return malformed(whole, "an empty name");
      auto more = expand_item(item, max_names);
      if (!more) return malformed(whole, more.error().message);
      if (names.size() + more->size() > max_names) {
        return malformed(whole, "more than " + std::to_string(max_names) + " names");
      }
      names.insert(names.end(), more->begin(), more->end());
      start = index + 1;
    }
  }
  return names;
}

}  // namespace muster::logic
