// SPDX-License-Identifier: GPL-2.0-or-later
//
// A scenario file, from text to what happens when; it is not run.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "simulator/scenario.hpp"
#include "sys/yaml.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = muster::sys::parse_yaml(text, "scenario.yaml");
  if (!document) return 0;
  const auto scenario = muster::simulator::parse_scenario(*document, "scenario.yaml");
  if (!scenario) {
    if (scenario.error().message.empty()) { std::abort(); }
    return 0;
  }
  for (const auto& step : scenario->steps) {
    if (!step.act) { std::abort(); }
  }
  return 0;
}
