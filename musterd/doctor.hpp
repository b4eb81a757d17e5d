// SPDX-License-Identifier: GPL-2.0-or-later
//
// Muster.Doctor: gathers what musterd knows and what its host shows, and holds it against the rules of logic/doctor.
// Nothing here waits: what takes time (Slurm, a program's version) is asked with a deadline.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "logic/doctor.hpp"
#include "logic/value.hpp"
#include "musterd/head.hpp"
#include "sys/child_process.hpp"
#include "sys/event_loop.hpp"

namespace muster::musterd {

class Doctor {
 public:
  Doctor(sys::EventLoop& loop, Head& head) : loop_(loop), head_(head) {}

  /// done gets the findings. Whoever asks while an examination is under way gets its outcome too.
  void examine(std::function<void(logic::Value)> done);

 private:
  void ask_version(logic::Result<logic::SlurmFacts> facts);
  void conclude(const logic::Result<logic::SlurmFacts>& facts, std::optional<logic::SlurmVersion> installed);
  logic::HeadFacts head_facts(const logic::SlurmFacts* slurm) const;

  sys::EventLoop& loop_;
  Head& head_;
  std::vector<std::function<void(logic::Value)>> waiting_;
  std::unique_ptr<sys::Run> version_run_;
};

}  // namespace muster::musterd
