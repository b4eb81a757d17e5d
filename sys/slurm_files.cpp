// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/slurm_files.hpp"

#include <glob.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "logic/elf_symbol.hpp"
#include "logic/text_parts.hpp"
#include "sys/files.hpp"

namespace muster::sys {

namespace {

constexpr std::size_t largest_module = 64u << 20;
constexpr int deepest_include = 8;

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

logic::PluginFile look_into(const std::string& path) {
  logic::PluginFile file;
  file.path = path;
  const auto object = read_file(path, largest_module);
  if (!object) {
    file.trouble = object.error().message;
    return file;
  }
  const auto number = logic::exported_number(*object, "plugin_version");
  if (number)
    file.number = *number;
  else
    file.trouble = number.error().message;
  return file;
}

std::vector<std::string> matches(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t index = 0; index < found.gl_pathc; ++index) paths.emplace_back(found.gl_pathv[index]);
  }
  ::globfree(&found);
  return paths;
}

bool names_module(const std::string& path, const std::string& file_name) {
  return path.substr(path.rfind('/') + 1) == file_name;
}

/// true once the module's line was found.
bool search_plugstack(const std::string& path, const std::string& file_name, int depth, logic::SpankFacts& facts) {
  const auto text = read_file(path);
  if (!text) {
    if (depth == 0) facts.trouble = text.error().message;
    return false;
  }
  for (const logic::PlugstackLine& line : logic::read_plugstack(*text)) {
    if (line.is_include) {
      if (depth == deepest_include) continue;
      const std::string pattern = line.path.front() == '/' ? line.path : directory_of(path) + line.path;
      for (const std::string& more : matches(pattern)) {
        if (search_plugstack(more, file_name, depth + 1, facts)) return true;
      }
    } else if (names_module(line.path, file_name)) {
      facts.is_listed = true;
      facts.is_required = line.is_required;
      facts.listed_as = line.path;
      return true;
    }
  }
  return false;
}

}  // namespace

std::string find_slurm_conf() {
  if (const char* path = std::getenv("SLURM_CONF"); path != nullptr && *path == '/') return path;
  for (const char* path : {"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf", "/etc/slurm-llnl/slurm.conf",
                           "/usr/local/etc/slurm.conf", "/opt/slurm/etc/slurm.conf"}) {
    if (::access(path, F_OK) == 0) return path;
  }
  return {};
}

logic::Result<logic::SlurmConfFile> load_slurm_conf(const std::string& path, const std::string& left_out) {
  const auto text = read_file(path);
  if (!text) return text.error();
  bool has_left_out = false;
  auto file = logic::read_slurm_conf(*text, path, [&](const std::string& included) -> logic::Result<std::string> {
    std::error_code failed;
    if (included != left_out && !std::filesystem::equivalent(included, left_out, failed)) return read_file(included);
    has_left_out = true;
    return std::string();
  });
  if (file) file->has_left_out = has_left_out;
  return file;
}

std::string slurmctld_program() {
  std::error_code failed;
  for (std::filesystem::directory_iterator entry("/proc", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const auto name = read_file(entry->path().string() + "/comm", 64);
    if (!name || *name != "slurmctld\n") continue;
    std::error_code hidden;
    std::string program = std::filesystem::read_symlink(entry->path() / "exe", hidden).string();
    if (hidden) continue;
    // The file was replaced since: what stands at its place now is what will be started next.
    constexpr std::string_view gone = " (deleted)";
    if (program.size() > gone.size() && program.substr(program.size() - gone.size()) == gone)
      program.resize(program.size() - gone.size());
    return program;
  }
  return "slurmctld";
}

std::optional<std::set<logic::NodeName>> load_topology(const std::string& slurm_conf) {
  const auto text = read_file(directory_of(slurm_conf) + "topology.conf");
  if (!text) return std::nullopt;
  return logic::read_topology_conf(*text);
}

logic::PluginFile find_plugin(const std::string& plugin_dir, const std::string& file_name) {
  for (const std::string_view folder : logic::split_text(plugin_dir, ":")) {
    const std::string path = std::string(folder) + "/" + file_name;
    if (::access(path.c_str(), F_OK) == 0) return look_into(path);
  }
  return {};
}

logic::JobSubmitFacts find_job_submit(const logic::SlurmFacts& slurm, const std::string& plugin_dir,
                                      std::optional<logic::SlurmVersion> installed) {
  logic::JobSubmitFacts facts;
  facts.job_submit_plugins = slurm.job_submit_plugins;
  facts.plugin_dir = plugin_dir;
  facts.file = find_plugin(plugin_dir, "job_submit_muster.so");
  facts.running = logic::find_slurm_version(slurm.version);
  facts.installed = installed;
  return facts;
}

logic::SpankFacts find_spank_plugin(const std::string& plugstack, const std::string& plugin_dir,
                                    const std::string& file_name) {
  logic::SpankFacts facts;
  facts.plugstack = plugstack;
  if (!search_plugstack(plugstack, file_name, 0, facts)) return facts;
  if (facts.listed_as.front() != '/')
    facts.file = find_plugin(plugin_dir, facts.listed_as);
  else if (::access(facts.listed_as.c_str(), F_OK) == 0)
    facts.file = look_into(facts.listed_as);
  return facts;
}

}  // namespace muster::sys
