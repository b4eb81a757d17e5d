// SPDX-License-Identifier: GPL-2.0-or-later
//
// cluster.yaml, which anybody who may write sends to musterd: from text to the groups, and to the lines for slurm.conf.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "logic/cluster_spec.hpp"
#include "sys/yaml.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = muster::sys::parse_yaml(text, "cluster.yaml");
  if (!document) {
    if (document.error().message.empty()) { std::abort(); }
    return 0;
  }
  const auto spec = muster::logic::parse_cluster_spec(*document, "cluster.yaml", "/");
  if (!spec) {
    if (spec.error().message.empty()) { std::abort(); }
    return 0;
  }
  for (const auto& group : spec->groups) {
    if (group.min_count < 0 || group.min_count > group.target_count) { std::abort(); }
    (void)muster::logic::node_conf(group);
  }
  (void)muster::logic::slurm_conf_lines(*spec);
  return 0;
}
