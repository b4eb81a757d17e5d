// SPDX-License-Identifier: GPL-2.0-or-later
#include "noded/head_link.hpp"

#include <cstdlib>
#include <utility>

#include "logic/field_reader.hpp"
#include "noded/machine.hpp"
#include "sys/clock.hpp"
#include "sys/service_link.hpp"
#include "sys/users.hpp"

namespace muster::noded {
namespace {

using logic::Assignment;
using logic::Duration;
using logic::Result;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration answer_limit{seconds{15}};  ///< beyond what the head was asked to wait
constexpr Duration quick{seconds{1}};          ///< an answer within this did not wait
const logic::BackoffRule trouble_rule{milliseconds{500}, 2.0, seconds{30}, 0.3};
const logic::BackoffRule idle_rule{milliseconds{100}, 2.0, seconds{10}, 0.3};

}  // namespace

HeadLink::HeadLink(sys::EventLoop& loop, const NodeConfig& config, Owner owner)
    : loop_(loop),
      poll_wait_(config.poll_wait),
      max_clock_skew_(config.max_clock_skew),
      owner_(std::move(owner)),
      backoff_(trouble_rule),
      idle_backoff_(idle_rule) {}

Result<std::unique_ptr<HeadLink>> HeadLink::create(sys::EventLoop& loop, const NodeConfig& config, Owner owner) {
  std::unique_ptr<HeadLink> link{new HeadLink(loop, config, std::move(owner))};
  const std::vector<uid_t> trusted = sys::known_uids(config.head_users);
  if (trusted.empty()) return logic::reject_error("head_users: this machine knows none of them");
  for (const std::string& url : config.servers) {
    sys::Endpoint endpoint;
    endpoint.url = url;
    endpoint.munge_socket = config.munge_socket;
    endpoint.trusted_uids = trusted;
    endpoint.user_agent = "muster-noded";
    auto client = sys::HttpClient::create(loop, endpoint);
    if (!client) return client.error();
    link->servers_.push_back({url, std::move(*client)});
  }
  return link;
}

void HeadLink::tell_news() {
  // A call that was not asked to wait is about to end, and while musterd is away the next attempt carries the news.
  if (!answered_ || (under_way_ && wait_ == Duration{0})) return;
  send();
}

void HeadLink::send() {
  timer_.reset();
  call_.reset();
  wait_ = answered_ ? poll_wait_ : Duration{0};
  under_way_ = true;
  call_ = servers_[current_].client->call("Muster.SyncNode", owner_.body(generation_, wait_), wait_ + answer_limit,
                                          [this](const Result<sys::HttpAnswer>& result) { take(result); });
}

void HeadLink::send_after(Duration delay) {
  timer_ = loop_.after(delay, [this] { send(); });
}

void HeadLink::take(const Result<sys::HttpAnswer>& result) {
  // The call is over, but its object is what runs us: it goes with the next send.
  under_way_ = false;
  if (!result) {
    // Whoever answers is not our head, so what an earlier answer proved does not hold any more.
    if (result.error().kind == logic::ErrorKind::reject) disprove(result.error().message);
    return trouble(result.error().message);
  }
  if (result->status != 200) return take_refusal(*result);
  const auto assignment = logic::read_assignment(result->body);
  if (!assignment) return trouble(assignment.error().message);
  take_assignment(*result, *assignment);
}

void HeadLink::take_refusal(const sys::HttpAnswer& answer) {
  std::string text =
      answer.message.empty() ? "HTTP status " + std::to_string(answer.status) : "refused: " + answer.message;
  if (answer.status == 401) {
    // The refusal is not authenticated, and the header has whole seconds: good enough to say what is wrong.
    if (answer.date != logic::no_time) {
      const Duration half{milliseconds{500}};
      const logic::Time received = sys::now();
      proof_.skew = logic::clock_skew(received - answer.round_trip, received, answer.date + half);
      proof_.skew_error = answer.round_trip / 2 + half;
      const Duration apart{std::abs(proof_.skew->count())};
      if (apart > max_clock_skew_) {
        text += "; this machine's clock is " + logic::duration_text(apart) +
                (*proof_.skew > Duration{0} ? " ahead of" : " behind") + " the head's";
      }
    }
    disprove(servers_[current_].url + ": " + text);
  }
  trouble(text);
}

void HeadLink::disprove(const std::string& why) {
  proof_.accepted = false;
  proof_.text = why;
}

void HeadLink::trouble(const std::string& what) {
  answered_ = false;
  const std::string url = servers_[current_].url;
  // The address is said once.
  const std::string prefix = "POST Muster.SyncNode to " + url + ": ";
  const std::string cause = what.rfind(prefix, 0) == 0 ? what.substr(prefix.size()) : what;
  if (!proof_.accepted && proof_.text.rfind("musterd has not", 0) == 0) {
    proof_.text = "musterd has not answered yet: " + cause;
  }
  current_ = (current_ + 1) % servers_.size();
  const Duration delay = backoff_.failed(owner_.random());
  waiting_ = "waiting for musterd at " + url + ": " + cause + ", retry " + std::to_string(backoff_.failures()) +
             " in " + logic::duration_text(delay);
  sys::log_throttled(sys::LogLevel::warning, "musterd_away", url, cause);
  send_after(delay);
  owner_.changed();
}

void HeadLink::take_assignment(const sys::HttpAnswer& answer, const Assignment& assignment) {
  if (!waiting_.empty() || !answered_) {
    sys::log(sys::LogLevel::notice, "musterd_answers", {{"server", servers_[current_].url}});
  }
  answered_ = true;
  waiting_.clear();
  backoff_.reset();
  proof_.accepted = true;
  proof_.text = "accepted by " + servers_[current_].url;
  const logic::Time received = sys::now();
  const bool was_quick = answer.round_trip < quick;
  if (was_quick) latency_ = answer.round_trip / 2;
  // An answer that waited was stamped when it was sent, one way ago.
  proof_.skew = logic::clock_skew(received - 2 * latency_, received, assignment.head_time);
  proof_.skew_error = latency_;

  const bool is_new = assignment.generation != generation_;
  generation_ = assignment.generation;
  if (is_new || !was_quick) idle_backoff_.reset();
  // A head that answers at once, again and again, without news must not make us a storm.
  send_after(is_new || !was_quick ? Duration{0} : idle_backoff_.failed(owner_.random()));
  owner_.assigned(assignment);
  owner_.changed();
}

}  // namespace muster::noded
