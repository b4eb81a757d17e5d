// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/gres.hpp"

#include <algorithm>
#include <cstdint>

#include "logic/text_parts.hpp"

namespace muster::logic {

Gres parse_gres(std::string_view text) {
  Gres gres;
  // "gpu:h100:4(S:0-1)" is how Slurm prints the sockets of a node's gres.
  auto parts = split_text(text.substr(0, text.find('(')), ":=");
  if (parts.size() > 1) {
    if (const auto count = whole_number(parts.back())) {
      gres.count = *count;
      parts.pop_back();
    }
  }
  if (!parts.empty()) { gres.name = parts.front(); }
  if (parts.size() > 1) { gres.type = parts[1]; }
  return gres;
}

bool gres_fit(const std::vector<Gres>& wanted, const std::vector<std::string>& offered) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const Gres& demand) {
    std::int64_t have = 0;
    for (const auto& text : offered) {
      const auto gres = parse_gres(text);
      if (gres.name == demand.name && (demand.type.empty() || gres.type == demand.type)) { have += gres.count; }
    }
    return have >= demand.count;
  });
}

bool node_offers(std::string_view node_gres, const std::vector<GresWant>& wanted) {
  std::vector<std::string> offered;
  for (const std::string_view entry : split_text(node_gres, ",")) offered.emplace_back(entry);
  std::vector<Gres> demands;
  for (const GresWant& want : wanted) demands.push_back({want.name, want.type, want.count});
  return gres_fit(demands, offered);
}

}  // namespace muster::logic
