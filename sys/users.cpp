// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/users.hpp"

#include <pwd.h>

namespace muster::sys {

std::vector<uid_t> known_uids(const std::vector<std::string>& users) {
  std::vector<uid_t> uids;
  for (const std::string& user : users) {
    if (const passwd* entry = ::getpwnam(user.c_str())) uids.push_back(entry->pw_uid);
  }
  return uids;
}

}  // namespace muster::sys
