// SPDX-License-Identifier: GPL-2.0-or-later
//
// Looks at Slurm and acts on it for the reconciler: requests to the helper, in order, each with a deadline. Of a large
// cluster mostly what changed is read.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "logic/plan.hpp"
#include "logic/seen.hpp"
#include "logic/slurm_messages.hpp"
#include "sys/slurm_link.hpp"

namespace muster::musterd {

class SlurmDriver {
 public:
  /// One look. trouble is empty if all was read; else all of it is unknown.
  struct View {
    std::shared_ptr<const logic::SeenNodes> nodes;
    std::optional<std::vector<logic::SeenJob>> jobs;
    std::optional<std::vector<logic::SeenReservation>> reservations;
    std::string trouble;
  };

  SlurmDriver(std::unique_ptr<sys::SlurmLink> link, logic::Duration timeout);

  /// The next look takes nothing for unchanged.
  void read_whole_next() { nodes_update_ = jobs_update_ = reservations_update_ = 0; }
  void observe(std::function<void(View)> done);
  void read_controllers(std::function<void(logic::Result<std::vector<logic::Controller>>)> done);
  void read_facts(std::function<void(logic::Result<logic::SlurmFacts>)> done);
  /// Carries out the actions on Slurm among these, in order; the others are passed over. done gets one sentence for
  /// each that failed. A failed one does not keep the next from being tried: each is read back by the next look anyway.
  /// may_act is asked right before each; once it says no, the rest is dropped.
  void execute(std::vector<logic::Action> actions, std::function<bool()> may_act,
               std::function<void(std::vector<std::string> problems)> done);

  std::uint64_t rpcs() const { return link_->rpcs(); }

 private:
  void read_jobs(std::function<void(View)> done);
  void read_reservations(std::function<void(View)> done);
  struct Batch {
    std::vector<logic::Value> requests;
    std::size_t next = 0;
    std::function<bool()> may_act;
    std::vector<std::string> problems;
    std::function<void(std::vector<std::string>)> done;
  };
  void execute_next(const std::shared_ptr<Batch>& batch);

  std::unique_ptr<sys::SlurmLink> link_;
  const logic::Duration timeout_;
  /// What to ask for: changes since then, or 0 for everything.
  std::int64_t nodes_since() const;

  std::int64_t nodes_update_ = 0;
  std::int64_t jobs_update_ = 0;
  std::int64_t reservations_update_ = 0;
  std::chrono::steady_clock::time_point whole_read_at_;
  std::shared_ptr<const logic::SeenNodes> nodes_;
  std::vector<logic::SeenJob> jobs_;
  std::vector<logic::SeenReservation> reservations_;
};

}  // namespace muster::musterd
