// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/yaml.hpp"

#include <gtest/gtest.h>

#include "sys/json.hpp"

namespace muster::sys {
namespace {

using logic::Value;

std::string as_json(const std::string& text) {
  const auto value = parse_yaml(text, "f.yaml");
  return value ? to_json(*value) : value.error().message;
}

void expect_place(const Value* value, int line, int column) {
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(value->place.line, line);
  EXPECT_EQ(value->place.column, column);
}

TEST(Yaml, GivesEachValueItsPlace) {
  const auto document = parse_yaml("a: 1\nb:\n  - x\n  - {c: 2, d: 'e'}\n  -\nf: 1000 MiB\n", "f.yaml");
  ASSERT_TRUE(document);
  expect_place(document->find("a"), 1, 4);
  expect_place(document->find("b"), 3, 3);
  expect_place(&document->list_or_empty("b")[0], 3, 5);
  expect_place(document->list_or_empty("b")[1].find("d"), 4, 15);
  expect_place(document->find("f"), 6, 4);
}

TEST(Yaml, ReadsPlainScalarsByTheCoreRules) {
  EXPECT_EQ(as_json("[~, null, true, False, 12, -5, +5, 0x10, 0o17, 1.5e3, .5, 3.]"),
            "[null,null,true,false,12,-5,5,16,15,1500.0,0.5,3.0]");
  EXPECT_EQ(as_json("[yes, no, on, 1_000, 1000 MiB, 0x, 08x, '-', 1.2.3]"),
            R"(["yes","no","on","1_000","1000 MiB","0x","08x","-","1.2.3"])");
}

TEST(Yaml, KeepsQuotedScalarsAsTexts) { EXPECT_EQ(as_json("['12', \"true\", '']"), R"(["12","true",""])"); }

TEST(Yaml, ReadsAnEmptyFileAsNothing) {
  EXPECT_EQ(as_json(""), "null");
  EXPECT_EQ(as_json("# only a comment\n"), "null");
  EXPECT_EQ(as_json("---\na: 1\n"), R"({"a":1})");
}

struct Refused {
  const char* name;
  std::string text;
  const char* message;
};

class YamlRefuses : public testing::TestWithParam<Refused> {};

TEST_P(YamlRefuses, WithThePlace) {
  const auto value = parse_yaml(GetParam().text, "f.yaml");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().message.rfind(GetParam().message, 0), 0u) << value.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Table, YamlRefuses,
    testing::Values(Refused{"a_key_twice", "a: 1\na: 2", "f.yaml:2:1: the key \"a\" stands here twice"},
                    Refused{"an_anchor", "a: &x 1", "f.yaml:1:4: anchors"},
                    Refused{"an_alias", "a: [1]\nb: *a", "f.yaml:2:4:"},
                    Refused{"a_tag", "a: !!int 1", "f.yaml:1:4: tags"},
                    Refused{"two_documents", "a: 1\n---\nb: 2", "f.yaml:2:1: a second document"},
                    Refused{"an_open_list", "a: [1,2", "f.yaml:1:"}, Refused{"a_tab", "a:\n\t- b", "f.yaml:2:"},
                    Refused{"wrong_indent", "a:\n  b: 1\n c: 2", "f.yaml:3:2:"},
                    Refused{"a_list_as_key", "{[1]: 2}", "f.yaml:1:2: a key has to be a text"},
                    Refused{"too_deep", std::string(33, '[') + std::string(33, ']'),
                            "f.yaml:1:33: more than 32 levels"},
                    Refused{"a_nul_byte", std::string("a: \0", 4), "f.yaml: holds a NUL byte"},
                    Refused{"too_large", std::string((1u << 20) + 1, ' '), "f.yaml: larger than"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace muster::sys
