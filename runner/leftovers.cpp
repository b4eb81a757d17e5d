// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/leftovers.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

namespace muster::runner {

namespace {

std::vector<pid_t> children() {
  const std::string self = std::to_string(::getpid());
  std::ifstream list("/proc/self/task/" + self + "/children");
  std::vector<pid_t> pids;
  for (pid_t pid = 0; list >> pid;) pids.push_back(pid);
  return pids;
}

}  // namespace

bool kill_leftovers() {
  for (const pid_t pid : children()) ::kill(pid, SIGKILL);
  reap_leftovers();
  int status = 0;
  // ECHILD: there is none. Without the kernel's list of children (CONFIG_PROC_CHILDREN) this still tells.
  return !(::waitpid(-1, &status, WNOHANG) < 0 && errno == ECHILD);
}

void reap_leftovers() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {}
}

void end_leftovers() {
  while (true) {
    for (const pid_t pid : children()) ::kill(pid, SIGKILL);
    if (::waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) return;
  }
}

}  // namespace muster::runner
