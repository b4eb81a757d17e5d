// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/text_layout.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace muster::logic {
namespace {

using namespace std::chrono_literals;

const TextStyle plain;
const TextStyle unicode{false, true, 0};
const TextStyle colour{true, false, 0};

TextStyle wide(std::size_t width) { return {false, false, width}; }

TEST(SafeText, LetsNoEscapeSequenceThrough) {
  const std::string safe = safe_text("before\033[31mred\033]0;title\007after", unicode);
  EXPECT_EQ(safe, "before [31mred ]0;title after");
}

TEST(SafeText, MakesRunsOfControlCharactersOneBlank) { EXPECT_EQ(safe_text("one\r\n\ttwo\n", plain), "one two"); }

TEST(SafeText, TakesOutC1ControlsThatTerminalsObeyToo) {
  EXPECT_EQ(safe_text("a\xC2\x9B"
                      "31mb",
                      unicode),
            "a 31mb");
}

TEST(SafeText, TakesOutTextThatRunsBackwards) { EXPECT_EQ(safe_text("a\u202Eb", unicode), "a b"); }

TEST(SafeText, KeepsUtf8WhereTheTerminalHasIt) {
  EXPECT_EQ(safe_text("gr\u00FCn", unicode), "gr\u00FCn");
  EXPECT_EQ(safe_text("gr\u00FCn", plain), "gr?n");
}

TEST(SafeText, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(safe_text("a\xFF\xC3.", unicode), "a??.");
  EXPECT_EQ(safe_text("\xC0\x80", unicode), "??") << "overlong NUL";
  EXPECT_EQ(safe_text("\xED\xA0\x80", unicode), "???") << "a surrogate";
}

TEST(TextWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(text_width("gr\u00FCn"), 4U);
  EXPECT_EQ(text_width("e\u0301"), 1U) << "a combining accent";
  EXPECT_EQ(text_width("\u6F22\u5B57"), 4U) << "wide characters";
}

TEST(Clip, MarksWhatItCut) {
  EXPECT_EQ(clip("gpu-12", 6), "gpu-12");
  EXPECT_EQ(clip("gpu-123", 6), "gpu-1~");
  EXPECT_EQ(clip("gpu", 0), "");
}

TEST(Wrap, BreaksAtBlanks) { EXPECT_EQ(wrap("one two three", 8), (std::vector<std::string>{"one two", "three"})); }

TEST(Wrap, BreaksAWordThatIsLongerThanALine) {
  EXPECT_EQ(wrap("a abcdefgh b", 4), (std::vector<std::string>{"a", "abcd", "efgh", "b"}));
}

TEST(Wrap, GivesOneLineWithoutAWidth) {
  EXPECT_EQ(wrap("one two", 0).size(), 1U);
  EXPECT_EQ(wrap("", 10), (std::vector<std::string>{""}));
}

TEST(Bar, ShowsHowFar) {
  EXPECT_EQ(bar(4, 6, 10, plain), "[######----]");
  EXPECT_EQ(bar(0, 6, 10, plain), "[----------]");
  EXPECT_EQ(bar(6, 6, 10, plain), "[##########]");
}

TEST(Bar, IsFullOnlyWhenAllAreThereAndEmptyOnlyWhenNoneIs) {
  EXPECT_EQ(bar(9999, 10000, 10, plain), "[#########-]");
  EXPECT_EQ(bar(1, 10000, 10, plain), "[#---------]");
}

TEST(Bar, TakesOddNumbersCalmly) {
  EXPECT_EQ(bar(7, 6, 4, plain), "[####]");
  EXPECT_EQ(bar(0, 0, 4, plain), "[----]");
  EXPECT_EQ(bar(-1, 6, 4, plain), "[----]");
}

TEST(Bar, UsesBlocksOnlyWhereTheyShow) { EXPECT_EQ(bar(1, 2, 2, unicode), "[\u2588\u2591]"); }

TEST(RelativeTime, SaysPastAndFuture) {
  const Time now = time_from_seconds(1000000);
  EXPECT_EQ(relative_time(now - 125s, now), "2 min 5 s ago");
  EXPECT_EQ(relative_time(now + 10261s, now), "in 2 h 51 min");
  EXPECT_EQ(relative_time(now - 300ms, now), "just now");
}

TEST(TimeSince, NeverGoesBelowZero) {
  const Time now = time_from_seconds(1000000);
  EXPECT_EQ(time_since(now - 41s, now), "for 41 s");
  EXPECT_EQ(time_since(now + 41s, now), "for 0 s");
}

TEST(Paint, AddsColourOnlyWhereWanted) {
  EXPECT_EQ(paint("x", Tone::good, colour), "\033[32mx\033[0m");
  EXPECT_EQ(paint("x", Tone::good, plain), "x");
  EXPECT_EQ(paint("x", Tone::plain, colour), "x");
}

Table node_table() {
  Table table;
  table.column("NODE");
  table.column("TRY", Table::Align::right);
  table.column("ADDRESS");
  table.column("WHY");
  table.row({"gpu-1", "1", "", "booting"});
  table.row({"gpu-10", "12", "", "waits for the provider, which has no capacity in this zone"});
  return table;
}

TEST(Table, AlignsColumnsAndLeavesEmptyOnesOut) {
  EXPECT_EQ(node_table().text(plain),
            "NODE    TRY  WHY\n"
            "gpu-1     1  booting\n"
            "gpu-10   12  waits for the provider, which has no capacity in this zone\n");
}

TEST(Table, WrapsTheLastColumnBesideTheRow) {
  EXPECT_EQ(node_table().text(wide(45)),
            "NODE    TRY  WHY\n"
            "gpu-1     1  booting\n"
            "gpu-10   12  waits for the provider, which\n"
            "             has no capacity in this zone\n");
}

TEST(Table, WrapsTheLastColumnBelowTheRowWhereThereIsNoRoom) {
  EXPECT_EQ(node_table().text(wide(30)),
            "NODE    TRY\n"
            "gpu-1     1\n"
            "  booting\n"
            "gpu-10   12\n"
            "  waits for the provider,\n"
            "  which has no capacity in\n"
            "  this zone\n");
}

TEST(Table, PutsNotesBelowTheirRow) {
  Table table;
  table.column("GROUP");
  table.row({"gpu"});
  table.note("waits for 1 more node");
  EXPECT_EQ(table.text(plain), "GROUP\ngpu\n  waits for 1 more node\n");
}

TEST(Table, CountsNoEscapesAsWidth) {
  Table table;
  table.column("A");
  table.column("B");
  table.row({{"x", Tone::good}, "y"});
  table.row({"long", "z"});
  EXPECT_EQ(table.text(colour),
            "\033[2mA\033[0m     \033[2mB\033[0m\n"
            "\033[32mx\033[0m     y\n"
            "long  z\n");
}

TEST(Labelled, KeepsTheRestOfALongTextBelowItsBeginning) {
  EXPECT_EQ(labelled("since", 6, "one two three four five six seven", wide(38), 2),
            "  since   one two three four five six\n"
            "          seven\n");
}

TEST(Counted, KnowsOneFromMany) {
  EXPECT_EQ(counted(1, "node", "nodes"), "1 node");
  EXPECT_EQ(counted(0, "node", "nodes"), "0 nodes");
}

}  // namespace
}  // namespace muster::logic
