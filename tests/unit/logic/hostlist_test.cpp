// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/hostlist.hpp"

#include <gtest/gtest.h>

namespace muster::logic {
namespace {

using Names = std::vector<std::string>;

struct CompressRow {
  const char* what;
  Names names;
  const char* list;
};

class CompressNames : public testing::TestWithParam<CompressRow> {};

TEST_P(CompressNames, WritesTheShortForm) { EXPECT_EQ(compress_names(GetParam().names), GetParam().list); }

INSTANTIATE_TEST_SUITE_P(
    Rows, CompressNames,
    testing::Values(CompressRow{"nothing", {}, ""}, CompressRow{"one", {"gpu-3"}, "gpu-3"},
                    CompressRow{"run_and_gap", {"gpu-4", "gpu-1", "gpu-2", "gpu-3", "gpu-6"}, "gpu-[1-4,6]"},
                    CompressRow{"each_once", {"gpu-1", "gpu-1"}, "gpu-1"},
                    CompressRow{"numbers_not_text", {"n10", "n9", "n2"}, "n[2,9-10]"},
                    CompressRow{"leading_zeros", {"n01", "n02", "n10"}, "n[01-02,10]"},
                    CompressRow{"zeros_of_other_width", {"n09", "n010"}, "n[09,010]"},
                    CompressRow{"several_prefixes", {"login1", "gpu-2", "gpu-1", "head"}, "gpu-[1-2],head,login1"}),
    [](const auto& row) { return row.param.what; });

struct ExpandRow {
  const char* what;
  const char* list;
  Names names;
};

class ExpandNames : public testing::TestWithParam<ExpandRow> {};

TEST_P(ExpandNames, GivesTheNamesInOrder) {
  const auto names = expand_names(GetParam().list);
  ASSERT_TRUE(names) << names.error().message;
  EXPECT_EQ(*names, GetParam().names);
}

INSTANTIATE_TEST_SUITE_P(Rows, ExpandNames,
                         testing::Values(ExpandRow{"nothing", "", {}}, ExpandRow{"plain", "a,b", {"a", "b"}},
                                         ExpandRow{"ranges", "gpu-[1-3,6]", {"gpu-1", "gpu-2", "gpu-3", "gpu-6"}},
                                         ExpandRow{"order_of_the_node_table", "dyn[4,1,5]", {"dyn4", "dyn1", "dyn5"}},
                                         ExpandRow{"zeros", "n[08-10]", {"n08", "n09", "n10"}},
                                         ExpandRow{"two_brackets", "r[1-2]n[1-2]", {"r1n1", "r1n2", "r2n1", "r2n2"}},
                                         ExpandRow{"mixed", "a[1-2],b", {"a1", "a2", "b"}}),
                         [](const auto& row) { return row.param.what; });

class ExpandNamesRefuses : public testing::TestWithParam<const char*> {};

TEST_P(ExpandNamesRefuses, WhatIsMalformed) { EXPECT_FALSE(expand_names(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Rows, ExpandNamesRefuses,
                         testing::Values("a[", "a]", "a[]", "a[1-]", "a[2-1]", "a[x]", "a[[1]]", ",a", "a,", "a b",
                                         "a[1,]", "a[1-4"));

TEST(ExpandNamesLimits, RefusesMoreNamesThanAsked) {
  EXPECT_FALSE(expand_names("n[1-999999999999]"));
  EXPECT_FALSE(expand_names("n[1-100]m[1-100]", 9999));
  EXPECT_TRUE(expand_names("n[1-100]m[1-100]", 10000));
  EXPECT_FALSE(expand_names("a[1-5],b[1-5]", 9));
}

TEST(ExpandNamesLimits, RefusesALongNameBeforeMultiplyingIt) {
  EXPECT_FALSE(expand_names("n[1-60000]" + std::string(500000, 'x')));
}

TEST(Hostlist, GivesBackWhatItCompressed) {
  const Names names{"a1", "a2", "a3", "b007", "b008", "c"};
  EXPECT_EQ(*expand_names(compress_names(names)), names);
}

}  // namespace
}  // namespace muster::logic
