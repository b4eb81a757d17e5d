// SPDX-License-Identifier: GPL-2.0-or-later
#include "slurm_helper/slurm_errors.hpp"

#include <cerrno>

#include "slurm_helper/slurm_api.hpp"

namespace muster::slurm_helper {

using logic::Value;

std::string_view failure_class(int code) {
  // slurm_errno.h keeps its codes in blocks: communication 1000 to 1099 and 1800 to 1899, sockets 5000 to 5099, the
  // authentication plugin (munged is away) 6000 to 6099.
  const bool is_communication = (code >= 1000 && code < 1100) || (code >= 1800 && code < 1900) ||
                                (code >= 5000 && code < 5100) || (code >= 6000 && code < 6100);
  if (is_communication) return "unreachable";
  switch (code) {
    case ECONNREFUSED:
    case ECONNRESET:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN:
    case EPIPE:
    case ETIMEDOUT:
    case ESLURM_IN_STANDBY_MODE:
    case ESLURM_IN_STANDBY_USE_BACKUP: return "unreachable";
    case EAGAIN:
    case EINTR:
    case EBUSY:
    case ESLURM_NODES_BUSY:
    case ESLURM_REBOOT_IN_PROGRESS:
    case ESLURM_TRANSITION_STATE_NO_UPDATE: return "busy";
    case ESLURM_NOT_SUPPORTED:
    case ENOSYS:
    case EOPNOTSUPP: return "unsupported";
    default: return "refused";
  }
}

Value failure(int code) {
  const char* words = code == 0 ? "libslurm gave no reason" : slurm_strerror(code);
  return Value::map({{"ok", false},
                     {"errno", code},
                     {"error", words != nullptr ? words : "unknown error"},
                     {"class", failure_class(code)}});
}

Value bad_request(std::string_view words) {
  return Value::map({{"ok", false}, {"errno", 0}, {"error", words}, {"class", "refused"}});
}

}  // namespace muster::slurm_helper
