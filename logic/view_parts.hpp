// SPDX-License-Identifier: GPL-2.0-or-later
//
// What several views say in the same words: of a slot, of a node that is counted and of no use, of trouble with
// launches.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logic/gate_table.hpp"
#include "logic/head_state.hpp"
#include "logic/hold_rule.hpp"
#include "logic/value.hpp"

namespace muster::logic {

/// Null where there is no time.
Value time_or_null(Time time);
/// "1 node", "3 nodes"
std::string plural(std::int64_t count, const std::string& noun);

/// Null where Slurm has no such record, or was not read yet.
const SeenNode* find_seen(const HeadState& state, const NodeName& name);
/// Null where the group is not there, or no longer.
const GroupRecord* find_record(const HeadState& state, const GroupName& name);

/// It is to be removed, replaced or rebooted.
bool is_leaving(const SlotRecord& slot);
/// Removed, and nothing but its record is left.
bool is_departed(const SlotRecord& slot);
/// An attempt failed, and the next one is waited for.
bool is_retrying(const SlotRecord& slot, Time now);
/// "removed", "replaced", "rebooted"
std::string_view done_word(Wish wish);

/// How many jobs are on each node, by what was seen last.
std::map<NodeName, int> count_jobs(const HeadState& state);

/// When the slot's noded was last heard; none where it has no machine that spoke since musterd started.
std::optional<Time> heard_at(const HeadState& state, const SlotRecord& slot);
/// For how long it has not been heard; none where it is heard, or never was.
std::optional<Duration> silent_for(const HeadState& state, const SlotRecord& slot, Time now);

/// A node that counts as ready and can take no work all the same.
struct Unusable {
  std::string why;       ///< "DOWN (Not responding)"
  Time since = no_time;  ///< no_time = not known
};
/// None where the slot does not count, or is as it should be.
std::optional<Unusable> find_unusable(const HeadState& state, const GroupSpec& spec, const SlotRecord& slot, Time now);
int usable_count(const HeadState& state, const GroupSpec& spec, const GroupRecord& group, Time now);

/// "instance type p5: capacity, 3 failures in a row: no p5 in zone a"
std::string trouble_text(const std::string& type, const LaunchTrouble& trouble);
/// What follows: "tried again in 1 min 20 s", "gpu-3 tries it now", or what a person has to do.
std::string trouble_next(const LaunchTrouble& trouble, Time now);

/// Arrivals a minute, from the newest arrivals; none from fewer than two.
std::optional<double> arrivals_per_minute(const GroupRecord& group, Time now);
/// When MinCount is ready if nodes go on to arrive as in this gathering so far.
std::optional<Time> estimated_open(const GroupRecord& group, Time now);
/// What happens at the deadline; empty where there is none.
std::string deadline_action(const GroupRecord& group);

/// The bound on the cost of gathering (max_idle_node_hours).
struct IdleBound {
  double spent = 0;           ///< node hours
  double limit = 0;           ///< node hours
  Time reached_at = no_time;  ///< with the machines of now; no_time = not at all
};
/// None where the group has no bound or does not gather towards a deadline.
std::optional<IdleBound> idle_bound(const GroupSpec& spec, const GroupRecord& group, Time now);

/// What the plugins read, as it is now. state.spec and state.nodes must be there.
GateTable present_gate_table(const HeadState& state, Time now);
/// "until group gpu opens: ...": what a decision says without the words that are for sbatch's user.
std::string waits_until(const HoldDecision& decision);

}  // namespace muster::logic
