// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/gate_table.hpp"

#include <gtest/gtest.h>

namespace muster::logic {
namespace {

GateTable quickstart_table() {
  GateTable table;
  table.time = time_from_seconds(1764576000);
  table.cluster = "quickstart";
  table.default_partition = PartitionName("gpu");
  table.partitions = {{PartitionName("gpu"), 0}, {PartitionName("mixed"), 3}};
  GateGroup group;
  group.partition = PartitionName("gpu");
  group.group = GroupName("h100");
  group.open = true;
  group.ready = 5;
  group.open_nodes = 4;
  group.min_count = 4;
  group.target_count = 6;
  group.cpus = 2;
  group.memory_mib = 1000;
  group.features = {"h100", "muster_h100"};
  group.gres = {"gpu:h100:4"};
  group.deadline = time_from_seconds(1764586800);
  table.groups = {group};
  return table;
}

std::string trouble_in(std::string_view text) {
  const auto table = read_gate_table(text);
  return table ? "" : table.error().message;
}

/// The text with one line exchanged and a fitting end line: what a wrong writer would make, not a torn file.
std::string with_line(std::string text, std::string_view from, std::string_view to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(GateTable, ReadsBackEveryFieldThatWasWritten) {
  const auto table = read_gate_table(write_gate_table(quickstart_table()));
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->time, time_from_seconds(1764576000));
  EXPECT_EQ(table->cluster, "quickstart");
  EXPECT_EQ(table->default_partition, PartitionName("gpu"));
  ASSERT_EQ(table->partitions.size(), 2U);
  EXPECT_EQ(table->partitions[1].name, PartitionName("mixed"));
  EXPECT_EQ(table->partitions[1].foreign_nodes, 3);
  ASSERT_EQ(table->groups.size(), 1U);
  const auto& group = table->groups[0];
  EXPECT_EQ(group.partition, PartitionName("gpu"));
  EXPECT_EQ(group.group, GroupName("h100"));
  EXPECT_TRUE(group.open);
  EXPECT_EQ(group.ready, 5);
  EXPECT_EQ(group.open_nodes, 4);
  EXPECT_EQ(group.min_count, 4);
  EXPECT_EQ(group.target_count, 6);
  EXPECT_EQ(group.cpus, 2);
  EXPECT_EQ(group.memory_mib, 1000);
  EXPECT_EQ(group.features, (std::vector<std::string>{"h100", "muster_h100"}));
  EXPECT_EQ(group.gres, std::vector<std::string>{"gpu:h100:4"});
  EXPECT_EQ(group.deadline, time_from_seconds(1764586800));
}

TEST(GateTable, IsPlainTextThatAPersonCanRead) {
  const auto text = write_gate_table(quickstart_table());
  EXPECT_EQ(text.substr(0, text.rfind("end ")),
            "muster-gate 1\ntime 1764576000\ncluster quickstart\ndefault gpu\npartition gpu 0\npartition mixed 3\n"
            "group gpu h100 open 5 4 4 6 2 1000 h100,muster_h100 gpu:h100:4 1764586800\n");
}

TEST(GateTable, KeepsAGroupWithoutFeaturesGresAndDeadline) {
  auto wanted = quickstart_table();
  wanted.groups[0].features.clear();
  wanted.groups[0].gres.clear();
  wanted.groups[0].deadline = no_time;
  wanted.default_partition = PartitionName();
  const auto table = read_gate_table(write_gate_table(wanted));
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_TRUE(table->groups[0].features.empty());
  EXPECT_TRUE(table->groups[0].gres.empty());
  EXPECT_EQ(table->groups[0].deadline, no_time);
  EXPECT_TRUE(table->default_partition.empty());
}

TEST(GateTable, ReadsAClusterWithoutGroups) {
  GateTable empty;
  empty.time = time_from_seconds(1);
  EXPECT_TRUE(read_gate_table(write_gate_table(empty)));
}

TEST(GateTable, NoticesATornFileAtEveryLength) {
  const auto text = write_gate_table(quickstart_table());
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(read_gate_table(text.substr(0, length))) << "cut to " << length << " bytes";
  }
}

TEST(GateTable, NoticesEveryChangedByte) {
  const auto text = write_gate_table(quickstart_table());
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto changed = text;
    changed[at] = changed[at] == '7' ? '8' : '7';
    EXPECT_FALSE(read_gate_table(changed)) << "byte " << at;
  }
}

TEST(GateTable, RefusesTextAfterTheEnd) {
  EXPECT_EQ(trouble_in(write_gate_table(quickstart_table()) + "x"), "gate table: text after the end line");
}

TEST(GateTable, RefusesAnotherVersion) {
  EXPECT_EQ(trouble_in(with_line(write_gate_table(quickstart_table()), "muster-gate 1", "muster-gate 2")),
            "gate table: does not begin with 'muster-gate 1'");
}

TEST(GateTable, RefusesWhatIsLargerThanItsLimits) {
  EXPECT_EQ(trouble_in(std::string(gate_table_size_limit + 1, 'x')), "gate table: larger than 4 MiB");
  std::string lines = "muster-gate 1\n";
  for (std::size_t line = 0; line < gate_table_line_limit; ++line) { lines += "partition a 0\n"; }
  EXPECT_EQ(trouble_in(lines), "gate table: too many lines");
  EXPECT_EQ(trouble_in("muster-gate 1\ncluster " + std::string(gate_table_word_limit + 1, 'x') + "\n"),
            "gate table: line 2: a word is too long");
}

TEST(GateTable, WritesABlankInANameAsAQuestionMark) {
  auto wanted = quickstart_table();
  wanted.cluster = "two words\n";
  const auto table = read_gate_table(write_gate_table(wanted));
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->cluster, "two?words?");
}

struct BadLine {
  const char* name;
  const char* line;
  const char* trouble;
};

class GateTableLine : public testing::TestWithParam<BadLine> {};

TEST_P(GateTableLine, IsRefusedWithItsPlaceAndReason) {
  EXPECT_EQ(trouble_in("muster-gate 1\n" + std::string(GetParam().line) + "\n"),
            "gate table: line 2: " + std::string(GetParam().trouble));
}

INSTANTIATE_TEST_SUITE_P(
    , GateTableLine,
    testing::Values(BadLine{"UnknownKind", "weather fine", "unknown kind of line"},
                    BadLine{"Empty", "", "unknown kind of line"},
                    BadLine{"MissingWord", "partition gpu", "a word is missing"},
                    BadLine{"WordTooMany", "partition gpu 0 0", "there are words too many"},
                    BadLine{"TwoBlanks", "partition  gpu 0", "a word is empty"},
                    BadLine{"BlankAtTheEnd", "partition gpu 0 ", "a word is empty"},
                    BadLine{"Tab", "partition g\tu 0", "a word has a control character"},
                    BadLine{"Negative", "partition gpu -1", "expected a number from 0 to 1000000, got '-1'"},
                    BadLine{"TooLarge", "partition gpu 1000001", "expected a number from 0 to 1000000, got '1000001'"},
                    BadLine{"TimeBeyondReason", "time 253402300800",
                            "expected a number from 0 to 253402300799, got '253402300800'"},
                    BadLine{"State", "group gpu gpu ajar 0 0 0 0 0 0 - - 0", "expected open or gathering"},
                    BadLine{"EmptyPartOfAList", "group gpu gpu open 0 0 0 0 0 0 a,,b - 0", "a list has an empty part"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace muster::logic
