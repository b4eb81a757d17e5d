// SPDX-License-Identifier: GPL-2.0-or-later
//
// The launcher with real processes: small shell workers. They wait for each other by files and fifos, never by
// sleeping.
#include "runner/launcher.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runner/worker_error.hpp"

namespace muster::runner {
namespace {

class LauncherTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "launcher_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern + "/";
    auto loop = sys::EventLoop::create();
    ASSERT_TRUE(loop) << loop.error().message;
    loop_ = std::move(*loop);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  WorkerSpec shell(const std::string& script) {
    WorkerSpec spec;
    spec.local_rank = spec.rank = next_rank_++;
    spec.command = {"/bin/sh", "-c", script};
    spec.environment = {{"DIR", folder_}};
    return spec;
  }
  std::string content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ + name).rdbuf();
    return text.str();
  }
  void make_fifo(const std::string& name) const { ASSERT_EQ(::mkfifo((folder_ + name).c_str(), 0600), 0); }
  int run(std::vector<WorkerSpec> specs) {
    const auto code = Launcher(*loop_).run(std::move(specs));
    EXPECT_TRUE(code) << code.error().message;
    return code ? *code : -1;
  }

  std::string folder_;
  std::unique_ptr<sys::EventLoop> loop_;
  int next_rank_ = 0;
};

bool is_alive(const std::string& pid_text) { return ::kill(static_cast<pid_t>(std::stol(pid_text)), 0) == 0; }

TEST_F(LauncherTest, EndsWellWhenAllWorkersDo) { EXPECT_EQ(run({shell("exit 0"), shell("exit 0")}), 0); }

TEST_F(LauncherTest, PassesOnTheFirstFailureAndEndsTheRest) {
  // The second waits for a signal that only the launcher sends.
  EXPECT_EQ(run({shell("exit 7"), shell("exec sleep 1000")}), 7);
}

TEST_F(LauncherTest, ShowsADeathBySignalAsAShellDoes) { EXPECT_EQ(run({shell("kill -9 $$")}), 128 + 9); }

TEST_F(LauncherTest, LetsAWorkerFinishCleanlyAfterTheSignal) {
  make_fifo("ready");
  EXPECT_EQ(
      run({shell("trap 'echo saved >$DIR/checkpoint; exit 0' TERM; echo >$DIR/ready; while :; do sleep 0.01; done"),
           shell("read x <$DIR/ready; exit 3")}),
      3);
  EXPECT_EQ(content("checkpoint"), "saved\n");
}

TEST_F(LauncherTest, PassesUsr1OnAndGoesOn) {
  EXPECT_EQ(run({shell("trap 'exit 0' USR1; kill -USR1 $PPID; while :; do sleep 0.01; done")}), 0);
}

TEST_F(LauncherTest, PassesTermOn) {
  EXPECT_EQ(run({shell("trap 'exit 5' TERM; kill -TERM $PPID; while :; do sleep 0.01; done")}), 5);
}

TEST_F(LauncherTest, LeavesNoProcessBehind) {
  // One stays in the worker's session, one makes a session of its own and lets go of its parent.
  EXPECT_EQ(run({shell("sleep 1000 & echo $! >$DIR/same; setsid sh -c 'sleep 1000 & echo $! >$DIR/other'; exit 0")}),
            0);
  EXPECT_FALSE(is_alive(content("same")));
  EXPECT_FALSE(is_alive(content("other")));
}

TEST_F(LauncherTest, WritesTeedOutputToItsFile) {
  WorkerSpec spec = shell("printf 'one\\ntwo'");
  spec.out = {true, false, folder_ + "stdout.log"};
  EXPECT_EQ(run({std::move(spec)}), 0);
  EXPECT_EQ(content("stdout.log"), "one\ntwo");
}

TEST_F(LauncherTest, ShowsTeedOutputWithAPrefix) {
  WorkerSpec spec = shell("echo one");
  spec.prefix = "[default0]:";
  spec.out.is_piped = true;
  testing::internal::CaptureStdout();
  EXPECT_EQ(run({std::move(spec)}), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "[default0]:one\n");
}

TEST_F(LauncherTest, SaysWhichProgramIsMissingAndStartsNone) {
  WorkerSpec missing = shell("");
  missing.command = {"/no/such/program"};
  const auto code = Launcher(*loop_).run({shell("exec sleep 1000"), std::move(missing)});
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().message, "cannot start /no/such/program: No such file or directory");
}

TEST_F(LauncherTest, GivesWorkersTheirEnvironmentOverItsOwn) {
  ::setenv("MUSTER_TEST_INHERITED", "yes", 1);
  ::setenv("RANK", "wrong", 1);
  WorkerSpec spec = shell("echo $MUSTER_TEST_INHERITED $RANK >$DIR/seen");
  spec.environment.emplace_back("RANK", "3");
  EXPECT_EQ(run({std::move(spec)}), 0);
  ::unsetenv("RANK");
  EXPECT_EQ(content("seen"), "yes 3\n");
}

TEST_F(LauncherTest, ReadsWhatAWorkerSaidAboutItsFailure) {
  const auto said = [&](const std::string& text) {
    std::ofstream(folder_ + "error.json") << text;
    return worker_error(folder_ + "error.json");
  };
  EXPECT_EQ(said(R"({"message": {"message": "ValueError: no\nmore", "extraInfo": {"timestamp": "1"}}})"),
            "ValueError: no");
  EXPECT_EQ(said(R"({"message": "plain", "timestamp": 1})"), "plain");
  EXPECT_EQ(said(R"({"message": {"mess)"), "") << "cut off: treated as absent";
  EXPECT_EQ(worker_error(folder_ + "absent"), "");
}

}  // namespace
}  // namespace muster::runner
