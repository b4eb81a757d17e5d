// SPDX-License-Identifier: GPL-2.0-or-later
//
// Everything that musterd knows at a moment: what is wanted, decided and seen. The views read it and nothing else.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "logic/cluster_spec.hpp"
#include "logic/head_role.hpp"
#include "logic/ledger.hpp"
#include "logic/plan.hpp"
#include "logic/seen.hpp"
#include "logic/slurm_messages.hpp"

namespace muster::logic {

/// An event as it is kept.
struct StoredEvent {
  std::int64_t sequence = 0;  ///< grows by one; survives restarts
  std::string id;             ///< UUID
  Time time = no_time;
  Event event;
};

struct HeadState {
  HeadRole role;
  std::optional<ClusterSpec> spec;  ///< none before the first apply
  Time created_at = no_time;        ///< of the cluster
  Ledger ledger;

  std::shared_ptr<const SeenNodes> nodes;  ///< the last good read; null before the first
  Time nodes_at = no_time;
  std::vector<SeenJob> jobs;
  std::vector<SeenReservation> reservations;
  std::optional<SlurmFacts> facts;
  bool slurm_is_up = false;
  Time slurm_since = no_time;  ///< since when up or away; no_time before the first look
  std::string slurm_trouble;   ///< why it could not be read

  /// What the last list of a group's machines answered, where it failed.
  std::map<GroupName, std::string> list_trouble;

  /// When the machines' noded were last heard, since musterd started. An idle noded asks once a minute.
  std::unordered_map<InstanceId, Time> heard_at;

  std::deque<StoredEvent> events;  ///< the newest, oldest first
  std::string store_trouble;       ///< why the ledger could not be written; empty when it can
};

}  // namespace muster::logic
