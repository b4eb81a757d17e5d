// SPDX-License-Identifier: GPL-2.0-or-later
//
// Processes that workers left outside their own sessions: orphans that the kernel has handed to us, since we are the
// subreaper.
#pragma once

namespace muster::runner {

/// Kills every child that we have now. Returns whether there was one; their own children come to us next, so call until
/// it returns false. Only for when all workers have ended.
bool kill_leftovers();

/// Reaps orphans that have ended by themselves; leaves children that have not.
void reap_leftovers();

/// Kills and reaps until there is none, waiting for each.
void end_leftovers();

}  // namespace muster::runner
