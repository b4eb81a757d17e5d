// SPDX-License-Identifier: GPL-2.0-or-later
#include "spank_plugin/spank_options.hpp"

#include "logic/hold_rule.hpp"
#include "spank_plugin/guard.hpp"

namespace muster::spank_plugin {
namespace {

// SPANK wants the texts writable, although it does not write to them.
char option_name[] = "min-count";
char option_argument[] = "N|auto|none";
char option_usage[] =
    "muster: hold the job until N nodes of its group are open; "
    "auto: until the group has its MinCount; none: only while the group is gathering";

/// The client refuses what slurmctld could only ignore. slurmstepd gets what the client let through.
int take_min_count(int /*value*/, const char* text, int remote) {
  return guarded([&] {
    if (remote != 0) { return 0; }
    const auto option = logic::parse_min_count(text == nullptr ? "" : text);
    if (option) { return 0; }
    slurm_error("muster: %s", option.error().message.c_str());
    return -1;
  });
}

}  // namespace

int register_options(spank_t spank) {
  spank_option min_count = {option_name, option_argument, option_usage, 1, 0, take_min_count};
  return spank_option_register(spank, &min_count) == ESPANK_SUCCESS ? 0 : -1;
}

}  // namespace muster::spank_plugin
