// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/slurm_conf_file.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

#include "logic/hostlist.hpp"
#include "logic/text_parts.hpp"

namespace muster::logic {

namespace {

constexpr int deepest_include = 8;

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

/// One line: its keys in lower case with their values, in the order of the line.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// "#" begins a comment unless a backslash stands before it.
std::string_view without_comment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || line[at - 1] != '\\') return line.substr(0, at);
  }
  return line;
}

Settings settings_of(std::string_view line) {
  Settings settings;
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  std::size_t at = 0;
  while (at < line.size()) {
    while (at < line.size() && blank(line[at])) ++at;
    const std::size_t equals = line.find('=', at);
    if (equals == std::string_view::npos) break;
    std::string key = lower(line.substr(at, equals - at));
    while (!key.empty() && blank(key.back())) key.pop_back();
    at = equals + 1;
    while (at < line.size() && blank(line[at])) ++at;
    std::string value;
    if (at < line.size() && (line[at] == '"' || line[at] == '\'')) {
      const std::size_t end = std::min(line.find(line[at], at + 1), line.size());
      value = line.substr(at + 1, end - at - 1);
      at = end + 1;
    } else {
      const std::size_t start = at;
      while (at < line.size() && !blank(line[at])) ++at;
      value = line.substr(start, at - start);
    }
    settings.emplace_back(std::move(key), std::move(value));
  }
  return settings;
}

/// The logical lines of a text: comments gone, continued ones joined, empty ones left out.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::string pending;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = without_comment(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.remove_suffix(1);
    const bool goes_on = !line.empty() && line.back() == '\\';
    if (goes_on) line.remove_suffix(1);
    pending += line;
    if (goes_on) continue;
    if (pending.find_first_not_of(" \t\r") != std::string::npos) lines.push_back(pending);
    pending.clear();
  }
  if (pending.find_first_not_of(" \t\r") != std::string::npos) lines.push_back(pending);
  return lines;
}

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

Status gather_lines(std::string_view text, const std::string& path, const FileReader& read_more, int depth,
                    std::vector<Settings>& all) {
  if (depth > deepest_include) return reject_error(path + ": files include each other too deeply");
  for (const std::string& line : lines_of(text)) {
    const auto words = split_text(line, " \t\r");
    if (!words.empty() && lower(words.front()) == "include") {
      if (words.size() < 2) continue;
      std::string included(words[1]);
      if (included.front() != '/') included.insert(0, directory_of(path));
      const auto more = read_more(included);
      if (!more) return reject_error(path + ": Include: " + more.error().message);
      if (const Status read = gather_lines(*more, included, read_more, depth + 1, all); !read) return read;
      continue;
    }
    if (Settings settings = settings_of(line); !settings.empty()) all.push_back(std::move(settings));
  }
  return Done{};
}

const std::string* find_setting(const Settings& settings, std::string_view key) {
  for (const auto& [name, value] : settings) {
    if (name == key) return &value;
  }
  return nullptr;
}

bool says_yes(const std::string& value) {
  const std::string word = lower(value);
  return word == "yes" || word == "up" || word == "true" || word == "1";
}

/// Seconds; nothing for "INFINITE" and -1.
std::optional<int> seconds_of(const std::string& value) {
  const auto number = whole_number(value);
  return number && *number >= 0 ? number : std::nullopt;
}

std::vector<std::string> list_of(std::string_view value) {
  std::vector<std::string> items;
  for (const std::string_view item : split_text(value, ", ")) items.emplace_back(item);
  return items;
}

