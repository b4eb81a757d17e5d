// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "cli/commands.hpp"
#include "cli/render_status.hpp"
#include "cli/terminal.hpp"
#include "sys/clock.hpp"
#include "sys/json.hpp"

namespace muster::cli {

namespace {

constexpr std::chrono::seconds redraw_interval{1};
constexpr std::chrono::seconds watch_deadline{5};

/// Waits for the next second of a steady clock, so that the time a request took does not make the picture lag.
class Ticker {
 public:
  void wait() {
    next_ = std::max(next_ + redraw_interval, std::chrono::steady_clock::now());
    std::this_thread::sleep_until(next_);
  }

 private:
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now();
};

/// Redraws each second. The cursor stays visible and no mode of the terminal is changed, so Ctrl-C at any moment
/// leaves it as it was.
int watch_on_terminal(const Head& head) {
  Ticker ticker;
  bool first = true;
  std::string last;  // the last good picture
  logic::Time away_since = logic::no_time;
  while (true) {
    const auto answer = head.ask("Muster.Status", logic::Value::map(), watch_deadline);
    View view = stdout_view();
    std::string text;
    if (answer && is_fine(*answer)) {
      view.now = head_time(*answer);
      away_since = logic::no_time;
      last = render_status(answer->body, view);
      text = last;
    } else {
      // The first try fails like the plain command; later the picture stays, and says that it is old.
      if (first) return answer ? report_refusal(*answer) : report_unreachable(answer.error());
      if (away_since == logic::no_time) away_since = sys::now();
      const std::string why = answer ? answer->message : answer.error().message;
      const std::string note =
          "OLD " + logic::time_since(away_since, sys::now()) + ", trying on: " + logic::safe_text(why, view.style);
      text = last + "\n";
      for (const std::string& line : logic::wrap(note, view.style.width)) {
        text += logic::paint(line, logic::Tone::bad, view.style) + "\n";
      }
    }
    std::string frame = watch_frame(text, terminal_rows(), view.style.width);
    if (first) frame.insert(0, "\033[2J");
    if (!write_out(frame)) return exit_failed;
    first = false;
    ticker.wait();
  }
}

/// Without a terminal: the whole text again whenever something changed.
int watch_changes(const Head& head, bool json) {
  Ticker ticker;
  std::string seen;
  bool first = true;
  bool away = false;
  while (true) {
    const auto answer = head.ask("Muster.Status", logic::Value::map(), watch_deadline);
    if (answer && is_fine(*answer)) {
      away = false;
      std::string now = sys::to_json(lasting_part(answer->body));
      if (now != seen) {
        std::string text = json ? sys::to_json(answer->body) + "\n" : render_status(answer->body, view_of(*answer));
        if (!json && !first) text.insert(0, "\n");
        if (!write_out(text)) return exit_failed;
        seen = std::move(now);
      }
    } else if (first) {
      return answer ? report_refusal(*answer) : report_unreachable(answer.error());
    } else if (!away) {
      away = true;
      complain("trying on: " + (answer ? answer->message : answer.error().message));
    }
    first = false;
    ticker.wait();
  }
}

}  // namespace

int run_status(const CommonOptions& common, const StatusOptions& options) {
  if (!options.watch) return ask_and_show(common, "Muster.Status", logic::Value::map(), render_status);
  const Head head(common);
  return stdout_is_terminal() && !common.json ? watch_on_terminal(head) : watch_changes(head, common.json);
}

}  // namespace muster::cli
