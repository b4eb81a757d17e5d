// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/slurm_files.hpp"

#include <gtest/gtest.h>

#include "sys/files.hpp"
#include "tests/unit/sys/temporary_directory.hpp"

namespace muster::sys {
namespace {

class SlurmFiles : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) { ASSERT_TRUE(replace_file(path(name), text)); }
  std::string path(const std::string& name) const { return directory_.file(name); }

  TemporaryDirectory directory_;
};

TEST_F(SlurmFiles, ReadsSlurmConfWithWhatItIncludes) {
  write("slurm.conf", "ClusterName=lab\nInclude nodes.conf\n");
  write("nodes.conf", "NodeName=n[1-2]\nMaxNodeCount=9\n");
  const auto file = load_slurm_conf(path("slurm.conf"));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->facts.max_node_count, 9);
  EXPECT_EQ(file->nodes.size(), 2u);
  EXPECT_FALSE(load_slurm_conf(path("absent.conf")));
}

TEST_F(SlurmFiles, TellsWhetherAFileIsIncludedAndLeavesItOut) {
  write("slurm.conf", "NodeName=login\nInclude nodes.conf\n");
  EXPECT_TRUE(load_slurm_conf(path("slurm.conf"), path("nodes.conf"))->has_left_out) << "also while it is absent";
  write("nodes.conf", "NodeName=n[1-2]\n");
  const auto file = load_slurm_conf(path("slurm.conf"), path("") + "./nodes.conf");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->has_left_out);
  EXPECT_FALSE(file->says_max_node_count);
  EXPECT_EQ(file->nodes, std::set<logic::NodeName>{logic::NodeName{"login"}});
  EXPECT_FALSE(load_slurm_conf(path("slurm.conf"), path("other.conf"))->has_left_out);
}

TEST_F(SlurmFiles, ReadsTheTopologyBesideSlurmConf) {
  EXPECT_FALSE(load_topology(path("slurm.conf")));
  write("topology.conf", "SwitchName=s Nodes=n[1-3]\n");
  EXPECT_EQ(load_topology(path("slurm.conf"))->size(), 3u);
}

TEST_F(SlurmFiles, FindsTheSpankModuleInIncludedFiles) {
  write("plugstack.conf", "include conf.d/*.conf\n");
  ASSERT_TRUE(make_directories(path("conf.d")));
  write("conf.d/other.conf", "required /lib/other.so\n");
  EXPECT_FALSE(find_spank_plugin(path("plugstack.conf"), "", "spank_muster.so").is_listed);
  write("conf.d/ours.conf", "required spank_muster.so\n");
  const logic::SpankFacts facts = find_spank_plugin(path("plugstack.conf"), path(""), "spank_muster.so");
  EXPECT_TRUE(facts.is_listed);
  EXPECT_TRUE(facts.is_required);
  EXPECT_EQ(facts.file.path, "");
  write("spank_muster.so", "rubbish");
  EXPECT_EQ(find_spank_plugin(path("plugstack.conf"), path(""), "spank_muster.so").file.trouble, "not a shared object");
}

TEST_F(SlurmFiles, SaysWhyPlugstackCannotBeRead) {
  EXPECT_NE(find_spank_plugin(path("absent"), "", "spank_muster.so").trouble.find("No such file"), std::string::npos);
}

TEST_F(SlurmFiles, TakesTheModuleOfTheFirstFolderThatHasIt) {
  EXPECT_EQ(find_plugin("/nonexistent:" + directory_.path(), "a.so").path, "");
  write("a.so", "rubbish");
  EXPECT_EQ(find_plugin("/nonexistent:" + directory_.path(), "a.so").trouble, "not a shared object");
}

}  // namespace
}  // namespace muster::sys
