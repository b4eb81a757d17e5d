// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/child_process.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "sys/files.hpp"
#include "tests/unit/sys/loop_test.hpp"
#include "tests/unit/sys/temporary_directory.hpp"

namespace muster::sys {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

logic::Result<Finished> run_shell(const std::string& script, const std::string& input = "",
                                  logic::Duration deadline = seconds{20}) {
  return run_command_and_wait({{"/bin/sh", "-c", script}, {{"MUSTER_TEST", "a value"}}}, input, deadline);
}

/// True once nobody has that process number; a killed process takes a moment to go.
bool is_gone(pid_t pid) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    if (kill(pid, 0) != 0) return true;
    const auto state = read_file("/proc/" + std::to_string(pid) + "/stat");
    if (!state || state->find(") Z ") != std::string::npos) return true;
    std::this_thread::sleep_for(milliseconds{10});
  }
  return false;
}

TEST(ChildProcess, PassesInputAndGathersOutput) {
  const auto finished = run_shell("cat; echo \"$MUSTER_TEST\"; echo trouble >&2; exit 3", "some input\n");
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->output, "some input\na value\n");
  EXPECT_EQ(finished->diagnostics, "trouble\n");
  EXPECT_EQ(finished->exit_code, 3);
  EXPECT_EQ(finished->signal, 0);
  EXPECT_FALSE(finished->timed_out);
}

TEST(ChildProcess, PassesMoreInputThanAPipeHolds) {
  const auto finished = run_shell("wc -c", std::string(3u << 20, 'x'));
  ASSERT_TRUE(finished);
  EXPECT_EQ(std::stol(finished->output), 3 << 20);
}

TEST(ChildProcess, DoesNotMindAProgramThatReadsNoInput) {
  const auto finished = run_shell("exit 0", std::string(3u << 20, 'x'));
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->exit_code, 0);
}

TEST(ChildProcess, KillsTheWholeGroupAtTheDeadline) {
  const TemporaryDirectory directory;
  const auto finished = run_shell("sleep 100 & echo $! >" + directory.file("pid") + "; wait", "", milliseconds{300});
  ASSERT_TRUE(finished);
  EXPECT_TRUE(finished->timed_out);
  EXPECT_EQ(finished->signal, SIGKILL);
  EXPECT_EQ(finished->exit_code, -1);
  EXPECT_TRUE(is_gone(static_cast<pid_t>(std::stol(*read_file(directory.file("pid"))))));
}

TEST(ChildProcess, KillsWhatAProgramLeavesBehind) {
  const auto finished = run_shell("sleep 100 & echo $!");
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->exit_code, 0);
  EXPECT_TRUE(is_gone(static_cast<pid_t>(std::stol(finished->output))));
}

TEST(ChildProcess, KillsAProgramThatWritesTooMuch) {
  const auto finished = run_shell("exec cat /dev/zero");
  ASSERT_TRUE(finished);
  EXPECT_TRUE(finished->output_too_large);
  EXPECT_FALSE(finished->timed_out);
  EXPECT_LE(finished->output.size(), 4u << 20);
}

TEST(ChildProcess, KeepsTheEndOfItsDiagnostics) {
  const auto finished =
      run_shell("i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done; echo last words >&2");
  ASSERT_TRUE(finished);
  EXPECT_LE(finished->diagnostics.size(), 4096u);
  EXPECT_NE(finished->diagnostics.find("last words\n"), std::string::npos);
}

TEST(ChildProcess, SaysWhenAProgramIsMissing) {
  const auto finished = run_command_and_wait({{"/nonexistent/program"}, {}}, "", seconds{5});
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().kind, logic::ErrorKind::reject);
  EXPECT_EQ(finished.error().message, "cannot start /nonexistent/program: No such file or directory");
}

TEST(ChildProcess, GivesTheChildNoDescriptorsAndNoBlockedSignals) {
  const auto finished = run_shell("ls /proc/self/fd | wc -l; grep SigBlk /proc/self/status; kill -PIPE $$; echo alive");
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->output, "4\nSigBlk:\t0000000000000000\n");  // 0, 1, 2 and the one that ls opens
  EXPECT_EQ(finished->signal, SIGPIPE);
}

class LineProcessTest : public LoopTest {
 protected:
  void start(const std::string& script) {
    LineProcess::Events events;
    events.line = [this](std::string line) {
      lines_.push_back(std::move(line));
      if (on_line_) on_line_();
    };
    events.ended = [this](const std::string& why) {
      end_ = why;
      loop_->stop();
    };
    auto started = LineProcess::start(*loop_, {{"/bin/sh", "-c", script}, {}}, std::move(events));
    ASSERT_TRUE(started);
    process_ = std::move(*started);
  }
  std::unique_ptr<LineProcess> process_;
  std::vector<std::string> lines_;
  std::function<void()> on_line_;
  std::string end_;
};

TEST_F(LineProcessTest, SpeaksByLinesUntilItEnds) {
  start("while read -r line; do echo \"got $line\"; [ \"$line\" = two ] && break; done; echo why >&2; exit 4");
  process_->send("one");
  process_->send("two");
  ASSERT_TRUE(loop_->run());
  EXPECT_EQ(lines_, (std::vector<std::string>{"got one", "got two"}));
  EXPECT_EQ(end_, "ended with exit status 4: why");
}

TEST_F(LineProcessTest, TakesALineLargerThanAPipe) {
  start("head -c 3000000 /dev/zero | tr '\\0' x; echo");
  ASSERT_TRUE(loop_->run());
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_EQ(lines_[0].size(), 3000000u);
}

TEST_F(LineProcessTest, MayBeDestroyedByItsOwnLine) {
  start("echo one; echo two; sleep 100");
  const pid_t pid = process_->pid();
  on_line_ = [&] {
    process_.reset();
    loop_->stop();
  };
  ASSERT_TRUE(loop_->run());
  EXPECT_EQ(lines_.size(), 1u);
  EXPECT_TRUE(is_gone(pid));
}

TEST_F(LineProcessTest, MayBeDestroyedByALineThatComesWithItsEnd) {
  start("echo one; echo two");
  std::this_thread::sleep_for(milliseconds{100});
  on_line_ = [&] {
    process_.reset();
    loop_->stop();
  };
  ASSERT_TRUE(loop_->run());
  EXPECT_EQ(lines_.size(), 1u);
}

}  // namespace
}  // namespace muster::sys
