// SPDX-License-Identifier: GPL-2.0-or-later
#include "slurm_helper/host_names.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "slurm_helper/slurm_api.hpp"

namespace muster::slurm_helper {
namespace {

struct Free {
  void operator()(char* text) const { std::free(text); }
};

/// A host list is never longer than its names side by side, but for the brackets; only where that is wrong after all is
/// a second try needed. (The call that allocates by itself is in no header since 24.11.)
std::string ranged_string(const Hostlist& list, std::size_t names_length) {
  for (std::size_t size = names_length + 256;; size *= 2) {
    std::string text(size, '\0');
    const ssize_t length = slurm_hostlist_ranged_string(list.get(), text.size(), text.data());
    if (length < 0) continue;
    text.resize(std::strlen(text.c_str()));
    return text;
  }
}

std::size_t joined_length(const std::vector<std::string>& names) {
  std::size_t length = 0;
  for (const std::string& name : names) length += name.size() + 1;
  return length;
}

Hostlist sorted_list(const std::vector<std::string>& names) {
  Hostlist list(slurm_hostlist_create(nullptr));
  for (const std::string& name : names) slurm_hostlist_push_host(list.get(), name.c_str());
  slurm_hostlist_uniq(list.get());
  return list;
}

}  // namespace

std::string compress_names(const std::vector<std::string>& names) {
  return ranged_string(sorted_list(names), joined_length(names));
}

std::string normal_form(const char* text) {
  const Hostlist list(slurm_hostlist_create(text));
  if (!list) return {};
  slurm_hostlist_uniq(list.get());
  return ranged_string(list, std::strlen(text));
}

std::pair<std::string, std::string> compress_pairs(const std::vector<std::string>& names,
                                                   const std::vector<std::string>& addresses) {
  std::unordered_map<std::string, const std::string*> address_of;
  for (std::size_t index = 0; index < names.size() && index < addresses.size(); ++index)
    address_of[names[index]] = &addresses[index];
  const Hostlist list = sorted_list(names);
  const std::string name_text = ranged_string(list, joined_length(names));
  const Hostlist address_list(slurm_hostlist_create(nullptr));
  // slurm_hostlist_shift gives memory of malloc.
  while (const std::unique_ptr<char, Free> name{slurm_hostlist_shift(list.get())}) {
    const auto found = address_of.find(name.get());
    if (found != address_of.end()) slurm_hostlist_push_host(address_list.get(), found->second->c_str());
  }
  return {name_text, ranged_string(address_list, joined_length(addresses))};
}

}  // namespace muster::slurm_helper
