// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/say.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>

namespace muster::runner {

std::string node_name() {
  if (const char* name = std::getenv("SLURMD_NODENAME"); name && *name != '\0') return name;
  std::array<char, 256> host{};
  return ::gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "?";
}

void say(const std::string& text) {
  // In one write, so that lines of several launchers do not mix.
  const std::string line = "muster-run: " + node_name() + ": " + text + "\n";
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;  // nobody is left to tell
}

}  // namespace muster::runner
