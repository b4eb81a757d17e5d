// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/machine.hpp"

#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>

#include "sys/fd.hpp"
#include "sys/files.hpp"

namespace muster::runner {

namespace {

int gpu_device_files() {
  int count = 0;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", failed)) {
    const std::string name = entry.path().filename().string();
    const bool is_gpu = name.size() > 6 && name.rfind("nvidia", 0) == 0 &&
                        std::all_of(name.begin() + 6, name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (is_gpu) ++count;
  }
  return count;
}

}  // namespace

logic::Environment process_environment() {
  return [](std::string_view name) -> std::optional<std::string> {
    const char* value = std::getenv(std::string(name).c_str());
    if (!value) return std::nullopt;
    return std::string(value);
  };
}

int cpu_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());  // more than 1024 CPUs
}

int gpu_count() {
  const auto given = logic::gpus_in_environment(process_environment());
  return given ? *given : gpu_device_files();
}

logic::Result<int> free_port() {
  const sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (!socket || ::bind(socket.get(), generic, size) != 0 || ::getsockname(socket.get(), generic, &size) != 0) {
    return logic::retry_error(std::string("cannot find a free port: ") + std::strerror(errno));
  }
  return ntohs(address.sin_port);
}

logic::Result<std::string> make_log_directory(const std::string& log_dir, const std::string& run_id) {
  if (auto made = sys::make_directories(log_dir); !made) return made.error();
  std::string name = run_id;
  std::replace(name.begin(), name.end(), '/', '_');
  std::string pattern = log_dir + "/" + name + "_XXXXXX";
  if (!::mkdtemp(pattern.data())) {
    return logic::reject_error("cannot make a folder in " + log_dir + ": " + std::strerror(errno));
  }
  std::string attempt = pattern + "/attempt_0";
  if (auto made = sys::make_directories(attempt); !made) return made.error();
  return attempt;
}

}  // namespace muster::runner
