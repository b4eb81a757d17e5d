// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whether this musterd acts or looks on: brings the decision (logic/head_role.hpp) and the ledger's ownership together.
// It acts exactly while the ledger is its own; what follows from a change is left to the head.
#pragma once

#include <string>
#include <vector>

#include "logic/head_role.hpp"
#include "musterd/ledger_store.hpp"

namespace muster::musterd {

class Role {
 public:
  Role(LedgerStore& store, logic::HostNames self);

  const logic::HeadRole& view() const { return view_; }
  bool acts() const { return view_.acts; }
  /// Ours to act, if the ledger could only be taken over.
  bool is_due() const { return is_due_; }
  /// Looks on disk: the ledger is still ours. To be asked before anything outside is changed.
  bool may_act() { return acts() && store_.confirm_ours(); }

  enum class Change { none, acts, stands_by };
  /// Once a pass, and whenever the ledger turned out to be taken over. controllers as of this pass.
  Change settle(const std::vector<logic::Controller>& controllers, bool slurm_was_read);
  /// Who owned the ledger before we took it.
  const LedgerStore::Owner& predecessor() const { return predecessor_; }
  /// The ledger is ours but cannot be used.
  void give_up(const std::string& trouble);

 private:
  Change stand_by(const std::string& why);
  void say_standby();

  LedgerStore& store_;
  const logic::HostNames self_;
  logic::HeadRole view_;
  bool is_due_ = false;
  LedgerStore::Owner predecessor_;
  logic::Time lost_at_ = logic::no_time;
  std::string lost_to_;
  std::string said_;  ///< of the standby, last
};

}  // namespace muster::musterd