SlurmFacts::Partition partition_of(const Settings& settings, const Settings& defaults) {
  const auto value = [&](std::string_view key) -> std::string {
    if (const std::string* own = find_setting(settings, key)) return *own;
    const std::string* inherited = find_setting(defaults, key);
    return inherited ? *inherited : std::string();
  };
  SlurmFacts::Partition partition;
  partition.name = PartitionName{settings.front().second};
  partition.nodes_spec = value("nodes");
  partition.is_default = says_yes(value("default"));
  partition.state = value("state").empty() ? "UP" : value("state");
  std::transform(partition.state.begin(), partition.state.end(), partition.state.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  if (const std::string time = value("suspendtime"); !time.empty()) {
    partition.suspend_time = seconds_of(time);
    partition.is_never_suspended = !partition.suspend_time;
  }
  return partition;
}

/// Slurm's own defaults, the same in 22.05, 24.11 and 26.05 as far as they are read here.
SlurmFacts default_facts() {
  SlurmFacts facts;
  facts.enforce_part_limits = "NO";
  facts.slurmctld_timeout = 120;
  facts.slurmd_timeout = 300;
  facts.auth_type = "auth/munge";
  return facts;
}

std::string upper_enforcement(const std::string& value) {
  const std::string word = lower(value);
  if (word == "any") return "ANY";
  return word == "all" || word == "yes" ? "ALL" : "NO";
}

using Setter = void (*)(SlurmFacts&, const std::string&);

const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> table{
      {"clustername", [](SlurmFacts& facts, const std::string& value) { facts.cluster_name = value; }},
      {"maxnodecount",
       [](SlurmFacts& facts, const std::string& value) { facts.max_node_count = whole_number(value).value_or(0); }},
      {"slurmctldhost",
       [](SlurmFacts& facts, const std::string& value) {
         facts.controller_hosts.push_back(value.substr(0, value.find('(')));
       }},
      {"slurmctldport",
       [](SlurmFacts& facts, const std::string& value) {
         facts.controller_port = whole_number(value.substr(0, value.find('-'))).value_or(facts.controller_port);
       }},
      {"returntoservice",
       [](SlurmFacts& facts, const std::string& value) { facts.return_to_service = whole_number(value).value_or(0); }},
      {"jobsubmitplugins", [](SlurmFacts& facts, const std::string& value) { facts.job_submit_plugins = value; }},
      {"grestypes", [](SlurmFacts& facts, const std::string& value) { facts.gres_types = value; }},
      {"plugindir", [](SlurmFacts& facts, const std::string& value) { facts.plugin_dir = value; }},
      {"plugstackconfig", [](SlurmFacts& facts, const std::string& value) { facts.plugstack = value; }},
      {"slurmctldparameters", [](SlurmFacts& facts, const std::string& value) { facts.slurmctld_parameters = value; }},
      {"schedulerparameters", [](SlurmFacts& facts, const std::string& value) { facts.scheduler_parameters = value; }},
      {"selecttype", [](SlurmFacts& facts, const std::string& value) { facts.select_type = value; }},
      {"authtype", [](SlurmFacts& facts, const std::string& value) { facts.auth_type = value; }},
      {"topologyplugin", [](SlurmFacts& facts, const std::string& value) { facts.topology_plugin = value; }},
      {"topologyparam", [](SlurmFacts& facts, const std::string& value) { facts.topology_param = value; }},
      {"suspendprogram", [](SlurmFacts& facts, const std::string& value) { facts.suspend_program = value; }},
      {"suspendtime", [](SlurmFacts& facts, const std::string& value) { facts.suspend_time = seconds_of(value); }},
      {"suspendexcnodes", [](SlurmFacts& facts, const std::string& value) { facts.suspend_exc_nodes = value; }},
      {"suspendexcparts", [](SlurmFacts& facts, const std::string& value) { facts.suspend_exc_parts = value; }},
      {"suspendexcstates", [](SlurmFacts& facts, const std::string& value) { facts.suspend_exc_states = value; }},
      {"reconfigflags", [](SlurmFacts& facts, const std::string& value) { facts.reconfig_flags = list_of(value); }},
      {"enforcepartlimits",
       [](SlurmFacts& facts, const std::string& value) { facts.enforce_part_limits = upper_enforcement(value); }},
      {"slurmctldtimeout",
       [](SlurmFacts& facts, const std::string& value) { facts.slurmctld_timeout = whole_number(value); }},
      {"slurmdtimeout",
       [](SlurmFacts& facts, const std::string& value) { facts.slurmd_timeout = whole_number(value); }},
      {"treewidth", [](SlurmFacts& facts, const std::string& value) { facts.tree_width = whole_number(value); }},
  };
  return table;
}

void add_names(std::set<NodeName>& nodes, std::string_view list) {
  const auto names = expand_names(list);
  if (!names) return;
  for (const std::string& name : *names) nodes.emplace(name);
}

}  // namespace

Result<SlurmConfFile> read_slurm_conf(std::string_view text, const std::string& path, const FileReader& read_more) {
  std::vector<Settings> lines;
  if (const Status read = gather_lines(text, path, read_more, 0, lines); !read) return read.error();
  SlurmConfFile file;
  file.path = path;
  file.facts = default_facts();
  file.facts.slurm_conf = path;
  file.facts.plugstack = directory_of(path) + "plugstack.conf";
  Settings partition_defaults;
  for (const Settings& line : lines) {
    const auto& [key, value] = line.front();
    const bool is_default = lower(value) == "default";
    if (key == "partitionname") {
      if (is_default)
        partition_defaults = line;
      else
        file.facts.partitions.push_back(partition_of(line, partition_defaults));
    } else if (key == "nodename") {
      if (!is_default) add_names(file.nodes, value);
    } else if (key == "nodeset") {
      file.facts.node_sets.push_back(value);
    } else {
      for (const auto& [name, setting] : line) {
        const auto found = setters().find(name);
        if (found != setters().end()) found->second(file.facts, setting);
      }
    }
  }
  // Slurm's default: room for those that have a line, and for no other.
  file.says_max_node_count = file.facts.max_node_count > 0;
  if (!file.says_max_node_count) file.facts.max_node_count = static_cast<int>(file.nodes.size());
  return file;
}

std::set<NodeName> read_topology_conf(std::string_view text) {
  std::set<NodeName> nodes;
  for (const std::string& line : lines_of(text)) {
    if (const Settings settings = settings_of(line); const std::string* list = find_setting(settings, "nodes"))
      add_names(nodes, *list);
  }
  return nodes;
}

std::vector<PlugstackLine> read_plugstack(std::string_view text) {
  std::vector<PlugstackLine> lines;
  for (const std::string& line : lines_of(text)) {
    const auto words = split_text(line, " \t\r");
    if (words.size() < 2) continue;
    const std::string kind = lower(words.front());
    if (kind != "include" && kind != "required" && kind != "optional") continue;
    lines.push_back({kind == "include", kind == "required", std::string(words[1])});
  }
  return lines;
}

}  // namespace muster::logic
