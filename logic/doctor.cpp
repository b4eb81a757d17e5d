// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/doctor.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "logic/hostlist.hpp"
#include "logic/plan.hpp"
#include "logic/text_layout.hpp"
#include "logic/text_parts.hpp"

namespace muster::logic {

namespace {

constexpr std::array<std::string_view, 4> verdict_names{"OK", "Unknown", "Warning", "Problem"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string_view verdict_name(Verdict verdict) { return verdict_names[static_cast<std::size_t>(verdict)]; }

Value findings_value(const Findings& findings) {
  Value list = Value::list();
  for (const Finding& finding : findings) {
    list.push(Value::map({{"Check", finding.check},
                          {"Verdict", verdict_name(finding.verdict)},
                          {"Found", finding.found},
                          {"Mend", finding.mend},
                          {"Host", finding.host}}));
  }
  return list;
}

Findings read_findings(const Value& list) {
  Findings findings;
  for (const Value& item : list.items()) {
    const std::string verdict = item.text_or("Verdict");
    const auto found = std::find(verdict_names.begin(), verdict_names.end(), verdict);
    findings.push_back(
        {item.text_or("Check"),
         found == verdict_names.end() ? Verdict::unknown : static_cast<Verdict>(found - verdict_names.begin()),
         item.text_or("Found"), item.text_or("Mend"), item.text_or("Host")});
  }
  return findings;
}

void sort_findings(Findings& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.verdict > b.verdict; });
}

// ---- Versions ----

std::string SlurmVersion::text() const {
  const auto two_digits = [](int number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  return two_digits(major) + "." + two_digits(minor) + "." + std::to_string(micro);
}

std::optional<SlurmVersion> find_slurm_version(std::string_view text) {
  for (const std::string_view word : split_text(text, " \t\r\n")) {
    if (!is_digit(word.front())) continue;
    std::vector<int> numbers;
    for (const std::string_view part : split_text(word, ".")) {
      // "5-0rc1" is micro 5.
      const std::size_t digits = std::min(part.find_first_not_of("0123456789"), part.size());
      const auto number = whole_number(part.substr(0, digits));
      if (!number) break;
      numbers.push_back(*number);
    }
    if (numbers.size() >= 3) return SlurmVersion{numbers[0], numbers[1], numbers[2]};
  }
  return std::nullopt;
}

SlurmVersion slurm_version_of(std::uint32_t number) {
  const auto byte = [&](unsigned shift) { return static_cast<int>((number >> shift) & 0xffU); };
  return {byte(16), byte(8), byte(0)};
}

// ---- Slurm's configuration ----

namespace {

/// What one run of the rules looks at: the running slurmctld's settings, or those of the file.
struct Look {
  const SlurmFacts& slurm;
  const SlurmConfFile* file;  ///< null: the running slurmctld's
  const ConfigurationFacts& all;

  bool has_groups() const { return all.spec != nullptr && !all.spec->groups.empty(); }
  std::optional<SlurmVersion> version() const {
    if (all.installed && file != nullptr) return all.installed;
    return all.running ? find_slurm_version(all.running->version) : all.installed;
  }
};

Finding fine(std::string check, std::string found) { return {std::move(check), Verdict::ok, std::move(found), {}, {}}; }
Finding unknown(std::string check, std::string found, std::string mend) {
  return {std::move(check), Verdict::unknown, std::move(found), std::move(mend), {}};
}
Finding warning(std::string check, std::string found, std::string mend) {
  return {std::move(check), Verdict::warning, std::move(found), std::move(mend), {}};
}
Finding problem(std::string check, std::string found, std::string mend) {
  return {std::move(check), Verdict::problem, std::move(found), std::move(mend), {}};
}

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

bool has_item(std::string_view comma_list, std::string_view wanted) {
  const auto items = split_text(comma_list, ", ");
  return std::find(items.begin(), items.end(), wanted) != items.end();
}

/// All names that muster has made or is to make.
std::set<NodeName> our_names(const ConfigurationFacts& all, const GroupSpec* only = nullptr) {
  std::set<NodeName> names;
  if (all.spec != nullptr) {
    for (const GroupSpec& group : all.spec->groups) {
      if (only != nullptr && &group != only) continue;
      for (int index = 1; index <= group.target_count; ++index) names.insert(group.node_name(index));
    }
  }
  if (all.ledger != nullptr) {
    for (const auto& [name, record] : all.ledger->groups) {
      if (only != nullptr && name != only->name) continue;
      for (const SlotRecord& slot : record.slots) names.insert(slot.name);
    }
  }
  return names;
}

std::string text_of(const std::set<NodeName>& names) {
  return names_text(std::vector<NodeName>(names.begin(), names.end()));
}

Findings check_max_node_count(const Look& look) {
  const int limit = look.slurm.max_node_count;
  const auto is_there = [&](const NodeName& name) {
    if (look.all.nodes != nullptr) return look.all.nodes->count(name) > 0;
    return look.file != nullptr && look.file->nodes.count(name) > 0;
  };
  int present = 0;
  if (look.all.nodes != nullptr)
    present = static_cast<int>(look.all.nodes->size());
  else if (look.file != nullptr && look.all.spec != nullptr)
    present = static_cast<int>(look.file->nodes.size());
  else
    return {unknown("MaxNodeCount", std::to_string(limit) + "; how many nodes are needed is not known",
                    "try again when slurmctld and musterd answer")};
  int to_make = 0;
  for (const NodeName& name : our_names(look.all)) to_make += is_there(name) ? 0 : 1;
  const int needed = present + to_make;
  const std::string room = std::to_string(needed + std::max(8, needed / 4));
  const std::string mend = "set MaxNodeCount=" + room + " or more in slurm.conf and restart slurmctld once";
  const std::string count =
      counted(needed, "node", "nodes") + (to_make > 0 ? " (" + std::to_string(present) + " there, " +
                                                            std::to_string(to_make) + " that muster has still to make)"
                                                      : std::string());
  if (needed > limit) {
    return {problem("MaxNodeCount",
                    std::to_string(limit) + " is too small for " + count + ": the rest of the records cannot be made",
                    mend)};
  }
  if (needed == limit) {
    return {warning("MaxNodeCount",
                    std::to_string(limit) + " has no room beyond " + count +
                        ": no group can grow, no node can be added, without a restart of slurmctld",
                    mend)};
  }
  return {fine("MaxNodeCount", std::to_string(limit) + ", for " + count)};
}

Findings check_return_to_service(const Look& look) {
  const std::string value = std::to_string(look.slurm.return_to_service);
  if (look.slurm.return_to_service == 2) return {fine("ReturnToService", value)};
  return {problem("ReturnToService", value + ": a node that reboots stays DOWN until somebody resumes it",
                  "set ReturnToService=2 in slurm.conf, then scontrol reconfigure")};
}

const SlurmFacts::Partition* find_partition(const SlurmFacts& slurm, const PartitionName& name) {
  const auto found = std::find_if(slurm.partitions.begin(), slurm.partitions.end(),
                                  [&](const SlurmFacts::Partition& partition) { return partition.name == name; });
  return found == slurm.partitions.end() ? nullptr : &*found;
}

/// Names of nodes that come and go, written out where only NodeSets may stand.
std::set<NodeName> explicit_names(const Look& look, const SlurmFacts::Partition& partition) {
  std::set<NodeName> names;
  if (look.file != nullptr) {
    const auto items = expand_names(partition.nodes_spec);
    if (!items) return names;
    const auto& sets = look.slurm.node_sets;
    for (const std::string& item : *items) {
      const bool is_set = item == "ALL" || item == "all" || std::find(sets.begin(), sets.end(), item) != sets.end();
      if (!is_set && look.file->nodes.count(NodeName{item}) == 0) names.insert(NodeName{item});
    }
    return names;
  }
  // slurmctld tells the NodeSets only. Where there is none, it is a list of nodes, or ALL (which 22.05 does not tell).
  if (!partition.nodes_spec.empty() || look.all.nodes == nullptr) return names;
  const auto members = expand_names(partition.nodes);
  if (!members || members->size() >= look.all.nodes->size()) return names;
  const std::set<NodeName> ours = our_names(look.all);
  for (const std::string& member : *members) {
    if (ours.count(NodeName{member}) > 0) names.insert(NodeName{member});
  }
  return names;
}

bool takes_by_name(const SlurmFacts::Partition& partition, const GroupSpec& group) {
  const auto sets = split_text(partition.nodes_spec, ", ");
  return std::any_of(sets.begin(), sets.end(),
                     [&](std::string_view set) { return set == "ALL" || set == group.group_feature(); });
}

/// Nodes of the group that are in Slurm, and those of them that are not in the partition.
struct Membership {
  int there = 0;
  std::set<NodeName> missing;
};
Membership membership(const Look& look, const GroupSpec& group) {
  Membership result;
  if (look.file != nullptr || look.all.nodes == nullptr) return result;
  for (const NodeName& name : our_names(look.all, &group)) {
    const auto found = look.all.nodes->find(name);
    if (found == look.all.nodes->end()) continue;
    ++result.there;
    if (!has_item(found->second.partitions, group.partition.str())) result.missing.insert(name);
  }
  return result;
}

/// Whether the partition has the group's nodes; nothing where that cannot be told.
std::optional<bool> reaches(const Look& look, const SlurmFacts::Partition& partition, const GroupSpec& group) {
  const Membership nodes = membership(look, group);
  if (nodes.there > 0) return nodes.missing.empty();
  if (takes_by_name(partition, group)) return true;
  if (look.file == nullptr && partition.nodes_spec.empty()) return std::nullopt;
  return false;
}

std::string use_slurm_conf_lines(const Look& look) {
  return "put the lines of 'muster slurm-conf " + (look.all.spec ? look.all.spec->file_name : "FILE") +
         "' into slurm.conf, then scontrol reconfigure";
}

Finding check_partition(const Look& look, const SlurmFacts::Partition& partition,
                        const std::vector<const GroupSpec*>& groups) {
  const std::string check = "partition " + partition.name.str();
  if (const auto names = explicit_names(look, partition); !names.empty()) {
    return problem(check,
                   "it lists " + text_of(names) +
                       " by name: slurmctld does not start once a record of these is not there ('Invalid node names "
                       "in partition'), and other nodes never come in",
                   "name a NodeSet in its Nodes= instead: " + use_slurm_conf_lines(look));
  }
  std::vector<std::string> taken;
  for (const GroupSpec* group : groups) {
    const auto reached = reaches(look, partition, *group);
    if (reached && !*reached) {
      const Membership nodes = membership(look, *group);
      const std::string which = nodes.missing.empty() ? "the nodes" : text_of(nodes.missing);
      return problem(check, "it does not take in " + which + " of group " + group->name.str() + ": no job reaches them",
                     "add " + group->group_feature() + " to its Nodes=: " + use_slurm_conf_lines(look));
    }
    taken.push_back(group->name.str());
  }
  return fine(check, "takes in group " + joined(taken));
}

/// Of the running slurmctld alone: a state is set by scontrol, and slurm.conf has no part in it.
Findings check_partition_states(const Look& look) {
  Findings findings;
  if (look.file != nullptr || look.all.spec == nullptr) return findings;
  std::set<PartitionName> names;
  for (const GroupSpec& group : look.all.spec->groups) names.insert(group.partition);
  for (const PartitionName& name : names) {
    const auto* partition = find_partition(look.slurm, name);
    if (partition == nullptr || partition->state == "UP") continue;
    findings.push_back(warning(
        "state of " + name.str(),
        "partition " + name.str() + " is " + partition->state +
            (partition->state == "DOWN" ? ": jobs are accepted, and none starts" : ": jobs are refused, held or not"),
        "scontrol update partitionname=" + name.str() + " state=UP, unless that is wanted"));
  }
  return findings;
}

Findings check_partitions(const Look& look) {
  Findings findings;
  std::map<PartitionName, std::vector<const GroupSpec*>> groups;
  if (look.all.spec != nullptr) {
    for (const GroupSpec& group : look.all.spec->groups) groups[group.partition].push_back(&group);
  }
  for (const auto& [name, wanting] : groups) {
    const auto* partition = find_partition(look.slurm, name);
    if (partition != nullptr) {
      findings.push_back(check_partition(look, *partition, wanting));
      continue;
    }
    findings.push_back(
        problem("partition " + name.str(),
                "group " + wanting.front()->name.str() + " wants it, and slurm.conf has none of that name",
                use_slurm_conf_lines(look)));
  }
  // Another partition that names dynamic nodes stops slurmctld just as well.
  for (const SlurmFacts::Partition& partition : look.slurm.partitions) {
    if (groups.count(partition.name) > 0) continue;
    Finding finding = check_partition(look, partition, {});
    if (finding.verdict == Verdict::problem) findings.push_back(std::move(finding));
  }
  return findings;
}

Findings check_node_sets(const Look& look) {
  if (!look.has_groups()) return {};
  const auto is_set = [&](const std::string& name) {
    return std::find(look.slurm.node_sets.begin(), look.slurm.node_sets.end(), name) != look.slurm.node_sets.end();
  };
  std::vector<std::string> there;
  std::vector<std::string> missing;
  for (const GroupSpec& group : look.all.spec->groups) {
    const std::string name = group.group_feature();
    const auto* partition = find_partition(look.slurm, group.partition);
    const bool has_other_way = partition != nullptr && !has_item(partition->nodes_spec, name) &&
                               reaches(look, *partition, group).value_or(false);
    if (is_set(name))
      there.push_back(name);
    else if (!has_other_way)
      missing.push_back(name);
  }
  for (const NodeName& name : our_names(look.all)) {
    if (!is_set(name.str())) continue;
    return {problem(
        "NodeSet", "a NodeSet is named " + name.str() + " as a node of muster: slurmctld does not start with both",
        "rename the NodeSet in slurm.conf, and where partitions name it, before slurmctld is started again")};
  }
  if (!missing.empty()) {
    return {problem("NodeSet",
                    "slurm.conf has no " + joined(missing) + ", by which a partition takes in a group's nodes",
                    use_slurm_conf_lines(look))};
  }
  return {fine("NodeSet", there.empty() ? "none is needed" : joined(there))};
}

Findings check_gres_types(const Look& look) {
  if (!look.has_groups()) return {};
  std::set<std::string> wanted;
  std::vector<std::string> missing;
  for (const GroupSpec& group : look.all.spec->groups) {
    for (const GresWant& want : group.gres) wanted.insert(want.name);
  }
  for (const std::string& name : wanted) {
    if (!has_item(look.slurm.gres_types, name)) missing.push_back(name);
  }
  if (missing.empty()) return {fine("GresTypes", wanted.empty() ? "none is needed" : look.slurm.gres_types)};
  const std::string line = look.slurm.gres_types + (look.slurm.gres_types.empty() ? "" : ",") + joined(missing);
  return {problem("GresTypes", "it lacks " + joined(missing) + ": the groups' node records cannot be made",
                  "set GresTypes=" + line + " in slurm.conf and restart slurmctld")};
}

Findings check_select_type(const Look& look) {
  const std::string& type = look.slurm.select_type;
  if (type == "select/cons_tres") return {fine("SelectType", type)};
  const std::string mend = "set SelectType=select/cons_tres in slurm.conf and restart slurmctld";
  if (type.empty()) return {unknown("SelectType", "slurm.conf does not say; the default differs by version", mend)};
  return {problem("SelectType", type + ": only select/cons_tres can have nodes that are not in slurm.conf", mend)};
}

Findings check_enforce_part_limits(const Look& look) {
  const std::string& value = look.slurm.enforce_part_limits;
  if (value == "ALL") {
    return {warning("EnforcePartLimits",
                    "ALL: a job that names several partitions is refused if only one of them is too small for it",
                    "set EnforcePartLimits=ANY or NO in slurm.conf, then scontrol reconfigure, unless that is wanted")};
  }
  if (value == "ANY")
    return {fine("EnforcePartLimits", "ANY: a job for more nodes than all targets together is refused, held or not")};
  return {fine("EnforcePartLimits", value)};
}

Findings check_reconfig_flags(const Look& look) {
  const auto& flags = look.slurm.reconfig_flags;
  const bool keeps = std::find(flags.begin(), flags.end(), "KeepPartState") != flags.end() ||
                     std::find(flags.begin(), flags.end(), "KeepPartInfo") != flags.end();
  if (keeps) return {fine("ReconfigFlags", joined(flags) + ": a partition keeps the state that scontrol gave it")};
  std::vector<std::string> closed;
  if (look.all.running && look.all.spec != nullptr) {
    for (const SlurmFacts::Partition& partition : look.all.running->partitions) {
      const auto& groups = look.all.spec->groups;
      const bool is_ours = std::any_of(groups.begin(), groups.end(),
                                       [&](const GroupSpec& group) { return group.partition == partition.name; });
      if (is_ours && partition.state != "UP") closed.push_back(partition.name.str() + " is " + partition.state);
    }
  }
  if (!closed.empty()) {
    return {
        warning("ReconfigFlags",
                "no KeepPartState: partition " + joined(closed) + " only until slurmctld is restarted or reconfigured",
                "set ReconfigFlags=KeepPartState in slurm.conf, then scontrol reconfigure and set the state again")};
  }
  return {fine("ReconfigFlags", "no KeepPartState: a partition state set by scontrol lasts until the next restart")};
}

Findings check_power_saving(const Look& look) {
  const SlurmFacts& slurm = look.slurm;
  if (slurm.suspend_program.empty()) return {fine("SuspendTime", "power saving is off")};
  if (!look.has_groups()) return {};
  std::vector<std::string> partitions;
  for (const GroupSpec& group : look.all.spec->groups) {
    const auto* partition = find_partition(slurm, group.partition);
    if (partition == nullptr || partition->is_never_suspended) continue;
    if (!partition->suspend_time && !slurm.suspend_time) continue;
    if (has_item(slurm.suspend_exc_parts, group.partition.str())) continue;
    if (std::find(partitions.begin(), partitions.end(), group.partition.str()) == partitions.end())
      partitions.push_back(group.partition.str());
  }
  if (partitions.empty()) return {fine("SuspendTime", "power saving is on, and leaves the groups' partitions alone")};
  return {problem("SuspendTime",
                  "SuspendProgram is called for idle nodes of partition " + joined(partitions) +
                      ", drained ones too: Slurm and muster would work against each other",
                  "add SuspendTime=INFINITE to the line of each of these partitions in slurm.conf, then scontrol "
                  "reconfigure")};
}

Findings check_topology(const Look& look) {
  const std::string& plugin = look.slurm.topology_plugin;
  if (plugin.empty() || plugin == "topology/default" || plugin == "topology/none" || plugin == "topology/flat")
    return {fine("TopologyPlugin", plugin.empty() ? "none" : plugin)};
  if (!look.has_groups()) return {};
  const auto version = look.version();
  constexpr int first_that_takes_dynamic_nodes = 2302;
  if (version && version->release() < first_that_takes_dynamic_nodes) {
    return {
        problem("TopologyPlugin",
                plugin + ": Slurm " + version->text() + " never starts a job on a dynamic node with it, listed or not",
                "set TopologyPlugin=topology/none in slurm.conf and restart slurmctld, or use Slurm 24.11 or later")};
  }
  std::set<NodeName> missing = our_names(look.all);
  constexpr int first_with_topology_key = 2505;
  const bool has_key = version && version->release() >= first_with_topology_key;
  std::string key =
      has_key ? "; 'scontrol update nodename=NAME topology=TOPOLOGY:UNIT' moves a node that is there already" : "";
  for (const GroupSpec& group : look.all.spec->groups) {
    if (group.topology.empty()) continue;
    if (has_key) {
      for (const NodeName& name : our_names(look.all, &group)) missing.erase(name);  // made with their Topology=
    } else {
      key += "; Slurm takes group " + group.name.str() + "'s topology: from 25.05 on only";
    }
  }
  if (missing.empty()) return {fine("TopologyPlugin", plugin + ", and the groups say their topology")};
  if (!look.all.topology_nodes) {
    return {unknown("TopologyPlugin",
                    plugin + ": topology.conf could not be read; no job runs on nodes that it does not list",
                    "see that it lists " + text_of(missing) + " (names may be listed before the nodes exist)" + key)};
  }
  for (const NodeName& name : *look.all.topology_nodes) missing.erase(name);
  if (missing.empty()) return {fine("TopologyPlugin", plugin + ", and topology.conf lists the groups' nodes")};
  return {
      problem("TopologyPlugin", plugin + ": topology.conf does not list " + text_of(missing) + ", so no job runs there",
              "add them to a switch or block in topology.conf (before they exist, too) and restart slurmctld" + key)};
}

Findings check_configless(const Look& look) {
  const std::string& server = look.all.conf_server;
  if (server == "none") return {fine("configless", "off: nodes bring a slurm.conf of their own (conf_server: none)")};
  if (server != "auto") return {fine("configless", "nodes get slurm.conf from " + server)};
  if (look.slurm.is_configless()) return {fine("configless", "nodes get slurm.conf from " + look.slurm.conf_server())};
  return {warning("configless",
                  "slurmctld gives nodes no slurm.conf: each needs one of its own, always the same as here",
                  "set SlurmctldParameters=enable_configless in slurm.conf and restart slurmctld; or, where the nodes' "
                  "image has slurm.conf, conf_server: none in musterd.yaml")};
}

Findings check_auth_type(const Look& look) {
  if (look.slurm.auth_type == "auth/munge") return {fine("AuthType", "auth/munge")};
  return {warning("AuthType", look.slurm.auth_type + ": muster itself proves callers by MUNGE",
                  "run munged with one key on the head and on the nodes, or set AuthType=auth/munge")};
}

Findings check_timeouts(const Look& look) {
  Findings findings;
  const int slurmd = look.slurm.slurmd_timeout.value_or(0);
  const std::string set = "set SlurmdTimeout between 30 and 600 in slurm.conf, then scontrol reconfigure";
  if (slurmd == 0)
    findings.push_back(warning("SlurmdTimeout", "0: Slurm never takes a dead node for one", set));
  else if (slurmd < 30)
    findings.push_back(
        warning("SlurmdTimeout", std::to_string(slurmd) + " s: a node that is only busy is soon taken for dead", set));
  else if (slurmd > 600)
    findings.push_back(
        warning("SlurmdTimeout",
                std::to_string(slurmd) + " s: so long do jobs hang on a dead node before Slurm ends them", set));
  else
    findings.push_back(fine("SlurmdTimeout", std::to_string(slurmd) + " s"));

  const int slurmctld = look.slurm.slurmctld_timeout.value_or(0);
  const std::size_t backups = look.slurm.controller_hosts.empty() ? 0 : look.slurm.controller_hosts.size() - 1;
  if (backups > 0 && (slurmctld < 10 || slurmctld > 600)) {
    findings.push_back(warning("SlurmctldTimeout",
                               std::to_string(slurmctld) + " s until a backup slurmctld takes over" +
                                   (slurmctld < 10 ? ": too short for a busy one" : ": nothing is scheduled meanwhile"),
                               "set SlurmctldTimeout between 10 and 600 in slurm.conf, then scontrol reconfigure"));
  } else {
    findings.push_back(fine("SlurmctldTimeout", std::to_string(slurmctld) + " s, " +
                                                    (backups == 0 ? "no backup slurmctld"
                                                                  : counted(static_cast<std::int64_t>(backups),
                                                                            "backup slurmctld", "backup slurmctlds"))));
  }
  return findings;
}

Findings check_tree_width(const Look& look) {
  if (!look.slurm.tree_width) return {};  // not in the file; the default differs by version
  const int width = *look.slurm.tree_width;
  const auto ours = our_names(look.all).size();
  if (static_cast<std::size_t>(width) >= ours) return {fine("TreeWidth", std::to_string(width))};
  return {warning("TreeWidth",
                  std::to_string(width) + " for " + std::to_string(ours) +
                      " nodes: messages are passed on by nodes, which then must know each other's addresses",
                  "set TreeWidth=65533 in slurm.conf, then scontrol reconfigure")};
}

Findings check_versions(const Look& look) {
  if (look.file != nullptr) return {};
  Findings findings;
  const auto slurmctld = find_slurm_version(look.slurm.version);
  const auto helper = find_slurm_version(look.slurm.helper_version);
  if (!slurmctld) return {unknown("Slurm version", "slurmctld does not tell its version", "")};
  if (helper) {
    const std::string both = "slurmctld is " + slurmctld->text() + ", muster-slurm was built for " + helper->text();
    if (helper->release() == slurmctld->release())
      findings.push_back(fine("Slurm version", both));
    else if (helper->release() < slurmctld->release())
      findings.push_back(warning("Slurm version", both + ", which Slurm supports for a few releases only",
                                 "build and install muster against Slurm " + slurmctld->text()));
    else
      findings.push_back(problem("Slurm version", both + ": a newer library does not speak with an older slurmctld",
                                 "build and install muster against Slurm " + slurmctld->text()));
  }
  if (look.all.installed && !(*look.all.installed == *slurmctld)) {
    findings.push_back(
        warning("slurmctld program",
                "slurmctld on disk is " + look.all.installed->text() + ", the running one is " + slurmctld->text(),
                "restart slurmctld, after its plugins fit (see job_submit/muster)"));
  }
  if (look.all.nodes == nullptr) return findings;
  std::map<std::string, std::set<NodeName>> newer;
  for (const auto& [name, node] : *look.all.nodes) {
    const auto slurmd = find_slurm_version(node.version);
    if (slurmd && slurmd->release() > slurmctld->release()) newer[slurmd->text()].insert(name);
  }
  for (const auto& [version, names] : newer) {
    findings.push_back(problem("slurmd version",
                               "slurmd " + version + " on " + text_of(names) + " is newer than slurmctld " +
                                   slurmctld->text() + ": Slurm does not support that",
                               "bring the nodes' image to " + slurmctld->text() + ", or upgrade slurmctld first"));
  }
  return findings;
}

Findings check_slurm_user(const Look& look) {
  const std::int64_t uid = look.all.musterd_uid;
  if (uid < 0 || look.file != nullptr) return {};
  if (uid == 0 || uid == look.slurm.slurm_user_uid)
    return {fine("SlurmUser", uid == 0 ? "musterd runs as root" : "musterd runs as SlurmUser")};
  return {problem("SlurmUser",
                  "musterd runs as uid " + std::to_string(uid) + ", and Slurm lets only root and SlurmUser (uid " +
                      std::to_string(look.slurm.slurm_user_uid) + ") change nodes",
                  "set User= in musterd.service to SlurmUser, give it the state directory, and restart musterd")};
}

Findings run_rules(const Look& look) {
  using Rule = Findings (*)(const Look&);
  constexpr std::array<Rule, 17> rules{
      check_versions,       check_slurm_user,       check_max_node_count,
      check_partitions,     check_partition_states, check_node_sets,
      check_gres_types,     check_select_type,      check_return_to_service,
      check_configless,     check_topology,         check_power_saving,
      check_tree_width,     check_timeouts,         check_enforce_part_limits,
      check_reconfig_flags, check_auth_type,
  };
  Findings all;
  for (const Rule rule : rules) {
    for (Finding& finding : rule(look)) all.push_back(std::move(finding));
  }
  return all;
}

/// What runs, corrected by what the file says already or will do.
Findings merged(Findings running, const Findings& of_file, const std::string& path) {
  const auto same = [](const Findings& findings, const Finding& wanted) {
    return std::find_if(findings.begin(), findings.end(),
                        [&](const Finding& finding) { return finding.check == wanted.check; });
  };
  for (Finding& finding : running) {
    const auto ahead = same(of_file, finding);
    if (ahead == of_file.end() || ahead->verdict == Verdict::unknown) continue;
    if (ahead->verdict > finding.verdict) {
      const std::string now = finding.verdict == Verdict::ok ? "fine now, but " : "";
      finding.verdict = ahead->verdict;
      finding.found = now + path + " says for the next start: " + ahead->found;
      finding.mend = ahead->mend;
    } else if (finding.verdict > Verdict::ok && ahead->verdict == Verdict::ok) {
      finding.mend = path + " is right already: restart slurmctld";
    }
  }
  for (const Finding& ahead : of_file) {
    if (ahead.verdict <= Verdict::unknown || same(running, ahead) != running.end()) continue;
    running.push_back(ahead);
    running.back().found = path + " says for the next start: " + ahead.found;
  }
  return running;
}

}  // namespace

Findings check_configuration(const ConfigurationFacts& facts) {
  Findings of_file;
  if (facts.file) of_file = run_rules({facts.file->facts, &*facts.file, facts});
  if (!facts.running) return of_file;
  return merged(run_rules({*facts.running, nullptr, facts}), of_file, facts.file ? facts.file->path : "");
}

}  // namespace muster::logic
