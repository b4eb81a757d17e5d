// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "cli/commands.hpp"
#include "cli/render_events.hpp"
#include "cli/terminal.hpp"
#include "sys/json.hpp"

namespace muster::cli {

namespace {

constexpr std::int64_t poll_seconds = 50;  // musterd ends a long-poll within 60 s
constexpr std::chrono::seconds poll_deadline{70};
constexpr std::chrono::seconds retry_interval{1};
constexpr std::int64_t batch = 500;

logic::Value request(const EventsOptions& options, std::int64_t limit) {
  logic::Value body = logic::Value::map({{"Limit", limit}});
  if (!options.group.empty()) body.set("InstanceGroupName", options.group);
  return body;
}

class Follower {
 public:
  Follower(const CommonOptions& common, const EventsOptions& options)
      : common_(common), options_(options), head_(common) {}

  int run() {
    const auto newest = head_.ask("Muster.Events", request(options_, std::max<std::int64_t>(options_.count, 1)));
    if (!newest) return report_unreachable(newest.error());
    if (!is_fine(*newest)) return report_refusal(*newest);
    last_ = newest->body.integer_or("LastSequence");
    if (options_.count > 0 && !print(*newest)) return exit_failed;
    while (true) {
      logic::Value body = request(options_, batch);
      body.set("AfterSequence", last_);
      body.set("WaitSeconds", poll_seconds);
      const auto answer = head_.ask("Muster.Events", body, poll_deadline);
      if (!answer || answer->status == 503) {
        wait_for_head(answer ? answer->message : answer.error().message);
        continue;
      }
      if (!is_fine(*answer)) return report_refusal(*answer);
      last_ = answer->body.integer_or("LastSequence", last_);
      if (!print(*answer)) return exit_failed;
    }
  }

 private:
  /// Says once that musterd is away, and comes back when it answers again.
  void wait_for_head(const std::string& why) {
    complain("waiting for musterd: " + why);
    while (true) {
      std::this_thread::sleep_for(retry_interval);
      const auto newest = head_.ask("Muster.Events", logic::Value::map({{"Limit", 1}}));
      if (!newest || !is_fine(*newest)) continue;
      complain("musterd is back");
      if (newest->body.integer_or("LastSequence", last_) < last_) {
        complain("its ledger is a new one: events are shown from its beginning");
        last_ = 0;
      }
      return;
    }
  }

  /// false: nobody reads our output any more.
  bool print(const sys::HttpAnswer& answer) {
    if (!common_.json) return write_out(lines_.text(answer.body, view_of(answer)));
    std::string text;
    for (const logic::Value& event : answer.body.list_or_empty("Events")) text += sys::to_json(event) + "\n";
    return write_out(text);
  }

  const CommonOptions& common_;
  const EventsOptions& options_;
  Head head_;
  EventLines lines_;
  std::int64_t last_ = 0;
};

}  // namespace

int run_events(const CommonOptions& common, const EventsOptions& options) {
  if (options.follow) return Follower(common, options).run();
  return ask_and_show(common, "Muster.Events", request(options, options.count),
                      [](const logic::Value& answer, const View& view) {
                        const std::string lines = EventLines().text(answer, view);
                        return lines.empty() ? std::string("no events\n") : lines;
                      });
}

}  // namespace muster::cli
