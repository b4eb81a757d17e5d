// SPDX-License-Identifier: GPL-2.0-or-later
//
// How text for people is laid out: tables, bars, wrapped lines, relative times, colour where wanted. Pure: what the
// terminal can do is told by a TextStyle. Text that came from outside must pass safe_text before it gets here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logic/time.hpp"

namespace muster::logic {

/// What the place where the text goes can show.
struct TextStyle {
  bool colour = false;
  bool unicode = false;   ///< UTF-8 may be written; else ASCII only
  std::size_t width = 0;  ///< columns; 0 = lines may be as long as they like
};

enum class Tone { plain, strong, faint, good, warning, bad };

/// The text in that tone; unchanged where there is no colour.
std::string paint(std::string_view text, Tone tone, const TextStyle& style);

/// Outside text made harmless: each run of control characters (line ends too) becomes one blank, bytes that are no
/// UTF-8 become '?', and so does everything beyond ASCII where the style has no UTF-8. No escape sequence survives.
std::string safe_text(std::string_view outside, const TextStyle& style);

/// Columns that the text takes: its code points, without combining marks, wide ones twice. Text without escapes.
std::size_t text_width(std::string_view text);

/// The text cut to that many columns; one that was cut ends in "~".
std::string clip(std::string_view text, std::size_t columns);

/// Lines of at most that many columns, broken at blanks where possible; width 0 = one line. Never empty.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// A label and a text beside it, wrapped with the rest of its lines below the text's beginning.
std::string labelled(std::string_view label, std::size_t label_width, std::string_view text, const TextStyle& style,
                     std::size_t indent = 0);

/// "[######----]": have of want, cells wide inside. Full only when have >= want, empty only when have is 0.
std::string bar(std::int64_t have, std::int64_t want, std::size_t cells, const TextStyle& style);

/// "1 node", "4 nodes".
std::string counted(std::int64_t count, std::string_view singular, std::string_view plural);

/// Durations as people say them, in whole seconds: "2 min 5 s", "2 h 51 min", "0 s".
std::string rough_duration(Duration duration);
/// Hours with one digit behind the point, without it from 100 on: "0.2", "640".
std::string rough_hours(double hours);
/// "2 min 5 s ago", "just now", and for a time ahead "in 2 h 51 min".
std::string relative_time(Time time, Time now);
/// "for 2 min 5 s"; never negative.
std::string time_since(Time since, Time now);

/// Rows of cells under headings. Columns are as wide as their widest cell. The last column may be long: where the
/// style has a width it is wrapped below its own beginning, or below the row if there is no room beside it.
class Table {
 public:
  enum class Align { left, right };
  struct Cell {
    Cell() = default;
    Cell(std::string cell_text) : text(std::move(cell_text)) {}  // NOLINT(google-explicit-constructor)
    Cell(const char* cell_text) : text(cell_text) {}             // NOLINT(google-explicit-constructor)
    Cell(std::string cell_text, Tone cell_tone) : text(std::move(cell_text)), tone(cell_tone) {}
    std::string text;
    Tone tone = Tone::plain;
  };

  /// A column; one whose cells are all empty is left out of the text.
  void column(std::string heading, Align align = Align::left);
  /// Missing cells are empty, surplus ones are dropped.
  void row(std::vector<Cell> cells);
  /// A line of its own below the last row, indented and wrapped.
  void note(std::string text, Tone tone = Tone::plain);
  bool empty() const { return rows_.empty(); }

  std::string text(const TextStyle& style) const;

 private:
  struct Column {
    std::string heading;
    Align align;
  };
  struct Note {
    std::string text;
    Tone tone;
  };
  struct Row {
    std::vector<Cell> cells;
    std::vector<Note> notes;
  };
  std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace muster::logic
