// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/hold_rule.hpp"

#include <algorithm>

#include "logic/gres.hpp"
#include "logic/text_parts.hpp"

namespace muster::logic {
namespace {

constexpr int largest_min_count = 1'000'000;
constexpr std::string_view comment_key = "min_count=";
constexpr std::string_view where_to_look = "; see 'muster why JOBID'";

int divide_up(int amount, int portion) { return amount / portion + (amount % portion != 0 ? 1 : 0); }

std::string in_nodes(int count) { return std::to_string(count) + (count == 1 ? " node" : " nodes"); }

/// Only plain conjunctions are judged. Anything else ("a|b", "[a|b]", "a*2") could be met by any group, and Slurm
/// itself knows better.
bool features_fit(std::string_view wanted, const std::vector<std::string>& offered) {
  if (wanted.find_first_of("|[]()*!") != std::string_view::npos) { return true; }
  const auto parts = split_text(wanted, "&,");
  return std::all_of(parts.begin(), parts.end(), [&](std::string_view feature) {
    return std::find(offered.begin(), offered.end(), feature) != offered.end();
  });
}

/// A job's gres text has a prefix: "gres:gpu:4" in 22.05, "gres/gpu:4" in later versions, none when a person wrote it.
/// Of other things ("license/x:1") nothing is demanded here.
std::vector<Gres> wanted_gres(std::string_view text) {
  std::vector<Gres> wanted;
  for (auto part : split_text(text, ",;")) {
    constexpr std::string_view prefix = "gres";
    if (part.substr(0, prefix.size()) == prefix) {
      part.remove_prefix(std::min(prefix.size() + 1, part.size()));
    } else if (part.find('/') != std::string_view::npos) {
      continue;
    }
    const auto gres = parse_gres(part);
    if (!gres.name.empty() && gres.name != "none") { wanted.push_back(gres); }
  }
  return wanted;
}

/// The nodes that a job cannot do without, as far as it says so: "-n 64" without -N names no node count at all.
int nodes_needed(const JobRequest& job, int cpus_of_a_node) {
  int needed = std::max(1, job.min_nodes.value_or(1));
  if (job.num_tasks && job.ntasks_per_node.value_or(0) > 0) {
    needed = std::max(needed, divide_up(*job.num_tasks, *job.ntasks_per_node));
  }
  if (job.min_cpus && cpus_of_a_node > 0) { needed = std::max(needed, divide_up(*job.min_cpus, cpus_of_a_node)); }
  return needed;
}

/// What a partition has and will have for one job: its foreign nodes and the groups of ours that fit.
struct Supply {
  std::vector<const GateGroup*> groups;
  int foreign_nodes = 0;
  int open = 0;           ///< usable now, foreign nodes included
  int at_most = 0;        ///< usable when every group has reached its target
  int min_count = 0;      ///< the sum of the groups' MinCounts
  int cpus = 0;           ///< of the largest node: no bound is better than a wrong one
  bool gathering = true;  ///< no group is open and there is no foreign node
};

Supply supply_of(const GateTable& table, const GatePartition& partition, const JobRequest& job) {
  Supply supply;
  supply.foreign_nodes = supply.open = supply.at_most = partition.foreign_nodes;
  supply.gathering = partition.foreign_nodes == 0;
  const auto wanted = wanted_gres(job.gres);
  for (const auto& group : table.groups) {
    if (group.partition != partition.name) { continue; }
    if (!features_fit(job.features, group.features) || !gres_fit(wanted, group.gres)) { continue; }
    supply.groups.push_back(&group);
    supply.at_most += group.target_count;
    supply.min_count += group.min_count;
    supply.cpus = std::max(supply.cpus, group.cpus);
    if (group.open) {
      supply.open += group.open_nodes;
      supply.gathering = false;
    }
  }
  if (partition.foreign_nodes > 0) { supply.cpus = 0; }
  return supply;
}

std::string names_of(const Supply& supply) {
  std::string text = supply.groups.size() == 1 ? "group " : "groups ";
  for (const auto* group : supply.groups) {
    if (group != supply.groups.front()) { text += ", "; }
    text += group->group.str();
  }
  return text;
}

HoldDecision hold_while_gathering(const Supply& supply, int needed) {
  int ready = 0;
  for (const auto* group : supply.groups) { ready += group->ready; }
  return {HoldDecision::Verdict::hold,
          "muster: held until " + names_of(supply) + (supply.groups.size() == 1 ? " opens: " : " open: ") +
              std::to_string(ready) + " of " + in_nodes(supply.min_count) + " ready (MinCount " +
              std::to_string(supply.min_count) + ", target " + std::to_string(supply.at_most) + "), job " +
              in_nodes(needed) + std::string(where_to_look)};
}

HoldDecision hold_for_more(const Supply& supply, int wanted) {
  return {HoldDecision::Verdict::hold, "muster: held until " + in_nodes(wanted) + " of " + names_of(supply) +
                                           (wanted == 1 ? " is" : " are") + " open: " + std::to_string(supply.open) +
                                           " now (target " + std::to_string(supply.at_most) + ")" +
                                           std::string(where_to_look)};
}

HoldDecision refuse(const GatePartition& partition, const Supply& supply, int wanted, bool by_option) {
  return {HoldDecision::Verdict::refuse, "muster: refused: " + std::string(by_option ? "--min-count" : "the job") +
                                             " asks for " + in_nodes(wanted) + ", partition " + partition.name.str() +
                                             " will never have more than " + std::to_string(supply.at_most) +
                                             " that fit (target of " + names_of(supply) + ")"};
}

HoldDecision decide_in_partition(const GateTable& table, const GatePartition& partition, const JobRequest& job) {
  const auto supply = supply_of(table, partition, job);
  // No group of ours fits: whatever Slurm says about such a job is the better answer.
  if (supply.groups.empty()) { return {}; }

  const int needed = nodes_needed(job, supply.cpus);
  int wanted = needed;
  if (job.min_count.kind == MinCountOption::Kind::number) { wanted = std::max(wanted, job.min_count.number); }
  if (job.min_count.kind == MinCountOption::Kind::automatic) { wanted = std::max(wanted, supply.min_count); }

  if (wanted <= supply.open) { return {}; }
  if (wanted > supply.at_most) {
    // Foreign nodes come and go without our knowledge, so only Slurm may refuse there.
    if (supply.foreign_nodes > 0) { return {}; }
    // A MinCount above the target is the operator's contradiction, not the user's.
    if (needed > supply.at_most || job.min_count.kind == MinCountOption::Kind::number) {
      return refuse(partition, supply, wanted, needed <= supply.at_most);
    }
  }
  if (supply.gathering) { return hold_while_gathering(supply, needed); }
  // "none" takes whatever an open group has: Slurm's own queue does the waiting.
  if (job.min_count.kind == MinCountOption::Kind::none) { return {}; }
  return hold_for_more(supply, wanted);
}

}  // namespace

Result<MinCountOption> parse_min_count(std::string_view text) {
  if (text == "auto") { return MinCountOption{MinCountOption::Kind::automatic, 0}; }
  if (text == "none") { return MinCountOption{MinCountOption::Kind::none, 0}; }
  if (const auto number = whole_number(text); number && *number >= 1 && *number <= largest_min_count) {
    return MinCountOption{MinCountOption::Kind::number, *number};
  }
  return reject_error("--min-count: expected a number from 1 to " + std::to_string(largest_min_count) +
                      ", auto or none, got '" + std::string(text.substr(0, 40)) + "'");
}

HoldDecision decide_hold(const GateTable& table, const JobRequest& job, Time now) {
  // A table from the future is as little worth as an old one: somebody's clock is wrong.
  if (now - table.time > gate_table_lifetime || table.time - now > gate_table_lifetime) { return {}; }

  auto names = job.partitions;
  if (names.empty() && !table.default_partition.empty()) { names.push_back(table.default_partition); }
  HoldDecision answer;
  for (const auto& name : names) {
    const auto partition = std::find_if(table.partitions.begin(), table.partitions.end(),
                                        [&](const GatePartition& known) { return known.name == name; });
    if (partition == table.partitions.end()) { return {}; }
    auto decision = decide_in_partition(table, *partition, job);
    if (decision.verdict == HoldDecision::Verdict::admit) { return {}; }
    // Of several answers the most hopeful one counts, and of equal ones the first.
    const bool first = answer.verdict == HoldDecision::Verdict::admit;
    const bool better =
        answer.verdict == HoldDecision::Verdict::refuse && decision.verdict == HoldDecision::Verdict::hold;
    if (first || better) { answer = std::move(decision); }
  }
  return answer;
}

std::vector<PartitionName> split_partitions(std::string_view text) {
  std::vector<PartitionName> partitions;
  for (const auto part : split_text(text, ",")) { partitions.emplace_back(std::string(part)); }
  return partitions;
}

std::string held_comment(const HoldDecision& decision, const MinCountOption& min_count) {
  std::string comment = decision.text.substr(0, decision.text.find(';'));
  switch (min_count.kind) {
    case MinCountOption::Kind::unset: return comment;
    case MinCountOption::Kind::automatic: return comment + "; min_count=auto";
    case MinCountOption::Kind::none: return comment + "; min_count=none";
    case MinCountOption::Kind::number: return comment + "; min_count=" + std::to_string(min_count.number);
  }
  return comment;
}

MinCountOption min_count_in_comment(std::string_view comment) {
  if (comment.substr(0, held_comment_prefix.size()) != held_comment_prefix) { return {}; }
  const auto key = comment.rfind(comment_key);
  if (key == std::string_view::npos) { return {}; }
  const auto text = comment.substr(key + comment_key.size());
  auto option = parse_min_count(text.substr(0, text.find_first_of(" ;,")));
  return option ? *option : MinCountOption{};
}

}  // namespace muster::logic
