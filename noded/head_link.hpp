// SPDX-License-Identifier: GPL-2.0-or-later
//
// The conversation with musterd: one Muster.SyncNode at a time. It carries our whole present state and is answered when
// the assignment changes, or at the end of its wait; news of ours cancels it and goes out at once. Where musterd does
// not answer, the next server is tried, with a backoff.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "logic/backoff.hpp"
#include "logic/node_steps.hpp"
#include "logic/result.hpp"
#include "noded/node_config.hpp"
#include "sys/event_loop.hpp"
#include "sys/http_client.hpp"

namespace muster::noded {

class HeadLink {
 public:
  struct Owner {
    std::function<logic::Value(std::int64_t known_generation, logic::Duration wait)> body;
    std::function<void(const logic::Assignment&)> assigned;
    /// proof() or waiting() is another now.
    std::function<void()> changed;
    std::function<double()> random;
  };

  static logic::Result<std::unique_ptr<HeadLink>> create(sys::EventLoop& loop, const NodeConfig& config, Owner owner);

  void begin() { send(); }
  /// body() would say something new.
  void tell_news();
  const logic::HeadProof& proof() const { return proof_; }
  /// What it waits for, in words: "waiting for musterd at http://head:6820: connection refused, retry 4 in 12 s". Empty
  /// while musterd answers.
  const std::string& waiting() const { return waiting_; }

 private:
  struct Server {
    std::string url;
    std::unique_ptr<sys::HttpClient> client;
  };

  HeadLink(sys::EventLoop& loop, const NodeConfig& config, Owner owner);
  void send();
  void send_after(logic::Duration delay);
  void take(const logic::Result<sys::HttpAnswer>& result);
  void take_refusal(const sys::HttpAnswer& answer);
  void take_assignment(const sys::HttpAnswer& answer, const logic::Assignment& assignment);
  void disprove(const std::string& why);
  void trouble(const std::string& what);

  sys::EventLoop& loop_;
  logic::Duration poll_wait_;
  logic::Duration max_clock_skew_;
  Owner owner_;
  std::vector<Server> servers_;
  std::size_t current_ = 0;
  logic::HeadProof proof_{false, "musterd has not answered yet", std::nullopt, logic::Duration{0}};
  std::string waiting_;
  bool under_way_ = false;
  bool answered_ = false;  ///< the last request was; the next one may wait on the head
  std::int64_t generation_ = 0;
  logic::Duration wait_{0};
  logic::Duration latency_{0};  ///< one way, as the last quick answer showed
  logic::Backoff backoff_;
  logic::Backoff idle_backoff_;  ///< answers that came at once and brought nothing
  std::unique_ptr<sys::HttpCall> call_;
  sys::EventLoop::Handle timer_;
};

}  // namespace muster::noded
