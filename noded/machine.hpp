// SPDX-License-Identifier: GPL-2.0-or-later
//
// What this machine shows of itself: who it is and what it has. Reads only local things, but
// for the user database, which is asked once.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "logic/node_steps.hpp"
#include "logic/result.hpp"
#include "noded/node_config.hpp"

namespace muster::noded {

/// The instance id from the first source that has one; an error says what each source had instead.
logic::Result<std::string> find_instance_id(const NodeConfig& config);
std::string host_name();
/// Another one after each boot; empty where /proc does not tell.
std::string boot_id();

/// Everything but the second count of the devices.
logic::MachineFacts look_at_machine(const NodeConfig& config, const logic::Assignment& wanted);
/// Counts the devices again.
void count_devices_again(logic::MachineFacts& facts);

}  // namespace muster::noded
