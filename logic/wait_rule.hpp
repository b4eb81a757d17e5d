// SPDX-License-Identifier: GPL-2.0-or-later
//
// Muster.Wait: whether what somebody waits for has come, or will not come any more.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "logic/head_state.hpp"

namespace muster::logic {

enum class WaitFor {
  in_service,  ///< the group takes jobs, and has its MinCount
  target,      ///< all the nodes that are wanted are open, and no other
  deleted,     ///< nothing of the group is left
};
/// "inservice", "target", "deleted"
std::optional<WaitFor> wait_for_from_name(std::string_view name);

struct WaitOutcome {
  enum class State {
    waiting,
    reached,
    failed,  ///< it does not come by itself any more
  };
  State state = State::waiting;
  std::string text;  ///< how far it is, or why it failed; the same for as long as nothing changes
};
std::string_view wait_state_name(WaitOutcome::State state);

/// Of a group that there is not, only the deletion is reached.
WaitOutcome judge_wait(const HeadState& state, const GroupName& group, WaitFor what);

}  // namespace muster::logic
