// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "cli/time_limit.hpp"
#include "logic/field_reader.hpp"
#include "logic/text_layout.hpp"
#include "sys/clock.hpp"
#include "sys/json.hpp"

namespace muster::cli {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds longest_poll{50};  // musterd ends a long-poll within 60 s
constexpr std::chrono::seconds answer_margin{20};
constexpr std::chrono::seconds retry_interval{1};

class Waiter {
 public:
  Waiter(const CommonOptions& common, const WaitOptions& options, logic::Duration limit)
      : common_(common), options_(options), limit_(limit), head_(common), ends_at_(SteadyClock::now() + limit) {}

  int run() {
    while (true) {
      const auto left = std::max(SteadyClock::duration::zero(), ends_at_ - SteadyClock::now());
      const bool is_last = left == SteadyClock::duration::zero();
      const auto poll = std::min<logic::Duration>(longest_poll, std::chrono::duration_cast<logic::Duration>(left));
      const auto answer = head_.ask("Muster.Wait", request(poll), poll + answer_margin);
      if (!answer || answer->status == 503) {
        // The first question fails like every command's; later a restart of musterd is waited out.
        if (progress_.empty()) return answer ? report_refusal(*answer) : report_unreachable(answer.error());
        if (is_last) return timed_out();
        say_away(answer ? answer->message : answer.error().message);
        std::this_thread::sleep_for(std::min<SteadyClock::duration>(retry_interval, left));
        continue;
      }
      if (!is_fine(*answer)) return report_refusal(*answer);
      away_ = false;
      const std::string state = answer->body.text_or("State");
      const std::string text = logic::safe_text(answer->body.text_or("Text"), stdout_view().style);
      if (state == "failed") return failed(answer->body, text);
      if (!print(answer->body, text)) return exit_failed;
      if (state == "reached") return exit_fine;
      if (is_last) return timed_out();
    }
  }

 private:
  logic::Value request(logic::Duration poll) const {
    logic::Value body = logic::Value::map({{"InstanceGroupName", options_.group},
                                           {"For", options_.what},
                                           {"KnownText", progress_},
                                           {"WaitSeconds", static_cast<double>(poll.count()) / 1000.0}});
    return body;
  }

  /// A line where there is something new; false: nobody reads our output any more.
  bool print(const logic::Value& body, const std::string& text) {
    if (text == shown_) return true;
    shown_ = text;
    progress_ = body.text_or("Text");
    if (common_.json) return write_out(sys::to_json(body) + "\n");
    return write_out(stdout_view().clock_text(sys::now()) + "  " + text + "\n");
  }

  int failed(const logic::Value& body, const std::string& text) {
    if (common_.json) write_out(sys::to_json(body) + "\n");
    complain(text);
    return exit_failed;
  }

  int timed_out() {
    complain("timed out after " + logic::duration_text(limit_) + ": " + shown_);
    return exit_failed;
  }

  void say_away(const std::string& why) {
    if (!away_) complain("waiting for musterd: " + why);
    away_ = true;
  }

  const CommonOptions& common_;
  const WaitOptions& options_;
  const logic::Duration limit_;
  Head head_;
  const SteadyClock::time_point ends_at_;
  std::string progress_;  ///< as musterd gave it
  std::string shown_;
  bool away_ = false;
};

}  // namespace

int run_wait(const CommonOptions& common, const WaitOptions& options) {
  const auto limit = read_time_limit(options.timeout);
  if (!limit) {
    complain("--timeout: expected a number and s, m or h, as in 30m, found \"" + options.timeout + "\"");
    return exit_usage;
  }
  return Waiter(common, options, *limit).run();
}

}  // namespace muster::cli
