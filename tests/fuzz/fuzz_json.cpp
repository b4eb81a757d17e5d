// SPDX-License-Identifier: GPL-2.0-or-later
//
// JSON: request bodies, and what provider programs and the helper say. What was read must be written and read back the
// same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sys/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = muster::sys::parse_json(text);
  if (!value) { return 0; }
  const auto written = muster::sys::to_json(*value);
  const auto again = muster::sys::parse_json(written);
  if (!again || muster::sys::to_json(*again) != written) { std::abort(); }
  return 0;
}
