// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/cluster_change.hpp"

#include <gtest/gtest.h>

namespace muster::logic {
namespace {

ClusterSpec cluster(int target, int minimum) {
  ClusterSpec spec;
  spec.name = "lab";
  spec.file_name = "c.yaml";
  GroupSpec group;
  group.name = GroupName{"gpu"};
  group.partition = PartitionName{"gpu"};
  group.target_count = target;
  group.min_count = minimum;
  group.node_prefix = "gpu-";
  spec.groups.push_back(group);
  return spec;
}

/// A ledger in which the group has these counts.
Ledger ledger_of(int target, int minimum) {
  Ledger ledger;
  GroupRecord& group = ledger.groups[GroupName{"gpu"}];
  group.name = GroupName{"gpu"};
  group.counts = {target, minimum};
  return ledger;
}

TEST(ClusterChange, MayMoveBothCountsEitherWay) {
  EXPECT_TRUE(check_change(cluster(4, 2), ledger_of(4, 2), cluster(6, 4)));
  EXPECT_TRUE(check_change(cluster(4, 2), ledger_of(4, 2), cluster(3, 0)));
  const auto changes = describe_changes(cluster(4, 2), ledger_of(4, 2), cluster(6, 4));
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].text, "target 4 -> 6, MinCount 2 -> 4");
}

TEST(ClusterChange, SaysNothingOfAGroupThatStaysAsItIs) {
  EXPECT_TRUE(describe_changes(cluster(4, 2), ledger_of(4, 2), cluster(4, 2)).empty());
}

TEST(ClusterChange, ComparesWithTheCountsThatHoldNowAndNotWithTheFileBefore) {
  const auto changes = describe_changes(cluster(4, 2), ledger_of(0, 0), cluster(4, 2));
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].text, "target 0 -> 4, MinCount 0 -> 2");
}

TEST(ClusterChange, RefusesWhatCannotBeDoneToAGroup) {
  ClusterSpec empty = cluster(4, 2);
  empty.groups.clear();
  const Status gone = check_change(cluster(4, 2), ledger_of(4, 2), empty);
  ASSERT_FALSE(gone) << "a group less";
  EXPECT_NE(gone.error().message.find("muster delete gpu"), std::string::npos);
  ClusterSpec other_shape = cluster(4, 2);
  other_shape.groups[0].cpus = 8;
  EXPECT_FALSE(check_change(cluster(4, 2), ledger_of(4, 2), other_shape)) << "another shape";
  ClusterSpec other_name = cluster(4, 2);
  other_name.name = "other";
  EXPECT_FALSE(check_change(cluster(4, 2), ledger_of(4, 2), other_name)) << "another cluster";
  ClusterSpec other_type = cluster(4, 2);
  other_type.groups[0].node_type = NodeType::login;
  EXPECT_FALSE(check_change(cluster(4, 2), ledger_of(4, 2), other_type)) << "another node type";
}

TEST(ClusterChange, LetsAFileDropAGroupOnlyWhenItIsGone) {
  ClusterSpec empty = cluster(4, 2);
  empty.groups.clear();
  Ledger ledger = ledger_of(4, 2);
  ledger.groups.begin()->second.deleting = "uid 0";
  EXPECT_FALSE(check_change(cluster(4, 2), ledger, empty));
  ledger.groups.begin()->second.deleted = true;
  EXPECT_TRUE(check_change(cluster(4, 2), ledger, empty));
}

TEST(ClusterChange, NamesANewGroupWithWhatItWants) {
  EXPECT_EQ(describe_changes(std::nullopt, {}, cluster(4, 2)).at(0).text.rfind("new: target 4, MinCount 2", 0), 0u);
}

}  // namespace
}  // namespace muster::logic
