// SPDX-License-Identifier: GPL-2.0-or-later
#include "noded/machine.hpp"

#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "sys/files.hpp"

namespace muster::noded {
namespace {

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// An id goes into requests, log lines and the ledger.
bool is_instance_id(const std::string& text) {
  return !text.empty() && text.size() <= 128 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~' && c != '"' && c != '\\'; });
}

logic::Result<std::string> ask_source(const NodeConfig& config, IdentitySource source) {
  if (source == IdentitySource::hostname) {
    const std::string name = host_name();
    if (is_instance_id(name) && name != "localhost" && name != "(none)") return name;
    return logic::retry_error("the host name is \"" + name + "\"");
  }
  const auto content = sys::read_file(config.identity_file, 4096);
  if (!content) return content.error();
  const std::string id = trimmed(*content);
  if (is_instance_id(id)) return id;
  return logic::retry_error(config.identity_file + " does not hold one word of at most 128 printable characters");
}

int count_files(const std::string& pattern) {
  glob_t found{};
  const int failed = glob(pattern.c_str(), 0, nullptr, &found);
  int count = 0;
  for (std::size_t i = 0; failed == 0 && i < found.gl_pathc; ++i) {
    struct stat info {};
    // A link whose target is not there yet is no device, and neither is a directory.
    if (stat(found.gl_pathv[i], &info) == 0 && !S_ISDIR(info.st_mode)) ++count;
  }
  globfree(&found);
  return count;
}

std::string program_problem(const std::string& program) {
  struct stat info {};
  if (stat(program.c_str(), &info) != 0) return program + ": " + std::strerror(errno);
  if (!S_ISREG(info.st_mode)) return program + ": not a file";
  if (access(program.c_str(), X_OK) != 0) return program + ": " + std::strerror(errno);
  return {};
}

}  // namespace

logic::Result<std::string> find_instance_id(const NodeConfig& config) {
  std::string problems;
  for (const IdentitySource source : config.identity_sources) {
    auto id = ask_source(config, source);
    if (id) return id;
    if (!problems.empty()) problems += "; ";
    problems += id.error().message;
  }
  return logic::retry_error("no instance id: " + problems);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

std::string boot_id() {
  const auto content = sys::read_file("/proc/sys/kernel/random/boot_id", 256);
  return content ? trimmed(*content) : std::string{};
}

logic::MachineFacts look_at_machine(const NodeConfig& config, const logic::Assignment& wanted) {
  logic::MachineFacts facts;
  facts.host_name = host_name();
  // The same two that slurmd asks, so that what passes here does not fail there.
  facts.cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  facts.memory_mib = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / (1 << 20);
  facts.slurmd_program = config.slurmd_program;
  facts.slurmd_problem = program_problem(config.slurmd_program);
  for (const auto& [gres, pattern] : config.device_patterns) {
    const bool is_wanted = std::any_of(wanted.gres.begin(), wanted.gres.end(),
                                       [&name = gres](const logic::GresWant& want) { return want.name == name; });
    if (!is_wanted) continue;
    const int count = count_files(pattern);
    facts.devices.push_back({gres, pattern, count, count});
  }
  return facts;
}

void count_devices_again(logic::MachineFacts& facts) {
  for (logic::DeviceCount& device : facts.devices) device.second = count_files(device.pattern);
}

}  // namespace muster::noded
