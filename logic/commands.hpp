// SPDX-License-Identifier: GPL-2.0-or-later
//
// What an operator asks for, as changes of the ledger. A command decides at once whether it may be and writes down what
// is wanted; the planner then does it. So an answer "yes" survives a crash, and commands on a group that is already
// changing add up: the newest target wins, increments add.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "logic/cluster_spec.hpp"
#include "logic/ledger.hpp"
#include "logic/plan.hpp"
#include "logic/result.hpp"

namespace muster::logic {

/// New counts; what is absent stays.
struct ScaleGroup {
  GroupName group;
  std::optional<int> target;
  std::optional<int> min;
};
/// Raises the target. HyperPod: BatchAddClusterNodes; refused while the group gathers.
struct AddNodes {
  GroupName group;
  int count = 0;
};
/// Lowers the target and takes these. HyperPod: BatchDeleteClusterNodes; refused while the group gathers.
struct RemoveNodes {
  std::vector<NodeName> names;
};
/// Other machines for these. Jobs may end first.
struct ReplaceNodes {
  std::vector<NodeName> names;
};
/// Restarts these. Jobs may end first.
struct RebootNodes {
  std::vector<NodeName> names;
};
/// Opens a gathering group with what is ready.
struct OpenGroup {
  GroupName group;
};
struct DeleteGroup {
  GroupName group;
};
struct DeleteCluster {};
/// Forgets back-offs, and tries again what was given up.
struct RetryNow {};

using Command = std::variant<ScaleGroup, AddNodes, RemoveNodes, ReplaceNodes, RebootNodes, OpenGroup, DeleteGroup,
                             DeleteCluster, RetryNow>;

struct CommandOutcome {
  Ledger ledger;
  std::vector<Event> events;
  std::string message;  ///< one sentence for who asked
};

/// by is who asks ("uid 0"). An error (reject, absent, conflict) changes nothing.
Result<CommandOutcome> run_command(const ClusterSpec& spec, const Ledger& ledger, const Command& command,
                                   const std::string& by, Time now);

/// What applying a file does to the ledger: its counts are the newest request, also where a command or a rollback had
/// changed them; back-offs are forgotten; new groups begin; groups that were deleted are forgotten, and begin anew
/// where the file names them.
CommandOutcome take_file(const ClusterSpec* before, const ClusterSpec& spec, const Ledger& ledger,
                         const std::string& by, Time now);

}  // namespace muster::logic
