// SPDX-License-Identifier: GPL-2.0-or-later
#include "noded/state_file.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace muster::noded {
namespace {

class StateFiles : public testing::Test {
 protected:
  StateFiles() {
    std::string name = testing::TempDir() + "muster-state-XXXXXX";
    folder = mkdtemp(name.data());
  }
  ~StateFiles() override { std::filesystem::remove_all(folder); }
  std::string folder;
};

TEST_F(StateFiles, AreEmptyAtFirst) {
  const auto state = StateFile::open(folder);
  ASSERT_TRUE(state) << state.error().message;
  const auto record = state->load();
  ASSERT_TRUE(record);
  EXPECT_FALSE(*record);
}

TEST_F(StateFiles, GiveBackWhatWasSaved) {
  SlurmdRecord record;
  record.node = logic::NodeName{"gpu-1"};
  record.start = 3;
  record.since = logic::time_from_milliseconds(1234567890123);
  record.by_systemd = true;
  record.process = {4711, 987654321};
  record.boot_id = "b";
  {
    const auto state = StateFile::open(folder);
    ASSERT_TRUE(state);
    ASSERT_TRUE(state->save(record));
  }
  const auto state = StateFile::open(folder);
  ASSERT_TRUE(state) << state.error().message;
  const auto loaded = state->load();
  ASSERT_TRUE(loaded);
  EXPECT_EQ((**loaded).node, record.node);
  EXPECT_EQ((**loaded).start, 3);
  EXPECT_EQ((**loaded).since, record.since);
  EXPECT_TRUE((**loaded).by_systemd);
  EXPECT_EQ((**loaded).process, record.process);
  EXPECT_EQ((**loaded).boot_id, "b");
}

TEST_F(StateFiles, BelongToOneNodedAtATime) {
  const auto first = StateFile::open(folder);
  ASSERT_TRUE(first);
  const auto second = StateFile::open(folder);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another muster-noded"), std::string::npos);
}

TEST_F(StateFiles, AreNotTakenForEmptyWhenTheyCannotBeUnderstood) {
  std::ofstream(folder + "/state.json") << "{\"Version\":";
  const auto state = StateFile::open(folder);
  ASSERT_TRUE(state);
  EXPECT_FALSE(state->load());
}

}  // namespace
}  // namespace muster::noded
