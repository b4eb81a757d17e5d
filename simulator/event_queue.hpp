// SPDX-License-Identifier: GPL-2.0-or-later
//
// Virtual time: what happens when, in order. The clock jumps from one happening to the next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "logic/time.hpp"

namespace muster::simulator {

class EventQueue {
 public:
  explicit EventQueue(logic::Time begin) : now_(begin) {}

  logic::Time now() const { return now_; }
  /// Of equal times the first asked for happens first. What lies in the past happens next.
  void at(logic::Time time, std::function<void()> happening) {
    heap_.push_back({std::max(time, now_), next_number_++, std::move(happening)});
    std::push_heap(heap_.begin(), heap_.end(), is_later);
  }
  void after(logic::Duration delay, std::function<void()> happening) { at(now_ + delay, std::move(happening)); }

  /// Runs what is due until that time, which the clock then shows; ends at once after a happening that called stop.
  void run_until(logic::Time end) {
    stopped_ = false;
    while (!stopped_ && !heap_.empty() && heap_.front().time <= end) {
      std::pop_heap(heap_.begin(), heap_.end(), is_later);
      const Happening next = std::move(heap_.back());
      heap_.pop_back();
      now_ = next.time;
      next.happen();
    }
    if (!stopped_) now_ = std::max(now_, end);
  }
  void stop() { stopped_ = true; }

 private:
  struct Happening {
    logic::Time time;
    std::uint64_t number = 0;
    std::function<void()> happen;
  };
  static bool is_later(const Happening& a, const Happening& b) {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }

  logic::Time now_;
  std::vector<Happening> heap_;
  std::uint64_t next_number_ = 0;
  bool stopped_ = false;
};

}  // namespace muster::simulator
