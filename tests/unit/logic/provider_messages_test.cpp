// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/provider_messages.hpp"

#include <gtest/gtest.h>

namespace muster::logic {
namespace {

const LaunchToken token{"lab.gpu-1.1"};

ProviderRun answered(Value answer) {
  ProviderRun run;
  run.answer = std::move(answer);
  return run;
}

TEST(ProviderMessages, ALaunchThatAnswersWithAnIdSucceeded) {
  const LaunchResult result =
      read_launch(token, answered(Value::map({{"instance_id", "i-1"}, {"address", "10.0.0.1"}})));
  EXPECT_EQ(result.failure, FailureClass::none);
  EXPECT_EQ(result.instance, InstanceId{"i-1"});
}

TEST(ProviderMessages, AStatedErrorKeepsItsClassAndMeansThatNothingWasLaunched) {
  for (const FailureClass failure :
       {FailureClass::capacity, FailureClass::quota, FailureClass::configuration, FailureClass::transient}) {
    const Value error = Value::map({{"class", failure_class_name(failure)}, {"message", "no"}});
    const LaunchResult result = read_launch(token, answered(Value::map({{"error", error}})));
    EXPECT_EQ(result.failure, failure);
    EXPECT_FALSE(result.outcome_unknown);
  }
}

TEST(ProviderMessages, AnUnknownErrorClassIsTransient) {
  const Value error = Value::map({{"class", "moon phase"}, {"message", "no"}});
  EXPECT_EQ(read_launch(token, answered(Value::map({{"error", error}}))).failure, FailureClass::transient);
}

TEST(ProviderMessages, TroubleAndRubbishLeaveOpenWhetherAMachineExists) {
  ProviderRun killed;
  killed.trouble = "ended by signal 9";
  EXPECT_TRUE(read_launch(token, killed).outcome_unknown);
  EXPECT_TRUE(read_launch(token, answered(Value::map())).outcome_unknown);
  EXPECT_TRUE(read_launch(token, answered(Value::map({{"instance_id", "two words"}}))).outcome_unknown);
  EXPECT_TRUE(
      read_launch(token, answered(Value::map({{"instance_id", "i-1"}, {"address", "host; reboot"}}))).outcome_unknown);
}

TEST(ProviderMessages, AListWithoutInstancesIsUnknownNotEmpty) {
  EXPECT_FALSE(read_list(GroupName{"gpu"}, answered(Value::map())));
  ProviderRun killed;
  killed.trouble = "timed out";
  EXPECT_FALSE(read_list(GroupName{"gpu"}, killed));
  const auto empty = read_list(GroupName{"gpu"}, answered(Value::map({{"instances", Value::list()}})));
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->empty());
}

TEST(ProviderMessages, AListLeavesOutMachinesOfOtherGroups) {
  Value list = Value::list();
  list.push(Value::map({{"instance_id", "i-1"}, {"token", "a"}, {"group", "gpu"}}));
  list.push(Value::map({{"instance_id", "i-2"}, {"token", "b"}, {"group", "cpu"}}));
  EXPECT_EQ(read_list(GroupName{"gpu"}, answered(Value::map({{"instances", list}})))->size(), 1u);
}

TEST(ProviderMessages, AnEmptyObjectMeansThatTheMachineIsGone) {
  EXPECT_TRUE(read_terminate(InstanceId{"i-1"}, answered(Value::map())).ok);
  EXPECT_FALSE(read_terminate(InstanceId{"i-1"}, answered(Value())).ok);
}

}  // namespace
}  // namespace muster::logic
