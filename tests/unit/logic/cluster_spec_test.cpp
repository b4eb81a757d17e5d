// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/cluster_spec.hpp"

#include <gtest/gtest.h>

#include "logic/field_reader.hpp"
#include "logic/slurm_messages.hpp"

namespace muster::logic {
namespace {

Value at(Value value, int line, int column) {
  value.place = {line, column};
  return value;
}

Value good_group(const std::string& name = "gpu") {
  return at(
      Value::map(
          {{"name", name},
           {"partition", at("gpu", 9, 16)},
           {"target_count", at(6, 10, 19)},
           {"min_count", at(4, 11, 16)},
           {"provider", at("local", 12, 15)},
           {"node", at(Value::map({{"cpus", 2}, {"memory", "1000 MiB"}, {"gres", at("gpu:h100:4", 16, 13)}}), 14, 7)}}),
      8, 5);
}

Value file_with(Value::List groups) {
  return at(
      Value::map({{"cluster", at("lab", 1, 10)},
                  {"providers",
                   Value::map({{"local", at(Value::map({{"type", "exec"}, {"program", at("bin/p", 5, 14)}}), 4, 5)}})},
                  {"instance_groups", at(Value(std::move(groups)), 7, 3)}}),
      1, 1);
}

Result<ClusterSpec> parse(Value::List groups) {
  return parse_cluster_spec(file_with(std::move(groups)), "c.yaml", "/etc/muster");
}

std::string problem_of(Value::List groups) {
  const auto spec = parse(std::move(groups));
  return spec ? "" : spec.error().message;
}

TEST(ClusterSpec, ReadsAGoodFileWithItsDefaults) {
  const auto spec = parse({good_group()});
  ASSERT_TRUE(spec) << spec.error().message;
  const GroupSpec& group = spec->groups.at(0);
  EXPECT_EQ(group.node_name(3), NodeName{"gpu-3"});
  EXPECT_EQ(group.deadline, std::chrono::hours{3});
  EXPECT_EQ(spec->providers.at("local").program, "/etc/muster/bin/p");
  EXPECT_EQ(node_conf(group), "CPUs=2 RealMemory=1000 Gres=gpu:h100:4 Feature=muster_gpu");
}

TEST(ClusterSpec, SaysWhereMinCountIsAboveTargetCount) {
  Value group = good_group();
  group.set("min_count", at(7, 11, 16));
  EXPECT_EQ(problem_of({group}), "c.yaml:11:16: group gpu: min_count: expected 0 to target_count (6), found 7");
}

TEST(ClusterSpec, NamesAnUnknownKeyAndTheNearestKnownOne) {
  Value group = good_group();
  group.set("min_cuont", at(1, 13, 5));
  EXPECT_EQ(problem_of({group}), "c.yaml:13:5: group gpu: unknown key \"min_cuont\"; did you mean \"min_count\"?");
}

TEST(ClusterSpec, RefusesAWrongTypeWithWhatWasFound) {
  Value group = good_group();
  group.set("target_count", at("six", 10, 19));
  EXPECT_NE(problem_of({group}).find(
                "c.yaml:10:19: group gpu: target_count: expected a whole number from 0 to 6758, found \"six\""),
            std::string::npos);
}

TEST(ClusterSpec, RefusesTwoGroupsThatWouldMakeTheSameNodeNames) {
  Value other = good_group("other");
  other.set("node_prefix", at("gpu-", 20, 18));
  EXPECT_NE(
      problem_of({good_group(), other})
          .find(
              "c.yaml:20:18: group other: node_prefix \"gpu-\": expected node names of its own, found that group gpu "),
      std::string::npos);
}

TEST(ClusterSpec, SeesAnOverlapThatOnlyTheNumbersMakeWhateverTheCountsAre) {
  Value first = good_group("a");
  first.set("node_prefix", at("n", 20, 18));
  Value second = good_group("b");
  second.set("node_prefix", at("n1", 30, 18));
  EXPECT_NE(problem_of({first, second}).find("found that group a "), std::string::npos);
}

TEST(ClusterSpec, RefusesAGroupWhoseProviderIsNotDeclared) {
  Value group = good_group();
  group.set("provider", at("cloud", 12, 15));
  EXPECT_EQ(problem_of({group}),
            "c.yaml:12:15: group gpu: provider: expected one of providers: (local), found \"cloud\"");
}

TEST(ClusterSpec, ReportsAllProblemsOfAFileAtOnce) {
  Value group = good_group();
  group.set("min_count", at(9, 11, 16));
  group.set("provider", at("cloud", 12, 15));
  const std::string problems = problem_of({group});
  EXPECT_NE(problems.find("min_count"), std::string::npos);
  EXPECT_NE(problems.find("provider"), std::string::npos);
}

TEST(ClusterSpec, PrintsNodeSetsByFeatureAndNeverNodeNamesForSlurmConf) {
  const std::string lines = slurm_conf_lines(*parse({good_group()}));
  EXPECT_NE(lines.find("NodeSet=muster_gpu Feature=muster_gpu\n"), std::string::npos);
  EXPECT_NE(lines.find("PartitionName=gpu Nodes=muster_gpu"), std::string::npos);
  EXPECT_EQ(lines.find("gpu-1"), std::string::npos);
}

TEST(ClusterSpec, RefusesNodeAddressesThatAreNamesOrNotUnique) {
  Value group = good_group();
  group.set("registration", "slurm_conf");
  Value addresses = Value::list();
  addresses.push("10.1.0.[1-200]");
  addresses.push("10.1.0.7");
  addresses.push("gpu-host");
  group.set("node_addresses", std::move(addresses));
  const std::string problems = problem_of({group});
  EXPECT_NE(problems.find("expected numeric addresses, each once, found \"10.1.0.7\" again"), std::string::npos)
      << problems;
  EXPECT_NE(problems.find("expected numeric addresses, each once, found \"gpu-host\""), std::string::npos) << problems;
}

TEST(ClusterSpec, TellsTheIncludeLineOfGroupsInSlurmConfWithoutUsingItYet) {
  EXPECT_EQ(slurm_conf_lines(*parse({good_group()})).find("Include"), std::string::npos);
  Value group = good_group();
  group.set("registration", "slurm_conf");
  Value addresses = Value::list();
  addresses.push("10.1.[0-9].[1-200]");
  group.set("node_addresses", std::move(addresses));
  EXPECT_NE(slurm_conf_lines(*parse({group})).find("\n# Include muster-nodes.conf\n"), std::string::npos);
}

TEST(ClusterSpec, PrintsLinesThatSlurmctldStartsWithWhereAllGroupsBeginEmpty) {
  Value group = good_group();
  group.set("target_count", std::int64_t{0});
  group.set("min_count", std::int64_t{0});
  const std::string lines = slurm_conf_lines(*parse({group}));
  EXPECT_NE(lines.find("MaxNodeCount=1\n"), std::string::npos) << "0 is no number of nodes for it: " << lines;
}

TEST(FieldReader, ReadsDurationsAndSizesWithTheirUnitsOnly) {
  EXPECT_EQ(parse_duration("90 s"), std::chrono::seconds{90});
  EXPECT_EQ(parse_duration("3h"), std::chrono::hours{3});
  EXPECT_EQ(parse_duration("15 min"), std::chrono::minutes{15});
  EXPECT_FALSE(parse_duration("15"));
  EXPECT_FALSE(parse_duration("-1 s"));
  EXPECT_FALSE(parse_duration("99999999999999 h"));
  EXPECT_EQ(parse_size_mib("64 GiB"), 65536);
  EXPECT_FALSE(parse_size_mib("64"));
}

TEST(FieldReader, ShowsDurationsAsAPersonWouldSayThem) {
  EXPECT_EQ(duration_text(Duration{850}), "850 ms");
  EXPECT_EQ(duration_text(Duration{1500}), "1.5 s");
  EXPECT_EQ(duration_text(std::chrono::seconds{125}), "2 min 5 s");
  EXPECT_EQ(duration_text(std::chrono::hours{3}), "3 h");
  EXPECT_EQ(duration_text(std::chrono::hours{50}), "2 d 2 h");
}

// ---- Against what Slurm has ----

SlurmFacts slurm_with(int max_node_count) {
  SlurmFacts facts;
  facts.max_node_count = max_node_count;
  facts.gres_types = "gpu,shard";
  SlurmFacts::Partition partition;
  partition.name = PartitionName{"gpu"};
  partition.nodes_spec = "muster_gpu";
  partition.state = "UP";
  facts.partitions.push_back(partition);
  return facts;
}

std::string misfit(const ClusterSpec& spec, const SlurmFacts& facts, const SeenNodes& nodes,
                   const Ledger& ledger = {}) {
  const auto fits = check_against_slurm(spec, ledger, facts, nodes);
  return fits ? "" : fits.error().message;
}

TEST(CheckAgainstSlurm, TakesWhatFits) { EXPECT_EQ(misfit(*parse({good_group()}), slurm_with(6), {}), ""); }

TEST(CheckAgainstSlurm, NamesThePartitionThatSlurmConfLacksAndThoseItHas) {
  Value group = good_group();
  group.set("partition", at("big", 9, 16));
  EXPECT_NE(misfit(*parse({group}), slurm_with(6), {})
                .find("c.yaml:9:16: group gpu: partition: expected a partition of slurm.conf (gpu), found \"big\""),
            std::string::npos);
}

TEST(CheckAgainstSlurm, RefusesNodeNamesThatSlurmHasAlreadyUnlessTheyAreOurs) {
  SeenNodes nodes;
  nodes[NodeName{"gpu-3"}] = {};
  EXPECT_NE(misfit(*parse({good_group()}), slurm_with(20), nodes).find("found gpu-3 (not made by muster)"),
            std::string::npos);
  Ledger ledger;
  SlotRecord slot;
  slot.name = NodeName{"gpu-3"};
  ledger.groups[GroupName{"gpu"}].slots.push_back(slot);
  EXPECT_EQ(misfit(*parse({good_group()}), slurm_with(20), nodes, ledger), "");
}

TEST(CheckAgainstSlurm, RefusesANodeNameThatEqualsANodeSet) {
  SlurmFacts facts = slurm_with(20);
  facts.node_sets = {"gpu-2"};
  EXPECT_NE(misfit(*parse({good_group()}), facts, {}).find("node name gpu-2 equals a NodeSet"), std::string::npos);
}

TEST(CheckAgainstSlurm, RefusesAGresThatGresTypesLacks) {
  SlurmFacts facts = slurm_with(6);
  facts.gres_types = "nic";
  EXPECT_NE(
      misfit(*parse({good_group()}), facts, {}).find("expected one of slurm.conf's GresTypes (nic), found \"gpu\""),
      std::string::npos);
}

TEST(CheckAgainstSlurm, WarnsOfAPartitionThatDoesNotTakeTheGroup) {
  SlurmFacts facts = slurm_with(6);
  EXPECT_TRUE(warnings_against_slurm(*parse({good_group()}), facts).empty());
  facts.partitions[0].nodes_spec = "muster_other";
  EXPECT_EQ(warnings_against_slurm(*parse({good_group()}), facts).size(), 1u);
}

TEST(CheckAgainstSlurm, SaysHowLargeMaxNodeCountMustBe) {
  SeenNodes nodes;
  nodes[NodeName{"login"}] = {};
  EXPECT_NE(
      misfit(*parse({good_group()}), slurm_with(6), nodes).find("expected slurm.conf's MaxNodeCount to be 7 or more"),
      std::string::npos);
}

TEST(CheckRoom, RefusesOnlyWhatAsksForMoreRecordsThanSlurmHasRoomFor) {
  const ClusterSpec spec = *parse({good_group()});
  SeenNodes nodes;
  Ledger before;
  GroupRecord& group = before.groups[spec.groups.front().name];
  group.counts.target = 6;
  for (int index = 1; index <= 6; ++index) {
    SlotRecord slot;
    slot.name = spec.groups.front().node_name(index);
    group.slots.push_back(slot);
    nodes[slot.name] = {};
  }
  const auto with_target = [&](int target) {
    Ledger after = before;
    after.groups.begin()->second.counts.target = target;
    return after;
  };
  EXPECT_TRUE(check_room(spec, before, with_target(8), slurm_with(8), nodes));
  const Status refused = check_room(spec, before, with_target(9), slurm_with(8), nodes);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "expected slurm.conf's MaxNodeCount to be 9 or more (6 nodes there, 3 to make), found 8; set it and "
            "restart slurmctld once");
  EXPECT_TRUE(check_room(spec, with_target(9), with_target(9), slurm_with(8), nodes)) << "a command that adds nothing";
  EXPECT_TRUE(check_room(spec, with_target(9), with_target(7), slurm_with(6), nodes)) << "one that takes away";
}

}  // namespace
}  // namespace muster::logic
