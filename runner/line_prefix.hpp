// SPDX-License-Identifier: GPL-2.0-or-later
//
// Gives each line of a stream a prefix. Bytes come in pieces of any size; whole lines go out, so that the lines of
// several workers never mix. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::runner {

class LinePrefix {
 public:
  /// A line longer than longest is passed on in parts, so that a progress bar without line ends takes no memory.
  explicit LinePrefix(std::string prefix, std::size_t longest = 64U * 1024);

  /// The lines that are whole now, each with its prefix and newline.
  std::string take(std::string_view bytes);
  /// What is left when the stream ends, as a line; empty if nothing is.
  std::string finish();

 private:
  std::string prefix_;
  std::size_t longest_;
  std::string rest_;
};

}  // namespace muster::runner
