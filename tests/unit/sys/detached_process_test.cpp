// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/detached_process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace muster::sys {
namespace {

using logic::Done;
using logic::Status;

class DetachedProcess : public testing::Test {
 protected:
  DetachedProcess() {
    std::string name = testing::TempDir() + "muster-detached-XXXXXX";
    folder = mkdtemp(name.data());
    loop = std::move(*EventLoop::create());
  }
  ~DetachedProcess() override { std::filesystem::remove_all(folder); }

  logic::Result<ProcessIdentity> shell(const std::string& script) {
    return start_detached({"/bin/sh", "-c", script}, folder + "/out", [](const ProcessIdentity&) { return Done{}; });
  }
  /// Runs the loop until the process has ended; returns how.
  std::string wait_for(const ProcessIdentity& process, int signal = 0) {
    std::string how;
    auto watch = ProcessWatch::begin(*loop, process, [&](const std::string& text) {
      how = text;
      loop->stop();
    });
    if (!watch) return watch.error().message;
    if (signal != 0 && !(*watch)->signal(signal)) return "cannot be signalled";
    EXPECT_TRUE(loop->run());
    return how;
  }
  std::string output() {
    std::ifstream file(folder + "/out");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder;
  std::unique_ptr<EventLoop> loop;
};

TEST_F(DetachedProcess, RunsInASessionOfItsOwnAndLeavesItsOutputInTheFile) {
  const auto process = shell("echo out; echo err >&2; test $(ps -o sid= -p $$) = $$ && echo own; exit 3");
  ASSERT_TRUE(process) << process.error().message;
  EXPECT_EQ(wait_for(*process), "exit status 3");
  EXPECT_EQ(output(), "out\nerr\nown\n");
}

TEST_F(DetachedProcess, NeverRunsWhenItCannotBeWrittenDown) {
  const auto process = start_detached({"/bin/sh", "-c", "echo ran"}, folder + "/out",
                                      [](const ProcessIdentity&) { return Status{logic::retry_error("disk full")}; });
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().message, "disk full");
  EXPECT_EQ(output(), "");
}

TEST_F(DetachedProcess, SaysWhyAProgramCannotBeStarted) {
  const auto process =
      start_detached({"/no/such/program"}, folder + "/out", [](const ProcessIdentity&) { return Done{}; });
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().message, "/no/such/program: No such file or directory");
}

TEST_F(DetachedProcess, CanBeSignalledAndTellsTheSignal) {
  const auto process = shell("exec sleep 60");
  ASSERT_TRUE(process);
  EXPECT_TRUE(is_alive(*process));
  EXPECT_EQ(wait_for(*process, SIGTERM), "signal 15");
  EXPECT_FALSE(is_alive(*process));
}

TEST_F(DetachedProcess, IsToldApartFromALaterOneWithTheSameNumber) {
  auto process = find_process(getpid());
  ASSERT_TRUE(process);
  EXPECT_TRUE(is_alive(*process));
  ++process->start_time;
  EXPECT_FALSE(is_alive(*process));
  EXPECT_FALSE(ProcessWatch::begin(*loop, *process, [](const std::string&) {}));
}

TEST_F(DetachedProcess, OutlivesItsWatch) {
  const auto process = shell("exec sleep 60");
  ASSERT_TRUE(process);
  {
    const auto watch = ProcessWatch::begin(*loop, *process, [](const std::string&) {});
  }
  EXPECT_TRUE(is_alive(*process));
  kill(process->pid, SIGKILL);
  waitpid(process->pid, nullptr, 0);
}

}  // namespace
}  // namespace muster::sys
