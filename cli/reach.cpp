// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/reach.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace muster::cli {

namespace {

constexpr std::string_view unix_scheme = "unix:";

/// Why nobody can be reached there, in the operator's words; empty where a connection is possible.
std::string socket_trouble(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return "the path is too long for a socket";
  path.copy(address.sun_path, path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::strerror(errno);
  const bool connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int why = errno;
  ::close(fd);
  if (connected) return {};
  if (why == ENOENT) return "no such file";
  if (why == ECONNREFUSED) return "nobody listens on it";
  return std::strerror(why);
}

}  // namespace

logic::Error explained(const std::string& url, const logic::Error& error) {
  if (error.kind == logic::ErrorKind::reject) return error;
  if (url.rfind(unix_scheme, 0) == 0) {
    if (const std::string trouble = socket_trouble(url.substr(unix_scheme.size())); !trouble.empty()) {
      return logic::retry_error("cannot reach musterd at " + url + ": " + trouble +
                                "; is musterd running? systemctl status musterd");
    }
  }
  return logic::retry_error("no answer from musterd: " + error.message);
}

}  // namespace muster::cli
