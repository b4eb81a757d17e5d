// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/host.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "sys/files.hpp"

namespace muster::sys {
namespace {

logic::FileState::Kind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return logic::FileState::Kind::file;
  if (S_ISDIR(mode)) return logic::FileState::Kind::directory;
  return S_ISSOCK(mode) ? logic::FileState::Kind::socket : logic::FileState::Kind::other;
}

bool all_may_pass_to(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    struct ::stat info {};
    if (::stat(path.substr(0, slash).c_str(), &info) != 0 || (info.st_mode & S_IXOTH) == 0) return false;
  }
  return true;
}

struct FreeAddresses {
  void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

std::string numeric(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address->sa_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(address);
    ::inet_ntop(AF_INET, &four->sin_addr, text.data(), text.size());
  } else if (address->sa_family == AF_INET6) {
    const auto* six = reinterpret_cast<const sockaddr_in6*>(address);
    if (!IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr)) ::inet_ntop(AF_INET6, &six->sin6_addr, text.data(), text.size());
  }
  return text.data();
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

logic::FileState look_at_file(const std::string& path) {
  logic::FileState state;
  state.path = path;
  struct ::stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) state.trouble = path + ": " + std::strerror(errno);
    return state;
  }
  state.kind = kind_of(info.st_mode);
  state.mode = info.st_mode & 07777U;
  state.is_public = (info.st_mode & S_IROTH) != 0 && all_may_pass_to(path);
  return state;
}

logic::Duration file_age(const std::string& path, logic::Time now) {
  struct ::stat info {};
  if (::stat(path.c_str(), &info) != 0) return logic::Duration{0};
  return std::max(logic::Duration{0}, now - logic::time_from_milliseconds(std::int64_t{info.st_mtime} * 1000));
}

logic::FileSystemState look_at_file_system(const std::string& path) {
  logic::FileSystemState state;
  struct ::statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) return state;
  state.is_known = true;
  state.is_read_only = (info.f_flag & ST_RDONLY) != 0;
  state.free_bytes = static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
  // Some file systems have no fixed number of files, and tell 0 of 0.
  state.free_files = info.f_files == 0 ? INT32_MAX : static_cast<std::int64_t>(info.f_favail);
  return state;
}

std::string program_trouble(const std::string& path) {
  const logic::FileState state = look_at_file(path);
  if (!state.trouble.empty()) return state.trouble;
  if (state.kind == logic::FileState::Kind::absent) return "nothing at " + path;
  if (state.kind != logic::FileState::Kind::file || ::access(path.c_str(), X_OK) != 0)
    return path + ", which may not be executed";
  return {};
}

std::string try_writing(const std::string& directory) {
  const std::string path = directory + "/.write-test";
  const std::string content(4096, '\n');
  const logic::Status written = replace_file(path, content, 0600, false);
  ::unlink(path.c_str());
  return written ? std::string() : written.error().message;
}

logic::Result<std::vector<std::string>> resolve(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* raw = nullptr;
  if (const int code = ::getaddrinfo(name.c_str(), nullptr, &hints, &raw); code != 0)
    return logic::retry_error(code == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(code));
  std::vector<std::string> addresses;
  for (const addrinfo* one = raw; one != nullptr; one = one->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(one->ai_addr, one->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
      continue;
    if (std::find(addresses.begin(), addresses.end(), text.data()) == addresses.end())
      addresses.emplace_back(text.data());
  }
  ::freeaddrinfo(raw);
  return addresses;
}

std::set<std::string> own_addresses() {
  std::set<std::string> addresses;
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) return addresses;
  const std::unique_ptr<ifaddrs, FreeAddresses> list(raw);
  for (const ifaddrs* entry = raw; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_LOOPBACK) != 0) continue;
    if (std::string text = numeric(entry->ifa_addr); !text.empty()) addresses.insert(std::move(text));
  }
  return addresses;
}

}  // namespace muster::sys
