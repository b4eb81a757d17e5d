// SPDX-License-Identifier: GPL-2.0-or-later
//
// noded's one loop of work: look at the machine, hear musterd, let logic/node_steps decide, act, report. Owns all
// state.
#pragma once

#include <memory>
#include <optional>
#include <random>
#include <string>

#include "logic/node_steps.hpp"
#include "noded/head_link.hpp"
#include "noded/node_config.hpp"
#include "noded/slurmd_keeper.hpp"
#include "noded/state_file.hpp"
#include "sys/event_loop.hpp"

namespace muster::noded {

class NodeAgent {
 public:
  NodeAgent(sys::EventLoop& loop, NodeConfig config, StateFile state);

  /// Takes over a running slurmd, finds out who we are, begins to poll.
  logic::Status begin();
  /// Takes a new configuration; slurmd is not touched.
  void use_config(NodeConfig config);

 private:
  void identify();
  logic::Status connect();
  void look_soon();
  void look();
  void act(const logic::NodeDecision& decision);
  void report(const logic::NodeDecision& decision);
  void show_status();
  void take_assignment(const logic::Assignment& assignment);
  void begin_checks();
  void end_checks();
  logic::NodeRule rule() const;
  double random() { return std::uniform_real_distribution<double>(0.0, 1.0)(generator_); }

  sys::EventLoop& loop_;
  NodeConfig config_;
  std::mt19937_64 generator_{std::random_device{}()};
  SlurmdKeeper keeper_;
  std::unique_ptr<HeadLink> link_;
  logic::NodeView view_;
  logic::MachineFacts facts_;
  logic::NodeReport report_;
  std::optional<logic::NodeReport> told_;  ///< what the last request carried
  logic::Backoff identity_backoff_;
  std::string status_;
  bool checking_ = false;
  sys::EventLoop::Handle identity_timer_;
  sys::EventLoop::Handle sample_timer_;
  sys::EventLoop::Handle check_timer_;
  sys::EventLoop::Handle look_timer_;
  sys::EventLoop::Handle look_now_;
};

}  // namespace muster::noded
