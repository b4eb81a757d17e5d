// SPDX-License-Identifier: GPL-2.0-or-later
//
// What noded and musterd tell each other: Muster.SyncNode in both directions. noded sends its whole present state and
// gets its assignment; neither answer depends on what was said before, so a lost one costs nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "logic/cluster_spec.hpp"
#include "logic/ledger.hpp"
#include "logic/names.hpp"
#include "logic/result.hpp"
#include "logic/time.hpp"
#include "logic/value.hpp"

namespace muster::logic {

enum class NodeStep { introduced, checking, ready, starting, running, failed };
/// The word in Muster.SyncNode's Step.
std::string_view step_name(NodeStep step);

/// What musterd wants of this machine: the answer to Muster.SyncNode.
struct Assignment {
  std::int64_t generation = 0;
  bool assigned = false;
  std::string message;  ///< musterd's words, for people
  NodeName node;
  GroupName group;
  std::string node_conf;  ///< "CPUs=2 RealMemory=1000 Gres=gpu:h100:4 Feature=h100"
  std::vector<GresWant> gres;
  int cpus = 0;
  std::int64_t memory_mib = 0;
  bool runs_slurmd = true;        ///< false: a controller or login node, which no job may reach
  bool has_line = false;          ///< slurm.conf has its line, so slurmd starts as an ordinary node and not with -Z
  std::string conf_server;        ///< "head:6817"; empty = the machine's own slurm.conf
  std::int64_t slurmd_start = 0;  ///< 0 = not yet allowed; above our own number = start slurmd for this number
  Time head_time = no_time;       ///< the head's clock when it answered
};
/// Refuses an answer whose texts could not be put on slurmd's command line as they are.
Result<Assignment> read_assignment(const Value& answer);
/// The assignment as the answer's body. status and status_message are for people (HyperPod's ClusterInstanceStatus).
Value assignment_body(const Assignment& assignment, std::string_view status, const std::string& status_message);

/// What noded tells musterd.
struct NodeReport {
  InstanceId instance;
  std::string node_name;  ///< the name asked for in noded.yaml; empty = any
  std::string boot_id;
  std::string host_name;
  std::string address;
  NodeStep step = NodeStep::introduced;
  std::string message;
  std::vector<NodeCheck> checks;
  std::int64_t slurmd_start = 0;
  bool slurmd_alive = false;
  int cpus = 0;
  std::int64_t memory_mib = 0;
};
/// Whether b tells musterd something that a did not. Evidence alone (a skew of 3 ms instead of 2) is no news.
bool is_news(const NodeReport& a, const NodeReport& b);
/// The body of Muster.SyncNode.
Value report_body(const NodeReport& report, std::int64_t known_generation, Duration wait, Time now);
/// musterd's side of it: refuses a body without an instance id or with an unknown step; longer texts are cut, and an
/// address that is none is left out.
Result<NodeReport> read_report(const Value& body);

/// A numeric IPv4 or IPv6 address by its letters; Slurm and the kernel judge the rest.
bool is_numeric_address(const std::string& text);

}  // namespace muster::logic
