// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/slurm_link.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>

#include "sys/child_process.hpp"
#include "sys/json.hpp"

namespace muster::sys {
namespace {

using logic::Duration;
using logic::Error;
using logic::Result;
using logic::Value;
using SteadyClock = std::chrono::steady_clock;

constexpr int supported_protocol = 1;
constexpr Duration first_backoff{std::chrono::seconds{1}};
constexpr Duration longest_backoff{std::chrono::seconds{30}};

struct Pending {
  std::int64_t id = 0;
  std::string operation;
  Value request;
  SlurmLink::Answer answer;
  EventLoop::Handle timer;
};

class Link final : public SlurmLink {
 public:
  Link(EventLoop& loop, SlurmLinkSettings settings) : loop_(loop), settings_(std::move(settings)) {}

  void request(Value request, Duration deadline, Answer answer) override {
    auto pending = std::make_shared<Pending>();
    pending->id = ++last_id_;
    pending->operation = request.text_or("op");
    pending->request = std::move(request);
    pending->request.set("id", Value(pending->id));
    pending->answer = std::move(answer);
    pending->timer = loop_.after(deadline, [this, id = pending->id, deadline] { late(id, deadline); });
    queue_.push_back(std::move(pending));
    send_next_soon();
  }

  std::uint64_t rpcs() const override { return rpcs_; }

 private:
  using PendingPointer = std::shared_ptr<Pending>;

  /// From the loop rather than from within a caller's function.
  void send_next_soon() {
    if (!next_) next_ = loop_.after(Duration{0}, [this] { send_next(); });
  }

  void send_next() {
    next_.reset();
    if (current_ || queue_.empty()) return;
    if (!helper_) {
      if (auto started = start_helper(); !started) return fail_first(started.error());
    }
    if (!greeted_) return;  // goes on when the greeting comes; the request's own deadline covers that
    current_ = queue_.front();
    queue_.pop_front();
    helper_->send(to_json(current_->request));
  }

  logic::Status start_helper() {
    if (SteadyClock::now() < not_before_) {
      const auto wait = std::chrono::duration_cast<std::chrono::seconds>(not_before_ - SteadyClock::now());
      return logic::retry_error("the Slurm helper " + last_end_ + "; next start in " +
                                std::to_string(wait.count() + 1) + " s");
    }
    Command command{{settings_.helper_path}, {}};
    if (!settings_.slurm_conf.empty()) command.environment.emplace_back("SLURM_CONF", settings_.slurm_conf);
    LineProcess::Events events;
    events.line = [this](const std::string& line) { take_line(line); };
    events.ended = [this](const std::string& why) { helper_ended(why); };
    auto started = LineProcess::start(loop_, command, std::move(events));
    if (!started) {
      back_off("could not be started");
      return started.error();
    }
    helper_ = std::move(*started);
    greeted_ = false;
    return logic::Done{};
  }

  void take_line(const std::string& line) {
    auto parsed = parse_json(line);
    if (!parsed) return rubbish(parsed.error().message);
    if (!greeted_) return take_greeting(*parsed);
    if (!current_ || parsed->integer_or("id") != current_->id) return rubbish("an answer that nobody asked for");
    has_answered_ = true;
    backoff_ = first_backoff;
    rpcs_ += static_cast<std::uint64_t>(std::max<std::int64_t>(parsed->integer_or("rpcs"), 0));
    const PendingPointer answered = std::exchange(current_, nullptr);
    send_next_soon();
    if (parsed->boolean_or("ok")) return finish(answered, std::move(*parsed));
    const std::string failure_class = parsed->text_or("class");
    // A helper that finds nobody may have read a slurm.conf that has changed since: the next request gets a new one.
    if (failure_class == "unreachable") drop_helper();
    const bool passing = failure_class == "unreachable" || failure_class == "busy";
    std::string sentence = "slurm " + answered->operation + ": " + parsed->text_or("error", "no reason given");
    finish(answered, passing ? logic::retry_error(std::move(sentence)) : logic::reject_error(std::move(sentence)));
  }

