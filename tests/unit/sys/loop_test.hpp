// SPDX-License-Identifier: GPL-2.0-or-later
//
// A test with an event loop of its own, which fails rather than hangs when nothing stops it.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "sys/event_loop.hpp"

namespace muster::sys {

class LoopTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = EventLoop::create();
    ASSERT_TRUE(made);
    loop_ = std::move(*made);
    limit_ = loop_->after(std::chrono::seconds{20}, [this] {
      ADD_FAILURE() << "nothing stopped the loop";
      loop_->stop();
    });
  }

  std::unique_ptr<EventLoop> loop_;
  EventLoop::Handle limit_;
};

}  // namespace muster::sys
