// SPDX-License-Identifier: GPL-2.0-or-later
//
// Keeps the one slurmd of this machine: starts it (by systemd, or in a session of its own), finds it again after a
// restart of noded, notices its end, replaces it. Decides nothing: logic/node_steps says when. Destroying the keeper
// leaves slurmd running.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "logic/node_steps.hpp"
#include "noded/node_config.hpp"
#include "noded/state_file.hpp"
#include "sys/detached_process.hpp"
#include "sys/event_loop.hpp"
#include "sys/systemd_manager.hpp"

namespace muster::noded {

class SlurmdKeeper {
 public:
  /// changed is called after each change of view(), also from within start(). random gives numbers in [0, 1).
  SlurmdKeeper(sys::EventLoop& loop, NodeConfig config, StateFile state, std::string boot_id, logic::SlurmdRule rule,
               std::function<double()> random, std::function<void()> changed);

  /// Takes over the slurmd that an earlier noded started and that still lives.
  logic::Status adopt();
  /// Starts slurmd for the assignment; one that runs is ended first.
  void start(const logic::Assignment& wanted);
  const logic::SlurmdView& view() const { return view_; }
  /// For the next start.
  void use_config(NodeConfig config) { config_ = std::move(config); }
  /// Keeps the file with slurmd's output from growing without end.
  void trim_output() const;

 private:
  bool by_systemd() const;
  void begin();
  void begin_child();
  void begin_by_systemd(bool is_retry);
  void take_or_restart_unit();
  void restart_unit();
  void take_unit_state(const logic::Result<sys::UnitState>& state);
  void stop_then_begin();
  void ended(const std::string& how);
  void not_started(const std::string& why);
  logic::Status watch(const sys::ProcessIdentity& process);
  void running(const sys::ProcessIdentity& process);
  logic::Result<bool> write_unit_files(const std::string& options) const;
  SlurmdRecord record(const sys::ProcessIdentity& process) const;

  sys::EventLoop& loop_;
  NodeConfig config_;
  StateFile state_;
  std::string boot_id_;
  logic::SlurmdRule rule_;
  std::function<double()> random_;
  std::function<void()> changed_;
  logic::SlurmdView view_;
  bool started_by_systemd_ = false;  ///< the one that view_ tells of
  logic::Assignment wanted_;
  std::unique_ptr<sys::SystemdManager> systemd_;
  std::unique_ptr<sys::ProcessWatch> watch_;
  sys::EventLoop::Handle stop_timer_;
  bool stopping_ = false;
};

}  // namespace muster::noded
