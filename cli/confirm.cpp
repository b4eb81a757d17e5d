// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/confirm.hpp"

#include <unistd.h>

#include <iostream>

#include "cli/terminal.hpp"

namespace muster::cli {

bool can_ask(const std::string& command) {
  if (::isatty(STDIN_FILENO) == 1 && stdout_is_terminal()) return true;
  complain(command + " asks before it acts and there is no terminal to ask on: give --yes");
  return false;
}

bool is_confirmed(const std::string& question) {
  write_out(question + " [y/N] ");
  std::string line;
  std::getline(std::cin, line);
  if (line == "y" || line == "Y" || line == "yes") return true;
  complain("nothing was changed");
  return false;
}

}  // namespace muster::cli
