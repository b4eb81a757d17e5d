// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/event_loop.hpp"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>

#include "tests/unit/sys/loop_test.hpp"

namespace muster::sys {
namespace {

using std::chrono::milliseconds;

class EventLoopTest : public LoopTest {};

TEST_F(EventLoopTest, CallsTimersInTheOrderOfTheirTimes) {
  std::string order;
  const auto late = loop_->after(milliseconds{30}, [&] {
    order += "b";
    loop_->stop();
  });
  const auto early = loop_->after(milliseconds{1}, [&] { order += "a"; });
  ASSERT_TRUE(loop_->run());
  EXPECT_EQ(order, "ab");
}

TEST_F(EventLoopTest, ForgetsATimerWhoseHandleIsGone) {
  bool called = false;
  auto gone = loop_->after(milliseconds{1}, [&] { called = true; });
  gone.reset();
  const auto end = loop_->after(milliseconds{20}, [&] { loop_->stop(); });
  ASSERT_TRUE(loop_->run());
  EXPECT_FALSE(called);
}

TEST_F(EventLoopTest, LetsACallbackDestroyItsOwnHandle) {
  EventLoop::Handle handle;
  std::string text = "captured";
  handle = loop_->after(milliseconds{0}, [&handle, this, text] {
    handle.reset();
    EXPECT_EQ(text, "captured");
    loop_->stop();
  });
  ASSERT_TRUE(loop_->run());
}

TEST_F(EventLoopTest, RunsWhatOtherThreadsPostOnItsOwn) {
  const auto loop_thread = std::this_thread::get_id();
  int count = 0;
  std::thread poster([&] {
    for (int index = 0; index < 1000; ++index) {
      loop_->post([&] {
        EXPECT_EQ(std::this_thread::get_id(), loop_thread);
        if (++count == 1000) loop_->stop();
      });
    }
  });
  ASSERT_TRUE(loop_->run());
  poster.join();
  EXPECT_EQ(count, 1000);
}

TEST_F(EventLoopTest, TellsWhenAFileDescriptorIsReady) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  bool readable = false;
  {
    const auto watch = loop_->watch(ends[0], EPOLLIN, [&](std::uint32_t events) {
      readable = (events & EPOLLIN) != 0;
      loop_->stop();
    });
    ASSERT_TRUE(watch);
    ASSERT_EQ(write(ends[1], "x", 1), 1);
    ASSERT_TRUE(loop_->run());
  }
  EXPECT_TRUE(readable);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(EventLoopTest, CallsForSignals) {
  int got = 0;
  const auto handle = loop_->on_signals({SIGUSR1, SIGUSR2}, [&](int number) {
    got = number;
    loop_->stop();
  });
  ASSERT_TRUE(handle);
  kill(getpid(), SIGUSR2);
  ASSERT_TRUE(loop_->run());
  EXPECT_EQ(got, SIGUSR2);
}

TEST_F(EventLoopTest, GivesTheWaitStatusOfAChildAndReapsIt) {
  pid_t child = -1;
  std::string shell = "/bin/sh";
  std::string option = "-c";
  std::string command = "exit 7";
  std::array<char*, 4> arguments = {shell.data(), option.data(), command.data(), nullptr};
  ASSERT_EQ(posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments.data(), environ), 0);
  int status = -1;
  EventLoop::Handle after_it;
  const auto handle = loop_->on_exit(child, [&](int wait_status) {
    status = wait_status;
    after_it = loop_->after(milliseconds{0}, [&] { loop_->stop(); });
  });
  ASSERT_TRUE(handle);
  ASSERT_TRUE(loop_->run());
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), -1);
}

}  // namespace
}  // namespace muster::sys
