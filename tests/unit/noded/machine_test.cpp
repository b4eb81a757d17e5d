// SPDX-License-Identifier: GPL-2.0-or-later
#include "noded/machine.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace muster::noded {
namespace {

class Machine : public testing::Test {
 protected:
  Machine() {
    std::string name = testing::TempDir() + "muster-machine-XXXXXX";
    folder = mkdtemp(name.data());
    config.identity_sources = {IdentitySource::file};
    config.identity_file = folder + "/instance-id";
    config.slurmd_program = "/bin/sh";
    config.device_patterns = {{"gpu", folder + "/gpu[0-9]*"}};
    wanted.gres = {{"gpu", "h100", 2}};
  }
  ~Machine() override { std::filesystem::remove_all(folder); }
  void write(const std::string& name, const std::string& content) { std::ofstream(folder + "/" + name) << content; }

  std::string folder;
  NodeConfig config;
  logic::Assignment wanted;
};

TEST_F(Machine, ReadsItsInstanceIdFromTheFile) {
  write("instance-id", "  i-0123\n");
  EXPECT_EQ(*find_instance_id(config), "i-0123");
}

TEST_F(Machine, FallsBackToTheNextSource) {
  config.identity_sources = {IdentitySource::file, IdentitySource::hostname};
  const auto id = find_instance_id(config);
  if (host_name() == "localhost") GTEST_SKIP() << "this machine has no name";
  EXPECT_EQ(*id, host_name());
}

TEST_F(Machine, RefusesAnInstanceIdOfSeveralWords) {
  write("instance-id", "two words\n");
  EXPECT_FALSE(find_instance_id(config));
}

TEST_F(Machine, CountsTheDeviceFilesThatAreThere) {
  write("gpu0", "");
  write("gpu1", "");
  std::filesystem::create_directory(folder + "/gpu2");
  std::filesystem::create_symlink(folder + "/nowhere", folder + "/gpu3");
  logic::MachineFacts facts = look_at_machine(config, wanted);
  ASSERT_EQ(facts.devices.size(), 1u);
  EXPECT_EQ(facts.devices[0].first, 2);
  write("gpu4", "");
  count_devices_again(facts);
  EXPECT_EQ(facts.devices[0].first, 2);
  EXPECT_EQ(facts.devices[0].second, 3);
}

TEST_F(Machine, CountsOnlyTheGresThatIsWanted) {
  wanted.gres.clear();
  EXPECT_TRUE(look_at_machine(config, wanted).devices.empty());
}

TEST_F(Machine, SaysWhyTheSlurmdProgramCannotBeUsed) {
  EXPECT_EQ(look_at_machine(config, wanted).slurmd_problem, "");
  config.slurmd_program = folder + "/slurmd";
  EXPECT_NE(look_at_machine(config, wanted).slurmd_problem.find("No such file"), std::string::npos);
  config.slurmd_program = folder;
  EXPECT_NE(look_at_machine(config, wanted).slurmd_problem.find("not a file"), std::string::npos);
}

TEST_F(Machine, HasAProcessorAndMemory) {
  const logic::MachineFacts facts = look_at_machine(config, wanted);
  EXPECT_GE(facts.cpus, 1);
  EXPECT_GE(facts.memory_mib, 64);
}

}  // namespace
}  // namespace muster::noded
