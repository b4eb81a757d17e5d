// SPDX-License-Identifier: GPL-2.0-or-later
//
// SHA-256 (libcrypto inside).
#pragma once

#include <string>
#include <string_view>

namespace muster::sys {

/// 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);

/// A random lower-case UUID (version 4).
std::string random_uuid();

}  // namespace muster::sys
