// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/line_prefix.hpp"

#include <utility>

namespace muster::runner {

LinePrefix::LinePrefix(std::string prefix, std::size_t longest) : prefix_(std::move(prefix)), longest_(longest) {}

std::string LinePrefix::take(std::string_view bytes) {
  std::string lines;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    rest_ += bytes.substr(0, end);
    if (end != std::string_view::npos) {
      lines += prefix_ + rest_ + "\n";
      rest_.clear();
      bytes.remove_prefix(end + 1);
      continue;
    }
    while (rest_.size() >= longest_) {
      lines += prefix_ + rest_.substr(0, longest_) + "\n";
      rest_.erase(0, longest_);
    }
    break;
  }
  return lines;
}

std::string LinePrefix::finish() {
  if (rest_.empty()) return {};
  std::string line = prefix_ + rest_ + "\n";
  rest_.clear();
  return line;
}

}  // namespace muster::runner
