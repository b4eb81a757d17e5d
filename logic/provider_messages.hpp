// SPDX-License-Identifier: GPL-2.0-or-later
//
// The exec provider's contract (man muster-provider.7) in both directions: what the program is given, what its answers
// mean.
#pragma once

#include <string>
#include <vector>

#include "logic/cluster_spec.hpp"
#include "logic/plan.hpp"
#include "logic/result.hpp"
#include "logic/seen.hpp"
#include "logic/value.hpp"

namespace muster::logic {

Value launch_request(const std::string& cluster, const GroupSpec& group, const LaunchMachine& launch);
Value list_request(const std::string& cluster, const GroupSpec& group);
Value reboot_request(const std::string& cluster, const RebootMachine& reboot);
Value terminate_request(const std::string& cluster, const TerminateMachine& terminate);

/// How a run of the program ended, as far as its answer's meaning depends on it.
struct ProviderRun {
  std::string
      trouble;  ///< empty: it exited 0 and answered JSON; else a sentence ("killed after 30 s", "exit status 3: ...")
  Value answer;
};

/// A run that ended in trouble leaves open whether a machine exists.
LaunchResult read_launch(const LaunchToken& token, const ProviderRun& run);
/// An error where the list is not known. Machines of other groups are left out.
Result<std::vector<SeenMachine>> read_list(const GroupName& group, const ProviderRun& run);
RebootResult read_reboot(const InstanceId& instance, const ProviderRun& run);
TerminateResult read_terminate(const InstanceId& instance, const ProviderRun& run);

}  // namespace muster::logic
