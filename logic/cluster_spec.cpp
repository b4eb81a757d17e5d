// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/cluster_spec.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "logic/field_reader.hpp"

namespace muster::logic {
namespace {

constexpr std::int64_t max_count = 6758;   // HyperPod's limit of InstanceCount (API model)
constexpr std::int64_t max_slots = 65536;  // Slurm's hard cap of MaxNodeCount (node_conf.c)

bool is_token(std::string_view text) {
  return !text.empty() && text.size() <= 63 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

std::optional<GresWant> read_gres_want(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  GresWant want;
  want.name = parts.front();
  if (parts.size() == 3) want.type = parts[1];
  const std::string& number = parts.back();
  const auto [rest, error] = std::from_chars(number.data(), number.data() + number.size(), want.count);
  if (error != std::errc{} || rest != number.data() + number.size() || want.count < 1 || want.count > 1024)
    return std::nullopt;
  if (!is_token(want.name) || (parts.size() == 3 && !is_token(want.type))) return std::nullopt;
  return want;
}

void read_provider(const std::string& name, const Value& value, const std::string& base_directory, ClusterSpec& spec,
                   Problems& problems) {
  const std::string title = "provider " + name;
  if (!value.is_map()) {
    problems.add(value.place, title + ": expected a map, found " + describe(value));
    return;
  }
  FieldReader reader(value, title, problems);
  ProviderSpec provider;
  provider.name = name;
  provider.place = value.place;
  if (const std::string type = reader.required_text("type"); !type.empty() && type != "exec") {
    problems.add(reader.place_of("type"), title + ": type: expected exec, found \"" + type + "\"");
  }
  provider.program = reader.required_text("program");
  provider.program_place = reader.place_of("program");
  if (!provider.program.empty() && provider.program.front() != '/') {
    provider.program = base_directory + "/" + provider.program;
  }
  provider.arguments = reader.texts("arguments");
  provider.list_lag = reader.duration("list_lag", provider.list_lag);
  provider.call_timeout = reader.duration("call_timeout", provider.call_timeout);
  provider.list_interval = reader.duration("list_interval", provider.list_interval);
  if (provider.call_timeout < std::chrono::seconds{1}) {
    problems.add(reader.place_of("call_timeout"), title + ": call_timeout: expected 1 s or more");
  }
  if (provider.list_interval < std::chrono::seconds{1}) {
    problems.add(reader.place_of("list_interval"), title + ": list_interval: expected 1 s or more");
  }
  reader.finish();
  spec.providers.emplace(name, std::move(provider));
}

void read_node(const Value& value, const std::string& title, GroupSpec& group, Problems& problems) {
  FieldReader reader(value, title + ": node", problems);
  group.cpus = static_cast<int>(reader.required_count("cpus", 1, 65535));
  group.memory_mib = reader.size_mib("memory", std::nullopt);
  for (const std::string& text : reader.texts("gres")) {
    if (const auto want = read_gres_want(text)) {
      group.gres.push_back(*want);
    } else {
      problems.add(reader.place_of("gres"),
                   title + ": node: gres: expected NAME:COUNT or NAME:TYPE:COUNT, found \"" + text + "\"");
    }
  }
  group.features = reader.texts("features");
  for (const std::string& feature : group.features) {
    if (!is_token(feature)) {
      problems.add(
          reader.place_of("features"),
          title + ": node: features: expected letters, digits, \"-\", \"_\" or \".\", found \"" + feature + "\"");
    }
  }
  reader.finish();
}

void read_group(const Value& value, std::size_t index, ClusterSpec& spec, Problems& problems) {
  std::string title = "instance_groups[" + std::to_string(index) + "]";
  if (!value.is_map()) {
    problems.add(value.place, title + ": expected a map, found " + describe(value));
    return;
  }
  if (const std::string name = value.text_or("name"); !name.empty()) title = "group " + name;
  FieldReader reader(value, title, problems);
  GroupSpec group;
  group.place = value.place;
  group.name = GroupName{reader.required_text("name")};
  if (!group.name.empty() && !is_plain_name(group.name.str())) {
    problems.add(
        reader.place_of("name"),
        title + ": name: expected 1 to 63 letters, digits and inner hyphens, found \"" + group.name.str() + "\"");
  }
  group.partition = PartitionName{reader.required_text("partition")};
  group.partition_place = reader.place_of("partition");
  if (!group.partition.empty() && !is_token(group.partition.str())) {
    problems.add(group.partition_place,
                 title + ": partition: expected the name of one partition, found \"" + group.partition.str() + "\"");
  }
  group.target_count = static_cast<int>(reader.required_count("target_count", 0, max_count));
  group.target_place = reader.place_of("target_count");
  group.min_count = static_cast<int>(reader.count("min_count", 0, 0, max_count));
  if (group.min_count > group.target_count) {
    problems.add(reader.place_of("min_count"), title + ": min_count: expected 0 to target_count (" +
                                                   std::to_string(group.target_count) + "), found " +
                                                   std::to_string(group.min_count));
  }
  group.provider = reader.required_text("provider");
  if (!group.provider.empty() && spec.providers.count(group.provider) == 0) {
    std::string known;
    for (const auto& [name, provider] : spec.providers) known += (known.empty() ? "" : ", ") + name;
    problems.add(reader.place_of("provider"),
                 title + ": provider: expected one of providers: (" + known + "), found \"" + group.provider + "\"");
  }
  group.instance_type = reader.text("instance_type", "");
  group.node_prefix = reader.text("node_prefix", group.name.str() + "-");
  group.prefix_place = reader.place_of("node_prefix");
  const char first = group.node_prefix.empty() ? '-' : group.node_prefix.front();
  const bool begins_with_letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
  if (!is_token(group.node_prefix) || !begins_with_letter || group.node_prefix.size() > 55 ||
      group.node_prefix.find('_') != std::string::npos) {
    problems.add(
        group.prefix_place,
        title + ": node_prefix: expected a letter and then letters, digits, \"-\" or \".\" (55 at most), found \"" +
            group.node_prefix + "\"");
  }
  if (const Value* node = reader.map("node", true)) read_node(*node, title, group, problems);
  group.deadline = reader.duration("deadline", group.deadline);
  group.boot_timeout = reader.duration("boot_timeout", group.boot_timeout);
  group.register_timeout = reader.duration("register_timeout", group.register_timeout);
  group.settle_time = reader.duration("settle_time", group.settle_time);
  for (const auto& [key, duration] :
       {std::pair{"deadline", group.deadline}, std::pair{"boot_timeout", group.boot_timeout},
        std::pair{"register_timeout", group.register_timeout}}) {
    if (duration < std::chrono::seconds{1}) {
      problems.add(reader.place_of(key), title + ": " + key + ": expected 1 s or more");
    }
  }
  reader.finish();
  if (const GroupSpec* same = spec.find_group(group.name); same && !group.name.empty()) {
    problems.add(group.place, title + ": name: expected a name used once, found it again (first at line " +
                                  std::to_string(same->place.line) + ")");
    return;
  }
  spec.groups.push_back(std::move(group));
}

void check_node_names(const ClusterSpec& spec, Problems& problems) {
  std::map<NodeName, const GroupSpec*> owners;
  std::size_t slots = 0;
  for (const GroupSpec& group : spec.groups) {
    slots += static_cast<std::size_t>(group.target_count);
    for (int index = 1; index <= group.target_count; ++index) {
      const auto [owner, is_new] = owners.emplace(group.node_name(index), &group);
      if (is_new) continue;
      problems.add(group.prefix_place.line ? group.prefix_place : group.place,
                   "group " + group.name.str() + ": node_prefix \"" + group.node_prefix +
                       "\": expected node names of its own, found " + group.node_name(index).str() + " which group " +
                       owner->second->name.str() + " (line " + std::to_string(owner->second->place.line) +
                       ") also makes");
      break;
    }
  }
  if (slots > static_cast<std::size_t>(max_slots)) {
    problems.add({}, "expected at most " + std::to_string(max_slots) + " nodes in all groups (Slurm's limit), found " +
                         std::to_string(slots));
  }
}

}  // namespace

const GroupSpec* ClusterSpec::find_group(const GroupName& group) const {
  for (const GroupSpec& candidate : groups) {
    if (candidate.name == group) return &candidate;
  }
  return nullptr;
}

const std::vector<KeyInfo>& cluster_file_keys() {
  static const std::vector<KeyInfo> keys{
      {"cluster", "cluster", "text", "required", "name of the cluster; 1 to 63 letters, digits and inner hyphens"},
      {"cluster", "providers", "map", "required", "where machines come from, by name"},
      {"cluster", "instance_groups", "list", "required", "the groups, 1 to 100"},
      {"provider", "type", "text", "required", "exec"},
      {"provider", "program", "path", "required",
       "the program that launches, lists and terminates; relative to this file"},
      {"provider", "arguments", "list", "none", "texts given to the program before the operation"},
      {"provider", "list_lag", "duration", "0 s", "how long a launched machine may be missing from the program's list"},
      {"provider", "call_timeout", "duration", "30 s", "a call that takes longer is killed and counts as transient"},
      {"provider", "list_interval", "duration", "30 s", "how often machines are listed"},
      {"group", "name", "text", "required", "InstanceGroupName"},
      {"group", "partition", "text", "required", "the partition of slurm.conf that the group feeds"},
      {"group", "target_count", "count", "required", "how many nodes are wanted, 0 to 6758"},
      {"group", "min_count", "count", "0", "how many must be ready before any takes jobs, 0 to target_count"},
      {"group", "provider", "text", "required", "one of providers"},
      {"group", "instance_type", "text", "none", "given to the provider as it is"},
      {"group", "node_prefix", "text", "NAME-", "node names are this and a number from 1"},
      {"group", "node", "map", "required", "the shape of a node"},
      {"group", "deadline", "duration", "3 h", "how long the group may gather before it is called late"},
      {"group", "boot_timeout", "duration", "15 min", "from the launch until the node has passed its own checks"},
      {"group", "register_timeout", "duration", "5 min",
       "from slurmd's start until Slurm has the node, responding and in shape"},
      {"group", "settle_time", "duration", "5 s", "how long a node must stay good before it counts as ready"},
      {"node", "cpus", "count", "required", "CPUs of a node"},
      {"node", "memory", "size", "required", "RealMemory of a node"},
      {"node", "gres", "list", "none", "NAME:COUNT or NAME:TYPE:COUNT, as in gpu:h100:8"},
      {"node", "features", "list", "none", "features for sbatch -C; muster_GROUP is added"},
  };
  return keys;
}

Result<ClusterSpec> parse_cluster_spec(const Value& document, const std::string& file_name,
                                       const std::string& base_directory) {
  Problems problems(file_name);
  ClusterSpec spec;
  spec.file_name = file_name;
  if (!document.is_map()) {
    problems.add(document.place,
                 "expected a map with cluster, providers and instance_groups, found " + describe(document));
    return problems.error();
  }
  FieldReader reader(document, "cluster file", problems);
  spec.name = reader.required_text("cluster");
  if (!spec.name.empty() && !is_plain_name(spec.name)) {
    problems.add(reader.place_of("cluster"),
                 "cluster: expected 1 to 63 letters, digits and inner hyphens, found \"" + spec.name + "\"");
  }
  if (const Value* providers = reader.map("providers", true)) {
    for (const auto& [name, value] : providers->members()) read_provider(name, value, base_directory, spec, problems);
  }
  if (const Value* groups = reader.list("instance_groups", true)) {
    const Value::List& items = groups->items();
    if (items.empty() || items.size() > 100) {
      problems.add(groups->place, "instance_groups: expected 1 to 100 groups, found " + std::to_string(items.size()));
    }
    for (std::size_t index = 0; index < items.size() && index < 100; ++index) {
      read_group(items[index], index, spec, problems);
    }
  }
  reader.finish();
  check_node_names(spec, problems);
  if (!problems.empty()) return problems.error();
  return spec;
}

std::string gres_text(const std::vector<GresWant>& gres) {
  std::string text;
  for (const GresWant& want : gres) {
    if (!text.empty()) text += ',';
    text += want.name + ":" + (want.type.empty() ? "" : want.type + ":") + std::to_string(want.count);
  }
  return text;
}

std::string feature_text(const GroupSpec& group) {
  std::string text;
  for (const std::string& feature : group.features) text += feature + ",";
  return text + group.group_feature();
}

std::string node_conf(const GroupSpec& group) {
  std::string line = "CPUs=" + std::to_string(group.cpus) + " RealMemory=" + std::to_string(group.memory_mib);
  if (!group.gres.empty()) line += " Gres=" + gres_text(group.gres);
  return line + " Feature=" + feature_text(group);
}

std::string slurm_conf_lines(const ClusterSpec& spec) {
  std::size_t slots = 0;
  std::set<std::string> gres_types;
  std::map<PartitionName, std::string> partitions;
  std::string node_sets;
  for (const GroupSpec& group : spec.groups) {
    slots += static_cast<std::size_t>(group.target_count);
    for (const GresWant& want : group.gres) gres_types.insert(want.name);
    node_sets += "NodeSet=" + group.group_feature() + " Feature=" + group.group_feature() + "\n";
    std::string& sets = partitions[group.partition];
    sets += (sets.empty() ? "" : ",") + group.group_feature();
  }
  std::string text =
      "# For cluster " + spec.name + ". Partitions take nodes by NodeSet: never name dynamic nodes here.\n";
  text += "# MaxNodeCount counts the nodes of this file too: add yours, and room to grow.\n";
  text += "MaxNodeCount=" + std::to_string(slots) + "\n";
  if (!gres_types.empty()) {
    text += "GresTypes=";
    for (const std::string& type : gres_types) text += (type == *gres_types.begin() ? "" : ",") + type;
    text += "\n";
  }
  text += "SelectType=select/cons_tres\nReturnToService=2\nSlurmctldParameters=enable_configless\nTreeWidth=65533\n";
  text += "JobSubmitPlugins=muster\n";
  text += node_sets;
  for (const auto& [partition, sets] : partitions) {
    text += "PartitionName=" + partition.str() + " Nodes=" + sets + " State=UP\n";
  }
  return text;
}

}  // namespace muster::logic
