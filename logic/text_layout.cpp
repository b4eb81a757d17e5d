// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/text_layout.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "logic/field_reader.hpp"

namespace muster::logic {

namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  ///< 0 = no UTF-8 here
};

/// The code point at the start of the text; strict (no overlong forms, no surrogates).
CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  if (text.empty()) return {};
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  std::size_t bytes = 0;
  char32_t value = 0;
  char32_t least = 0;
  if ((lead & 0xE0U) == 0xC0U) {
    bytes = 2;
    value = lead & 0x1FU;
    least = 0x80;
  } else if ((lead & 0xF0U) == 0xE0U) {
    bytes = 3;
    value = lead & 0x0FU;
    least = 0x800;
  } else if ((lead & 0xF8U) == 0xF0U) {
    bytes = 4;
    value = lead & 0x07U;
    least = 0x10000;
  } else {
    return {};
  }
  if (text.size() < bytes) return {};
  for (std::size_t index = 1; index < bytes; ++index) {
    if ((byte(index) & 0xC0U) != 0x80U) return {};
    value = (value << 6U) | (byte(index) & 0x3FU);
  }
  if (value < least || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return {};
  return {value, bytes};
}

bool is_control(char32_t value) {
  // C0, DEL, C1; line and paragraph separators; and what reorders or hides text on a terminal.
  return value < 0x20 || (value >= 0x7F && value < 0xA0) || value == 0x2028 || value == 0x2029 ||
         (value >= 0x202A && value <= 0x202E) || (value >= 0x2066 && value <= 0x2069) ||
         (value >= 0x200B && value <= 0x200F) || value == 0xFEFF;
}

std::size_t columns_of(char32_t value) {
  const auto within = [value](char32_t low, char32_t high) { return value >= low && value <= high; };
  if (within(0x0300, 0x036F) || within(0x1AB0, 0x1AFF) || within(0x20D0, 0x20FF) || within(0xFE00, 0xFE0F)) return 0;
  if (within(0x1100, 0x115F) || within(0x2E80, 0xA4CF) || within(0xAC00, 0xD7A3) || within(0xF900, 0xFAFF) ||
      within(0xFE30, 0xFE6F) || within(0xFF00, 0xFF60) || within(0xFFE0, 0xFFE6) || within(0x1F300, 0x1FAFF) ||
      within(0x20000, 0x3FFFD)) {
    return 2;
  }
  return 1;
}

std::string pad(std::string_view text, std::size_t width, Table::Align align, Tone tone, const TextStyle& style) {
  const std::size_t used = text_width(text);
  const std::string blanks(used < width ? width - used : 0, ' ');
  return align == Table::Align::right ? blanks + paint(text, tone, style) : paint(text, tone, style) + blanks;
}

void strip_trailing_blanks(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

constexpr std::size_t least_wrapped_width = 24;  // narrower than that beside a row reads worse than below it

}  // namespace

std::string paint(std::string_view text, Tone tone, const TextStyle& style) {
  if (!style.colour || tone == Tone::plain || text.empty()) return std::string(text);
  const char* code = "";
  switch (tone) {
    case Tone::plain: break;
    case Tone::strong: code = "1"; break;
    case Tone::faint: code = "2"; break;
    case Tone::good: code = "32"; break;
    case Tone::warning: code = "33"; break;
    case Tone::bad: code = "1;31"; break;
  }
  return std::string("\033[") + code + "m" + std::string(text) + "\033[0m";
}

std::string safe_text(std::string_view outside, const TextStyle& style) {
  std::string safe;
  safe.reserve(outside.size());
  bool blank_owed = false;
  while (!outside.empty()) {
    const CodePoint point = first_code_point(outside);
    const std::size_t bytes = std::max<std::size_t>(point.bytes, 1);
    if (point.bytes > 0 && is_control(point.value)) {
      blank_owed = true;
    } else {
      if (blank_owed && !safe.empty() && safe.back() != ' ') safe += ' ';
      blank_owed = false;
      if (point.bytes == 0 || (point.bytes > 1 && !style.unicode)) {
        safe += '?';
      } else {
        safe += outside.substr(0, bytes);
      }
    }
    outside.remove_prefix(bytes);
  }
  return safe;
}

std::size_t text_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    columns += point.bytes == 0 ? 1 : columns_of(point.value);
    text.remove_prefix(std::max<std::size_t>(point.bytes, 1));
  }
  return columns;
}

