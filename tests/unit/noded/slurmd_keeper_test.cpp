// SPDX-License-Identifier: GPL-2.0-or-later
#include "noded/slurmd_keeper.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace muster::noded {
namespace {

/// With a shell script for slurmd: it appends its arguments to a file and does what the test says.
class Keeper : public testing::Test {
 protected:
  Keeper() {
    std::string name = testing::TempDir() + "muster-keeper-XXXXXX";
    folder = mkdtemp(name.data());
    loop = std::move(*sys::EventLoop::create());
    config.slurmd_by = SlurmdBy::child;
    config.slurmd_program = folder + "/slurmd";
    wanted.assigned = true;
    wanted.node = logic::NodeName{"gpu-1"};
    wanted.node_conf = "CPUs=2";
    wanted.slurmd_start = 1;
  }
  ~Keeper() override {
    keeper.reset();
    for (const pid_t process : started) {
      kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
    }
    std::filesystem::remove_all(folder);
  }

  void slurmd_does(const std::string& what) {
    std::ofstream(config.slurmd_program) << "#!/bin/sh\necho \"$@\" >>" << folder << "/arguments\n" << what << "\n";
    std::filesystem::permissions(config.slurmd_program, std::filesystem::perms::owner_all);
  }
  void open_keeper(const std::string& boot = "boot-1") {
    keeper.reset();
    auto state = StateFile::open(folder);
    ASSERT_TRUE(state) << state.error().message;
    keeper = std::make_unique<SlurmdKeeper>(
        *loop, config, std::move(*state), boot, logic::SlurmdRule{}, [] { return 0.0; },
        [this] {
          if (until && until(keeper->view())) loop->stop();
        });
    const auto adopted = keeper->adopt();
    ASSERT_TRUE(adopted) << adopted.error().message;
    note_process();
  }
  void start() {
    keeper->start(wanted);
    note_process();
  }
  /// Once in a test.
  void run_until(std::function<bool(const logic::SlurmdView&)> condition) {
    if (condition(keeper->view())) return;
    until = std::move(condition);
    ASSERT_TRUE(loop->run());
  }
  void run_until_ended() {
    run_until([](const logic::SlurmdView& view) { return !view.alive; });
  }
  void note_process() {
    const auto text = content("state.json");
    const auto at = text.find("\"Pid\":");
    if (at != std::string::npos) pid = std::atoi(text.c_str() + at + 6);
    if (pid > 0) started.push_back(pid);
  }
  std::string content(const std::string& name) {
    std::ifstream file(folder + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder;
  std::unique_ptr<sys::EventLoop> loop;
  NodeConfig config;
  logic::Assignment wanted;
  std::unique_ptr<SlurmdKeeper> keeper;
  std::function<bool(const logic::SlurmdView&)> until;
  pid_t pid = 0;
  std::vector<pid_t> started;
};

TEST_F(Keeper, StartsSlurmdAsADynamicNodeThatIsBornClosed) {
  slurmd_does("exit 0");
  open_keeper();
  start();
  run_until_ended();
  EXPECT_EQ(content("arguments"), "-D -Z -N gpu-1 --conf CPUs=2 State=DRAIN Reason=muster:unregistered\n");
}

TEST_F(Keeper, TellsHowSlurmdEndedAndItsLastWords) {
  slurmd_does("echo 'error: cannot bind' >&2; exit 3");
  open_keeper();
  start();
  run_until_ended();
  const logic::SlurmdView& view = keeper->view();
  EXPECT_FALSE(view.alive);
  EXPECT_EQ(view.failures, 1);
  EXPECT_EQ(view.last_end.rfind("exit status 3 after ", 0), 0u) << view.last_end;
  EXPECT_NE(view.last_end.find(": error: cannot bind"), std::string::npos) << view.last_end;
  EXPECT_GT(view.next_start, view.since);
}

TEST_F(Keeper, FindsItsSlurmdAgainAfterARestart) {
  slurmd_does("exec sleep 60");
  open_keeper();
  start();
  const pid_t first = pid;
  open_keeper();
  EXPECT_TRUE(keeper->view().alive);
  EXPECT_EQ(keeper->view().start, 1);
  EXPECT_EQ(keeper->view().node, wanted.node);
  EXPECT_EQ(pid, first);
}

TEST_F(Keeper, DoesNotTakeAProcessOfAnEarlierBootForItsSlurmd) {
  slurmd_does("exec sleep 60");
  open_keeper();
  start();
  open_keeper("boot-2");
  EXPECT_FALSE(keeper->view().alive);
  EXPECT_EQ(keeper->view().start, 1);
}

TEST_F(Keeper, EndsTheOldSlurmdBeforeItStartsTheNext) {
  slurmd_does("exec sleep 60");
  open_keeper();
  start();
  const pid_t first = pid;
  wanted.slurmd_start = 2;
  keeper->start(wanted);
  EXPECT_TRUE(keeper->view().changing);
  run_until([](const logic::SlurmdView& view) { return !view.changing; });
  EXPECT_FALSE(sys::find_process(first));
  EXPECT_TRUE(keeper->view().alive);
  EXPECT_FALSE(keeper->view().changing);
  EXPECT_EQ(keeper->view().start, 2);
  note_process();
  EXPECT_NE(pid, first);
}

TEST_F(Keeper, CountsAProgramThatIsMissingAsAFailedStart) {
  open_keeper();
  start();
  EXPECT_FALSE(keeper->view().alive);
  EXPECT_FALSE(keeper->view().changing);
  EXPECT_NE(keeper->view().last_end.find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace muster::noded
