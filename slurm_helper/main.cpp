// SPDX-License-Identifier: GPL-2.0-or-later
//
// muster-slurm: talks with slurmctld through libslurm for the programs of muster that must never block or be ended by
// it. Reads requests from stdin, a JSON object a line, and answers each with one line on stdout (protocol.md).
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iostream>
#include <string>
#include <string_view>

#include "slurm_helper/operations.hpp"
#include "slurm_helper/slurm_api.hpp"
#include "slurm_helper/slurm_errors.hpp"
#include "sys/json.hpp"

namespace {

using muster::logic::Value;

/// Keeps the protocol for itself: whatever libslurm or its plugins print to stdout ends in stderr instead.
int take_stdout() {
  const int protocol = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (protocol >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
  return protocol;
}

bool send_line(int fd, const Value& reply) {
  std::string line = muster::sys::to_json(reply);
  line.push_back('\n');
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t written = write(fd, rest.data(), rest.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Value answer(muster::slurm_helper::Operations& operations, const std::string& line) {
  const auto request = muster::sys::parse_json(line);
  if (!request) return muster::slurm_helper::bad_request(request.error().message);
  Value reply = operations.run(*request);
  if (const Value* id = request->find("id")) reply.set("id", *id);
  return reply;
}

}  // namespace

int main() {
  // Ends with whoever started it, also in the middle of a call that blocks.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int protocol = take_stdout();
  if (protocol < 0) {
    std::cerr << "muster-slurm: stdout is not open\n";
    return 1;
  }
  const Value hello = Value::map(
      {{"hello", "muster-slurm"}, {"slurm_version", muster::slurm_helper::built_for_version()}, {"protocol", 1}});
  if (!send_line(protocol, hello)) return 1;
  // With a missing or broken slurm.conf this calls exit (24.11) or blocks for a minute (22.05), hence after the
  // greeting.
  slurm_init(nullptr);
  std::ios::sync_with_stdio(false);
  muster::slurm_helper::Operations operations;
  for (std::string line; std::getline(std::cin, line);) {
    if (!send_line(protocol, answer(operations, line))) return 1;
  }
  return 0;
}
