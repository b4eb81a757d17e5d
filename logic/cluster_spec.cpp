// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/cluster_spec.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "logic/field_reader.hpp"
#include "logic/hostlist.hpp"
#include "logic/node_messages.hpp"

namespace muster::logic {
namespace {

constexpr std::int64_t max_count = 6758;  // HyperPod's limit of InstanceCount (API model)

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
  provider.max_launches = static_cast<int>(reader.count("max_launches", provider.max_launches, 1, 256));
  provider.idempotent_launch = reader.flag("idempotent_launch", provider.idempotent_launch);
  if (!provider.idempotent_launch && provider.list_lag.count() == 0 && !reader.has("list_lag")) {
    problems.add(reader.place_of("idempotent_launch"),
                 title +
                     ": list_lag: expected how long a launched machine may be missing from list, since "
                     "idempotent_launch is false, found nothing");
  }
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

void read_node_type(FieldReader& reader, const std::string& title, GroupSpec& group, Problems& problems) {
  group.node_type = reader.choice<NodeType>(
      "node_type", group.node_type,
      {{"compute", NodeType::compute}, {"login", NodeType::login}, {"controller", NodeType::controller}});
  group.partition_place = reader.place_of("partition");
  if (group.joins_slurm()) {
    group.partition = PartitionName{reader.required_text("partition")};
    return;
  }
  if (const std::string found = reader.text("partition", ""); !found.empty()) {
    problems.add(group.partition_place, title + ": partition: expected none, since " +
                                            std::string(node_type_name(group.node_type)) +
                                            " nodes run no jobs, found \"" + found + "\"");
  }
}

void check_instance_types(const FieldReader& reader, const std::string& title, const GroupSpec& group,
                          Problems& problems) {
  const auto& types = group.instance_types;
  for (auto type = types.begin(); type != types.end(); ++type) {
    if (std::find(types.begin(), type, *type) == type && !type->empty()) continue;
    problems.add(reader.place_of("instance_types"),
                 title + ": instance_types: expected each once and none empty, found \"" + *type + "\"");
  }
}

void read_registration(FieldReader& reader, const std::string& title, GroupSpec& group, Problems& problems) {
  group.registration =
      reader.choice<Registration>("registration", group.registration,
                                  {{"dynamic", Registration::dynamic}, {"slurm_conf", Registration::slurm_conf}});
  group.topology = reader.text("topology", "");
  if (group.topology.find_first_of(" \t\n\"") != std::string::npos) {
    problems.add(reader.place_of("topology"),
                 title + ": topology: expected Slurm's TOPOLOGY:UNIT without blanks, found \"" + group.topology + "\"");
  }
  for (const std::string& text : reader.texts("node_addresses")) {
    auto addresses = expand_names(text);
    if (!addresses) {
      problems.add(reader.place_of("node_addresses"), title + ": node_addresses: " + addresses.error().message);
      continue;
    }
    for (std::string& address : *addresses) {
      // A name would be resolved by slurmctld, which answers nobody meanwhile, and proves nothing about a machine.
      auto& all = group.node_addresses;
      const bool is_new = std::find(all.begin(), all.end(), address) == all.end();
      if (!is_new || !is_numeric_address(address)) {
        problems.add(reader.place_of("node_addresses"),
                     title + ": node_addresses: expected numeric addresses, each once, found \"" + address +
                         (is_new ? "\"" : "\" again"));
      }
      all.push_back(std::move(address));
    }
  }
  const bool in_file = group.registration == Registration::slurm_conf;
  if (in_file && static_cast<int>(group.node_addresses.size()) < group.target_count) {
    problems.add(reader.place_of("registration"),
                 title + ": node_addresses: expected the address of every node (" + std::to_string(group.target_count) +
                     "), since registration is slurm_conf, found " + std::to_string(group.node_addresses.size()));
  }
  if (!in_file && !group.node_addresses.empty()) {
    problems.add(reader.place_of("node_addresses"),
                 title +
                     ": node_addresses: expected none unless registration is slurm_conf; a node's machine tells its "
                     "address");
  }
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
  read_node_type(reader, title, group, problems);
  if (group.joins_slurm() && !group.partition.empty() && !is_token(group.partition.str())) {
    problems.add(group.partition_place,
                 title + ": partition: expected the name of one partition, found \"" + group.partition.str() + "\"");
  }
  group.target_count = static_cast<int>(reader.required_count("target_count", 0, max_count));
  group.target_place = reader.place_of("target_count");
  // HyperPod: 1 for controller and login groups, else 0.
  const int usual_min_count = group.joins_slurm() ? 0 : std::min(1, group.target_count);
  group.min_count = static_cast<int>(reader.count("min_count", usual_min_count, 0, max_count));
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
  group.instance_types = reader.texts("instance_types");
  check_instance_types(reader, title, group, problems);
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
  if (const Value* node = reader.map("node", group.joins_slurm())) read_node(*node, title, group, problems);
  group.deadline = reader.duration("deadline", group.deadline);
  group.boot_timeout = reader.duration("boot_timeout", group.boot_timeout);
  group.register_timeout = reader.duration("register_timeout", group.register_timeout);
  group.settle_time = reader.duration("settle_time", group.settle_time);
  group.drain_timeout = reader.duration("drain_timeout", group.drain_timeout);
  group.prune_after = reader.duration("prune_after", group.prune_after);
  group.max_idle_node_hours = reader.real("max_idle_node_hours", group.max_idle_node_hours, 0, 1e9);
  group.gate =
      reader.choice<GatePolicy>("gate", group.gate, {{"once", GatePolicy::once}, {"floor", GatePolicy::floor}});
  read_registration(reader, title, group, problems);
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

/// Two prefixes overlap if they are the same or one continues the other with digits: "gpu-" and "gpu-1" both make
/// gpu-11. Counts change and names of departed nodes are used again, so it does not matter whether they overlap today.
bool prefixes_overlap(std::string_view a, std::string_view b) {
  const std::string_view& longer = a.size() < b.size() ? b : a;
  const std::string_view& shorter = a.size() < b.size() ? a : b;
  if (longer.substr(0, shorter.size()) != shorter) return false;
  const std::string_view rest = longer.substr(shorter.size());
  return std::all_of(rest.begin(), rest.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void check_node_names(const ClusterSpec& spec, Problems& problems) {
  for (auto group = spec.groups.begin(); group != spec.groups.end(); ++group) {
    const auto other = std::find_if(spec.groups.begin(), group, [&](const GroupSpec& before) {
      return prefixes_overlap(before.node_prefix, group->node_prefix);
    });
    if (other == group) continue;
    problems.add(group->prefix_place.line ? group->prefix_place : group->place,
                 "group " + group->name.str() + ": node_prefix \"" + group->node_prefix +
                     "\": expected node names of its own, found that group " + other->name.str() + " (line " +
                     std::to_string(other->place.line) + ", node_prefix \"" + other->node_prefix +
                     "\") makes the same");
  }
}

}  // namespace

std::string_view node_type_name(NodeType type) {
  switch (type) {
    case NodeType::compute: return "compute";
    case NodeType::login: return "login";
    case NodeType::controller: return "controller";
  }
  return "compute";
}

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
      {"provider", "max_launches", "count", "8", "launch calls at once, per group, 1 to 256"},
      {"provider", "idempotent_launch", "flag", "true",
       "asked again with the same token the program makes no second machine"},
      {"provider", "call_timeout", "duration", "30 s", "a call that takes longer is killed and counts as transient"},
      {"provider", "list_interval", "duration", "30 s", "how often machines are listed"},
      {"group", "name", "text", "required", "InstanceGroupName"},
      {"group", "node_type", "text", "compute", "compute, login or controller"},
      {"group", "partition", "text", "required", "the partition of slurm.conf that the group feeds"},
      {"group", "target_count", "count", "required", "how many nodes are wanted, 0 to 6758"},
      {"group", "min_count", "count", "0", "how many must be ready before any takes jobs, 0 to target_count"},
      {"group", "gate", "text", "once", "once or floor: whether it closes again below min_count"},
      {"group", "provider", "text", "required", "one of providers"},
      {"group", "instance_types", "list", "none", "tried in this order; given to the provider as they are"},
      {"group", "node_prefix", "text", "NAME-", "node names are this and a number from 1"},
      {"group", "node", "map", "required", "the shape of a node"},
      {"group", "deadline", "duration", "3 h", "how long the group may gather before it is rolled back"},
      {"group", "max_idle_node_hours", "number", "none",
       "how much node time may be spent on gathering before it is rolled back"},
      {"group", "boot_timeout", "duration", "15 min", "from the launch until the node has passed its own checks"},
      {"group", "register_timeout", "duration", "5 min",
       "from slurmd's start until Slurm has the node, responding and in shape"},
      {"group", "settle_time", "duration", "5 s", "how long a node must stay good before it counts as ready"},
      {"group", "drain_timeout", "duration", "24 h", "how long a node that is to go may finish its jobs"},
      {"group", "prune_after", "duration", "10 min", "how long the record of a departed node is kept"},
      {"group", "registration", "text", "dynamic", "dynamic or slurm_conf: how nodes come into Slurm"},
      {"group", "node_addresses", "list", "none", "with registration slurm_conf: the addresses of the nodes"},
      {"group", "topology", "text", "none", "Slurm's Topology= of the nodes"},
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
  bool needs_file = false;
  for (const GroupSpec& group : spec.groups) {
    if (!group.joins_slurm()) continue;
    needs_file = needs_file || group.registration == Registration::slurm_conf;
    slots += static_cast<std::size_t>(group.target_count);
    for (const GresWant& want : group.gres) gres_types.insert(want.name);
    node_sets += "NodeSet=" + group.group_feature() + " Feature=" + group.group_feature() + "\n";
    std::string& sets = partitions[group.partition];
    sets += (sets.empty() ? "" : ",") + group.group_feature();
  }
  std::string text =
      "# For cluster " + spec.name + ". Partitions take nodes by NodeSet: never name dynamic nodes here.\n";
  text += "# MaxNodeCount counts the nodes of this file too: add yours, and room to grow.\n";
  // With 0 slurmctld does not start ("no nodes configured").
  text += "MaxNodeCount=" + std::to_string(std::max<std::size_t>(slots, 1)) + "\n";
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
  if (needs_file) {
    text +=
        "# registration: slurm_conf. slurmctld does not start without this file: use the line once musterd has\n"
        "# written it, which it does when the cluster file is applied.\n"
        "# Include muster-nodes.conf\n";
  }
  return text;
}

}  // namespace muster::logic