std::string clip(std::string_view text, std::size_t columns) {
  if (text_width(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::string kept;
  std::size_t used = 0;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    const std::size_t bytes = std::max<std::size_t>(point.bytes, 1);
    const std::size_t more = point.bytes == 0 ? 1 : columns_of(point.value);
    if (used + more > columns - 1) break;
    kept += text.substr(0, bytes);
    used += more;
    text.remove_prefix(bytes);
  }
  return kept + "~";
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  if (width == 0 || text_width(text) <= width) return {std::string(text)};
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    std::string word(text.substr(0, blank));
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    if (word.empty()) continue;
    if (!line.empty() && text_width(line) + 1 + text_width(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    // A word that is longer than a line is broken: an address cut off is worse than one broken.
    while (line.empty() && text_width(word) > width) {
      std::string head;
      std::string_view rest = word;
      while (!rest.empty()) {
        const CodePoint point = first_code_point(rest);
        const std::size_t bytes = std::max<std::size_t>(point.bytes, 1);
        if (!head.empty() && text_width(head) + text_width(rest.substr(0, bytes)) > width) break;
        head += rest.substr(0, bytes);
        rest.remove_prefix(bytes);
      }
      lines.push_back(std::move(head));
      word = std::string(rest);
    }
    if (word.empty()) continue;
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string labelled(std::string_view label, std::size_t label_width, std::string_view text, const TextStyle& style,
                     std::size_t indent) {
  const std::size_t start = indent + label_width + 2;
  const bool room = style.width == 0 || start + least_wrapped_width <= style.width;
  const std::size_t text_indent = room ? start : indent + 2;
  std::string out = std::string(indent, ' ') + pad(label, label_width, Table::Align::left, Tone::faint, style) + "  ";
  if (!room) {
    strip_trailing_blanks(out);
    out += '\n';
  }
  bool first = true;
  for (const std::string& line : wrap(text, style.width > text_indent ? style.width - text_indent : 0)) {
    if (!first || !room) out += std::string(text_indent, ' ');
    out += line;
    strip_trailing_blanks(out);
    out += '\n';
    first = false;
  }
  return out;
}

std::string bar(std::int64_t have, std::int64_t want, std::size_t cells, const TextStyle& style) {
  std::size_t full = 0;
  if (want > 0 && have > 0) {
    const std::int64_t capped = std::min(have, want);
    full =
        static_cast<std::size_t>(static_cast<double>(capped) / static_cast<double>(want) * static_cast<double>(cells));
    if (full == 0 && cells > 1) full = 1;
    if (have >= want) full = cells;
    if (have < want && full >= cells && cells > 0) full = cells - 1;
  }
  std::string filled;
  std::string open;
  for (std::size_t cell = 0; cell < full; ++cell) filled += style.unicode ? "\u2588" : "#";
  for (std::size_t cell = full; cell < cells; ++cell) open += style.unicode ? "\u2591" : "-";
  return "[" + filled + open + "]";
}

std::string counted(std::int64_t count, std::string_view singular, std::string_view plural) {
  return std::to_string(count) + " " + std::string(count == 1 ? singular : plural);
}

std::string rough_duration(Duration duration) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(duration);
  if (seconds.count() <= 0) return "0 s";
  return duration_text(seconds);
}

std::string rough_hours(double hours) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), hours < 100 ? "%.1f" : "%.0f", hours);
  return text.data();
}

std::string relative_time(Time time, Time now) {
  if (time > now) return "in " + rough_duration(time - now);
  if (now - time < std::chrono::seconds{1}) return "just now";
  return rough_duration(now - time) + " ago";
}

std::string time_since(Time since, Time now) { return "for " + rough_duration(now - since); }

void Table::column(std::string heading, Align align) { columns_.push_back({std::move(heading), align}); }

void Table::row(std::vector<Cell> cells) {
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), {}});
}

void Table::note(std::string text, Tone tone) {
  if (!rows_.empty()) rows_.back().notes.push_back({std::move(text), tone});
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const Row& row : rows_) {
    for (std::size_t index = 0; index < columns_.size(); ++index) {
      widths[index] = std::max(widths[index], text_width(row.cells[index].text));
    }
  }
  for (std::size_t index = 0; index < columns_.size(); ++index) {
    if (widths[index] > 0) widths[index] = std::max(widths[index], text_width(columns_[index].heading));
  }
  return widths;
}

std::string Table::text(const TextStyle& style) const {
  if (rows_.empty()) return {};
  const std::vector<std::size_t> width = widths();
  std::size_t last = columns_.size();  // the last column that is shown
  while (last > 0 && width[last - 1] == 0) --last;
  if (last == 0) return {};
  --last;

  std::size_t last_start = 0;
  for (std::size_t index = 0; index < last; ++index) last_start += width[index] > 0 ? width[index] + 2 : 0;
  const bool fits = style.width == 0 || last_start + width[last] <= style.width;
  const bool beside = fits || last_start + least_wrapped_width <= style.width;

  std::string out;
  std::string line;
  for (std::size_t index = 0; index <= last; ++index) {
    if (width[index] == 0 || (index == last && !beside)) continue;
    const std::size_t room = index == last && !fits ? 0 : width[index];
    line += pad(columns_[index].heading, room, columns_[index].align, Tone::faint, style) + "  ";
  }
  strip_trailing_blanks(line);
  out += line + "\n";

  for (const Row& row : rows_) {
    line.clear();
    for (std::size_t index = 0; index < last; ++index) {
      if (width[index] == 0) continue;
      line += pad(row.cells[index].text, width[index], columns_[index].align, row.cells[index].tone, style) + "  ";
    }
    const Cell& tail = row.cells[last];
    if (fits) {
      line += pad(tail.text, width[last], columns_[last].align, tail.tone, style);
      strip_trailing_blanks(line);
      out += line + "\n";
    } else {
      const std::size_t indent = beside ? last_start : 2;
      if (!beside) {
        strip_trailing_blanks(line);
        out += line + "\n";
        line.assign(indent, ' ');
      }
      for (const std::string& piece : wrap(tail.text, style.width > indent ? style.width - indent : 0)) {
        if (piece.empty() && !beside) break;
        line += paint(piece, tail.tone, style);
        strip_trailing_blanks(line);
        out += line + "\n";
        line.assign(indent, ' ');
      }
    }
    for (const Note& note : row.notes) {
      for (const std::string& piece : wrap(note.text, style.width > 2 ? style.width - 2 : 0)) {
        out += "  " + paint(piece, note.tone, style) + "\n";
      }
    }
  }
  return out;
}

}  // namespace muster::logic
