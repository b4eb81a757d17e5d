// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which musterd acts where slurm.conf names several controllers: the one beside the slurmctld that is in control. The
// others look on. Decides from what is known; who may write is the ledger's business.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "logic/time.hpp"

namespace muster::logic {

/// A SlurmctldHost of slurm.conf.
struct Controller {
  std::string host;
  std::string address;   ///< equals host unless slurm.conf says otherwise
  bool answers = false;  ///< a slurmctld there answers a ping; also one that is on standby itself does
};

/// By what a controller of slurm.conf is recognized as this host.
struct HostNames {
  std::string name;                 ///< as the kernel has it: short or with its domain
  std::set<std::string> addresses;  ///< numeric
};

struct RoleFacts {
  std::vector<Controller> controllers;  ///< in the order of slurm.conf; empty = not known
  HostNames self;
  bool slurm_was_read = false;  ///< just now, by whichever slurmctld is in control
  Time lost_at = no_time;       ///< when another musterd took the ledger from us last
  std::string lost_to;          ///< its host, until Slurm has told us to stand by since then
  Time now = no_time;
};

enum class Duty { unchanged, act, stand_by };
struct DutyDecision {
  Duty duty = Duty::unchanged;
  std::string acting_host;  ///< whose musterd is to act; empty = not known
  std::string trouble;      ///< why it cannot be told; empty if it can
};

/// Unknown changes nothing. A standby slurmctld answers pings like one in control (22.05 and later, tried), so the
/// first that answers is believed only where Slurm could be read, too: while none is in control, none can be.
DutyDecision decide_duty(const RoleFacts& facts);

/// The role of this musterd, for people and programs.
struct HeadRole {
  bool is_known = false;  ///< false just after the start
  bool acts = false;
  std::string host;         ///< ours
  std::string acting_host;  ///< may be empty
  std::string trouble;
};
/// "acting", "standby", or "starting" while that is not known.
std::string_view role_name(const HeadRole& role);
/// "musterd on head2 is on standby; musterd on head acts"; empty for one that acts.
std::string standby_text(const HeadRole& role);

}  // namespace muster::logic
