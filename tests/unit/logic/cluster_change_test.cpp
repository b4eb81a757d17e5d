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

TEST(ClusterChange, MayRaiseTheTargetAndMoveMinCountEitherWay) {
  EXPECT_TRUE(check_change(cluster(4, 2), cluster(6, 4)));
  EXPECT_TRUE(check_change(cluster(4, 2), cluster(4, 0)));
  const auto changes = describe_changes(cluster(4, 2), cluster(6, 4));
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].text, "target 4 -> 6, MinCount 2 -> 4");
}

TEST(ClusterChange, SaysNothingOfAGroupThatStaysAsItIs) {
  EXPECT_TRUE(describe_changes(cluster(4, 2), cluster(4, 2)).empty());
}

TEST(ClusterChange, RefusesWhatThisVersionCannotDo) {
  EXPECT_FALSE(check_change(cluster(4, 2), cluster(3, 2))) << "fewer nodes";
  ClusterSpec empty = cluster(4, 2);
  empty.groups.clear();
  EXPECT_FALSE(check_change(cluster(4, 2), empty)) << "a group less";
  ClusterSpec other_shape = cluster(4, 2);
  other_shape.groups[0].cpus = 8;
  EXPECT_FALSE(check_change(cluster(4, 2), other_shape)) << "another shape";
  ClusterSpec other_name = cluster(4, 2);
  other_name.name = "other";
  EXPECT_FALSE(check_change(cluster(4, 2), other_name)) << "another cluster";
}

TEST(ClusterChange, NamesANewGroupWithWhatItWants) {
  EXPECT_EQ(describe_changes(std::nullopt, cluster(4, 2)).at(0).text.rfind("new: target 4, MinCount 2", 0), 0u);
}

}  // namespace
}  // namespace muster::logic
