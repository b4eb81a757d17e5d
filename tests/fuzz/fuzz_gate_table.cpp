// SPDX-License-Identifier: GPL-2.0-or-later
//
// The gate table, which the plugins read inside slurmctld. What is read must also be written and read back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "logic/gate_table.hpp"
#include "logic/hold_rule.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

/// Random bytes never have the right checksum: try them as the middle of a table whose ends are right.
std::string with_ends(std::string_view middle) {
  muster::logic::GateTable table;
  table.time = muster::logic::time_from_seconds(1);
  const auto empty = muster::logic::write_gate_table(table);
  std::string text = empty.substr(0, empty.rfind("end ")) + std::string(middle) + "\n";
  std::uint64_t sum = 0xcbf29ce484222325U;
  std::size_t lines = 0;
  for (const char byte : text) {
    sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
    if (byte == '\n') { ++lines; }
  }
  std::string hex;
  for (int shift = 60; shift >= 0; shift -= 4) { hex += "0123456789abcdef"[(sum >> shift) & 0xfU]; }
  return text + "end " + std::to_string(lines) + " " + hex + "\n";
}

void try_text(std::string_view text) {
  const auto table = muster::logic::read_gate_table(text);
  if (!table) { return; }
  const auto written = muster::logic::write_gate_table(*table);
  const auto again = muster::logic::read_gate_table(written);
  if (!again || muster::logic::write_gate_table(*again) != written) { std::abort(); }
  for (const auto& group : table->groups) {
    muster::logic::JobRequest job;
    job.partitions = {group.partition};
    job.min_nodes = group.target_count;
    job.min_cpus = 1;
    const auto decision = muster::logic::decide_hold(*table, job, table->time);
    if (decision.text.find('\n') != std::string::npos) { std::abort(); }
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try_text(text);
  try_text(with_ends(text));
  return 0;
}
