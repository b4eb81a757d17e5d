// SPDX-License-Identifier: GPL-2.0-or-later
//
// Node names as Slurm's host lists: "g[1-8,12]" for one RPC.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace muster::slurm_helper {

/// The names as one host list, sorted, each once.
std::string compress_names(const std::vector<std::string>& names);

/// A host list that a person wrote, in the form in which Slurm writes one: no blanks, each name once. Empty where Slurm
/// cannot read it.
std::string normal_form(const char* list);

/// Names and addresses as two host lists whose order agrees. slurmctld sorts the names before it pairs them with the
/// addresses (22.05), so they are sorted here as it would.
std::pair<std::string, std::string> compress_pairs(const std::vector<std::string>& names,
                                                   const std::vector<std::string>& addresses);

}  // namespace muster::slurm_helper
