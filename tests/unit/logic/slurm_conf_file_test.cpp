// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/slurm_conf_file.hpp"

#include <gtest/gtest.h>

#include <map>

namespace muster::logic {
namespace {

Result<SlurmConfFile> read(const std::string& text, const std::map<std::string, std::string>& more = {}) {
  return read_slurm_conf(text, "/etc/slurm/slurm.conf", [&](const std::string& path) -> Result<std::string> {
    const auto found = more.find(path);
    if (found == more.end()) return reject_error("cannot open " + path);
    return found->second;
  });
}

TEST(SlurmConf, IsReadAsSlurmReadsIt) {
  const auto file = read(R"(# MaxNodeCount=1
clustername=lab
SlurmctldHost=head(10.0.0.1)
SlurmctldHost=head2
MaxNodeCount = 64   # a comment
ReturnToService=2
GresTypes=gpu,shard
JobSubmitPlugins="muster"
SlurmctldParameters=enable_configless,\
idle_on_node_suspend
EnforcePartLimits=yes
SuspendTime=-1
SlurmdTimeout=30
TreeWidth=65533
ReconfigFlags=KeepPartState,KeepPowerSaveSettings
NodeName=DEFAULT CPUs=4
NodeName=login[1-2] CPUs=8
NodeSet=muster_gpu Feature=muster_gpu
PartitionName=DEFAULT State=DOWN SuspendTime=INFINITE
PartitionName=gpu Nodes=muster_gpu,login1 Default=YES State=up
PartitionName=all Nodes=ALL SuspendTime=60
)");
  ASSERT_TRUE(file) << file.error().message;
  const SlurmFacts& facts = file->facts;
  EXPECT_EQ(facts.cluster_name, "lab");
  EXPECT_EQ(facts.controller_hosts, (std::vector<std::string>{"head", "head2"}));
  EXPECT_EQ(facts.max_node_count, 64);
  EXPECT_EQ(facts.return_to_service, 2);
  EXPECT_EQ(facts.gres_types, "gpu,shard");
  EXPECT_EQ(facts.job_submit_plugins, "muster");
  EXPECT_TRUE(facts.is_configless());
  EXPECT_EQ(facts.enforce_part_limits, "ALL");
  EXPECT_EQ(facts.suspend_time, std::nullopt);
  EXPECT_EQ(facts.slurmd_timeout, 30);
  EXPECT_EQ(facts.tree_width, 65533);
  EXPECT_EQ(facts.reconfig_flags, (std::vector<std::string>{"KeepPartState", "KeepPowerSaveSettings"}));
  EXPECT_EQ(file->nodes, (std::set<NodeName>{NodeName{"login1"}, NodeName{"login2"}}));
  EXPECT_EQ(facts.node_sets, std::vector<std::string>{"muster_gpu"});
  ASSERT_EQ(facts.partitions.size(), 2u);
  EXPECT_EQ(facts.partitions[0].nodes_spec, "muster_gpu,login1");
  EXPECT_EQ(facts.partitions[0].state, "UP");
  EXPECT_TRUE(facts.partitions[0].is_default);
  EXPECT_TRUE(facts.partitions[0].is_never_suspended);
  EXPECT_EQ(facts.partitions[1].state, "DOWN");
  EXPECT_EQ(facts.partitions[1].suspend_time, 60);
  EXPECT_FALSE(facts.partitions[1].is_never_suspended);
  EXPECT_EQ(facts.plugstack, "/etc/slurm/plugstack.conf");
}

TEST(SlurmConf, HasSlurmsDefaultsWhereItSaysNothing) {
  const auto file = read("ClusterName=lab\nNodeName=n[1-3]\n");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->facts.max_node_count, 3);
  EXPECT_EQ(file->facts.return_to_service, 0);
  EXPECT_EQ(file->facts.slurmd_timeout, 300);
  EXPECT_EQ(file->facts.enforce_part_limits, "NO");
  EXPECT_EQ(file->facts.tree_width, std::nullopt);
}

TEST(SlurmConf, IncludesFilesBesideItself) {
  const auto file = read("Include nodes.conf\n", {{"/etc/slurm/nodes.conf", "include /srv/more\nMaxNodeCount=9\n"},
                                                  {"/srv/more", "ReturnToService=2\n"}});
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->facts.max_node_count, 9);
  EXPECT_EQ(file->facts.return_to_service, 2);
}

TEST(SlurmConf, IsUnknownWhereAPartOfItCannotBeRead) {
  const auto missing = read("Include nodes.conf\n");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "/etc/slurm/slurm.conf: Include: cannot open /etc/slurm/nodes.conf");
  EXPECT_FALSE(read("Include slurm.conf", {{"/etc/slurm/slurm.conf", "Include slurm.conf"}}));
}

TEST(SlurmConf, SurvivesRubbish) {
  for (const char* text : {"", "=", "==\n=", "Include", "NodeName=", "PartitionName= Nodes=[", "NodeName=a[", "\\",
                           "a=\"b", "MaxNodeCount=many", "SlurmctldHost=("}) {
    EXPECT_TRUE(read(text)) << text;
  }
}

TEST(TopologyConf, ListsNodesOfSwitchesAndBlocks) {
  EXPECT_EQ(read_topology_conf("SwitchName=s1 Nodes=a[1-2]\nBlockName=b1 Nodes=b1 # c\nSwitchName=top Switches=s1\n"),
            (std::set<NodeName>{NodeName{"a1"}, NodeName{"a2"}, NodeName{"b1"}}));
}

TEST(Plugstack, NamesPluginsAndFilesToInclude) {
  const auto lines =
      read_plugstack("# required no.so\ninclude plugstack.conf.d/*\nREQUIRED  /lib/a.so x=1\noptional b.so\n");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].is_include);
  EXPECT_EQ(lines[0].path, "plugstack.conf.d/*");
  EXPECT_TRUE(lines[1].is_required);
  EXPECT_EQ(lines[1].path, "/lib/a.so");
  EXPECT_FALSE(lines[2].is_required);
  EXPECT_EQ(lines[2].path, "b.so");
}

}  // namespace
}  // namespace muster::logic
