// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/json.hpp"

#include <gtest/gtest.h>

namespace muster::sys {
namespace {

using logic::Value;

std::string round_trip(const std::string& text) {
  const auto value = parse_json(text);
  return value ? to_json(*value) : value.error().message;
}

TEST(Json, ComesBackAsItWasWritten) {
  const std::string text = R"({"a":[1,2.5,-3,true,null,"x\"\\\n"],"b":{},"c":[]})";
  EXPECT_EQ(round_trip(text), text);
}

TEST(Json, KeepsTheOrderOfKeys) { EXPECT_EQ(round_trip(R"({"z":1,"a":2,"m":3})"), R"({"z":1,"a":2,"m":3})"); }

TEST(Json, KeepsLargeWholeNumbersExact) {
  EXPECT_EQ(round_trip("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(round_trip("-9223372036854775808"), "-9223372036854775808");
}

struct Refused {
  const char* name;
  std::string text;
  const char* words;
};

class JsonRefuses : public testing::TestWithParam<Refused> {};

TEST_P(JsonRefuses, WithTheReason) {
  const auto value = parse_json(GetParam().text);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().kind, logic::ErrorKind::reject);
  EXPECT_NE(value.error().message.find(GetParam().words), std::string::npos) << value.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Table, JsonRefuses,
    testing::Values(Refused{"nothing", "", "line 1, column 1"}, Refused{"an_open_list", "[1,\n2", "line 2, column 1"},
                    Refused{"two_documents", "1 2", "line 1, column 3"},
                    Refused{"a_key_twice", "{\"a\":1,\n \"a\":2}", "line 2, column 4: the key \"a\" stands here twice"},
                    Refused{"bad_utf8", "\"\xff\"", "UTF-8"}, Refused{"a_number_too_large", "1e999", "number overflow"},
                    Refused{"too_deep", std::string(65, '['), "more than 64 levels"},
                    Refused{"a_nul_byte", std::string("[\0]", 3), "line 1, column 2"}),
    [](const auto& row) { return row.param.name; });

TEST(Json, FindsAKeyThatStandsTwiceAmongMany) {
  std::string text = "{";
  for (int index = 0; index < 100; ++index) text += "\"k" + std::to_string(index) + "\":0,";
  EXPECT_TRUE(parse_json(text + "\"other\":0}"));
  EXPECT_FALSE(parse_json(text + "\"k37\":0}"));
}

TEST(Json, RefusesMoreBytesThanAllowed) { EXPECT_FALSE(parse_json("[1,2,3]", 6)); }

TEST(Json, AcceptsSixtyFourLevels) { EXPECT_TRUE(parse_json(std::string(64, '[') + std::string(64, ']'))); }

TEST(Json, WritesBadUtf8AsReplacement) { EXPECT_EQ(to_json(Value("a\xff")), "\"a\xef\xbf\xbd\""); }

TEST(Json, WritesNoNumbersThatJsonLacks) { EXPECT_EQ(to_json(Value(1.0 / 0.0)), "null"); }

TEST(Json, WritesForPeopleWithIndent) {
  EXPECT_EQ(to_json(Value::map({{"a", Value::List{1, 2}}, {"b", Value::map()}}), true),
            "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}");
}

}  // namespace
}  // namespace muster::sys
