// SPDX-License-Identifier: GPL-2.0-or-later
//
// GRES as Slurm writes them: of a job, of a node, and as a group wants them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::logic {

/// What every node of a group is to have.
struct GresWant {
  std::string name;  ///< "gpu"
  std::string type;  ///< "h100"; empty = any
  int count = 0;
  friend bool operator==(const GresWant& a, const GresWant& b) {
    return a.name == b.name && a.type == b.type && a.count == b.count;
  }
};

/// One entry of such a text; the views are into it.
struct Gres {
  std::string_view name;
  std::string_view type;  ///< empty = any
  int count = 1;
};
/// "gpu", "gpu:4", "gpu:h100", "gpu:h100:4"; also with '=' before the count.
Gres parse_gres(std::string_view text);
/// Whether the offered entries ("gpu:h100:4" each) together hold what is wanted.
bool gres_fit(const std::vector<Gres>& wanted, const std::vector<std::string>& offered);
/// Whether a node's Gres= ("gpu:h100:4(S:0),shard:8") holds what its group wants.
bool node_offers(std::string_view node_gres, const std::vector<GresWant>& wanted);

}  // namespace muster::logic
