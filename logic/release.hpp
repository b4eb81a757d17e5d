// SPDX-License-Identifier: GPL-2.0-or-later
//
// The gate table as the plugins see it, and which held jobs may go: a job is released when the rule that held it would
// now admit it.
#pragma once

#include "logic/cluster_spec.hpp"
#include "logic/gate_table.hpp"
#include "logic/hold_rule.hpp"
#include "logic/plan.hpp"

namespace muster::logic {

/// The table of now. Nodes count as open when Slurm shows them undrained. seen.nodes must be known.
GateTable make_gate_table(const ClusterSpec& wanted, const Ledger& ledger, const Seen& seen, Time now);

/// The job is on hold and carries our mark: priority 0 by our plugin, which looks like a user's hold. An admin's hold
/// is theirs.
bool carries_our_hold(const SeenJob& job);
/// The same, and the hold is ours still: one that was set after somebody had released ours is theirs.
bool is_held_by_us(const SeenJob& job, const Ledger& ledger);
/// What the job asks for, as the hold rule wants it.
JobRequest request_of(const SeenJob& job);

/// The held jobs that now fit, and events about those that somebody else released. Updates ledger.released_by_others.
ReleaseJobs plan_releases(const GateTable& table, const std::vector<SeenJob>& jobs, Time now, Ledger& ledger,
                          std::vector<Event>& events);

}  // namespace muster::logic
