// SPDX-License-Identifier: GPL-2.0-or-later
//
// Looks into a shared object without loading it: what stands under one of its exported names. A Slurm plugin of the
// wrong version says so itself, but only to the slurmctld that then does not start.
#pragma once

#include <cstdint>
#include <string_view>

#include "logic/result.hpp"

namespace muster::logic {

/// The four bytes that the object exports under that name, as a number of this machine. An error where the bytes are no
/// whole 64-bit ELF object of this machine's byte order, or export no such name.
Result<std::uint32_t> exported_number(std::string_view object, std::string_view name);

}  // namespace muster::logic