  void take_greeting(const Value& greeting) {
    if (greeting.text_or("hello") != "muster-slurm" || greeting.integer_or("protocol") != supported_protocol)
      return rubbish("no greeting of protocol " + std::to_string(supported_protocol));
    greeted_ = true;
    send_next_soon();
  }

  void rubbish(const std::string& what) { helper_lost("answered rubbish (" + what + ")"); }

  void helper_ended(const std::string& why) { helper_lost(why); }

  void helper_lost(const std::string& why) {
    const bool died_at_once = !has_answered_;
    drop_helper();
    if (died_at_once) back_off(why);
    const Error error = logic::retry_error("the Slurm helper " + why);
    if (current_) {
      const PendingPointer lost = std::exchange(current_, nullptr);
      send_next_soon();
      return finish(lost, logic::retry_error("slurm " + lost->operation + ": " + error.message +
                                             "; the request may have taken effect"));
    }
    fail_first(error);
  }

  /// The first in the queue pays for a helper that does not start; the others try again in their turn.
  void fail_first(const Error& error) {
    if (queue_.empty()) return;
    const PendingPointer first = queue_.front();
    queue_.pop_front();
    send_next_soon();
    finish(first, logic::retry_error("slurm " + first->operation + ": " + error.message));
  }

  void late(std::int64_t id, Duration deadline) {
    const std::string seconds =
        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(deadline).count()) + " s";
    if (current_ && current_->id == id) {
      const PendingPointer pending = std::exchange(current_, nullptr);
      drop_helper();
      send_next_soon();
      return finish(pending, logic::retry_error("slurm " + pending->operation + ": no answer within " + seconds +
                                                "; the helper was killed, the request may have taken effect"));
    }
    const auto found =
        std::find_if(queue_.begin(), queue_.end(), [id](const auto& waiting) { return waiting->id == id; });
    if (found == queue_.end()) return;
    const PendingPointer pending = *found;
    queue_.erase(found);
    const std::string why = current_ ? "a \"" + current_->operation + "\" before it has not been answered"
                                     : std::string("the Slurm helper has not come up");
    // One that says nothing for so long is not waited for by the next request either.
    if (!current_ && helper_ && !greeted_) drop_helper();
    send_next_soon();
    finish(pending, logic::retry_error("slurm " + pending->operation + ": not asked within " + seconds + ": " + why));
  }

  void drop_helper() {
    helper_.reset();
    greeted_ = false;
    has_answered_ = false;
  }

  void back_off(const std::string& why) {
    last_end_ = why;
    not_before_ = SteadyClock::now() + backoff_;
    backoff_ = std::min(backoff_ * 2, longest_backoff);
  }

  /// Last in every path, since the answer's function may destroy this object.
  static void finish(PendingPointer pending, Result<Value> result) {
    pending->timer.reset();
    const Answer answer = std::move(pending->answer);
    answer(std::move(result));
  }

  EventLoop& loop_;
  SlurmLinkSettings settings_;
  std::unique_ptr<LineProcess> helper_;
  bool greeted_ = false;
  bool has_answered_ = false;  ///< this helper did so at least once
  std::deque<PendingPointer> queue_;
  PendingPointer current_;
  EventLoop::Handle next_;
  std::int64_t last_id_ = 0;
  std::uint64_t rpcs_ = 0;
  Duration backoff_ = first_backoff;
  SteadyClock::time_point not_before_{};
  std::string last_end_;
};

}  // namespace

std::unique_ptr<SlurmLink> SlurmLink::create(EventLoop& loop, SlurmLinkSettings settings) {
  return std::make_unique<Link>(loop, std::move(settings));
}

Result<Value> slurm_request_and_wait(const SlurmLinkSettings& settings, Value request, Duration deadline) {
  auto loop = EventLoop::create();
  if (!loop) return loop.error();
  const auto link = SlurmLink::create(**loop, settings);
  std::optional<Result<Value>> answer;
  link->request(std::move(request), deadline, [&](Result<Value> result) {
    answer = std::move(result);
    (*loop)->stop();
  });
  if (auto ran = (*loop)->run(); !ran) return ran.error();
  return std::move(*answer);
}

}  // namespace muster::sys
