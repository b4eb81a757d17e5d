// SPDX-License-Identifier: GPL-2.0-or-later
//
// A node's way from power-on to a running slurmd: introduced, checking, ready, starting, running (failed on the way,
// and trying on). Facts in, a decision out; noded acts on it. Two promises stand here and nowhere else: slurmd is not
// started before every check is good, and always with State=DRAIN in its --conf.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logic/backoff.hpp"
#include "logic/names.hpp"
#include "logic/node_messages.hpp"
#include "logic/result.hpp"
#include "logic/time.hpp"

namespace muster::logic {

/// What the last polls proved. A head that cannot be reached disproves nothing.
struct HeadProof {
  bool accepted = false;         ///< the head took our MUNGE credential, and we the head's
  std::string text;              ///< by whom, or why not
  std::optional<Duration> skew;  ///< our clock minus the head's
  Duration skew_error{0};        ///< how far off that may be
};

/// Devices of one GRES, counted twice, a moment apart: a driver that is still loading shows itself.
struct DeviceCount {
  std::string gres;
  std::string pattern;
  int first = 0;
  int second = 0;
};

/// What the machine shows of itself.
struct MachineFacts {
  std::string host_name;
  int cpus = 0;
  std::int64_t memory_mib = 0;
  std::string slurmd_program;
  std::string slurmd_problem;  ///< empty: it is there and may be executed
  std::vector<DeviceCount> devices;
};

/// Our clock minus the head's, when the head stamped its answer half way between the two.
Duration clock_skew(Time sent, Time received, Time head_time);

/// Every check of the list, in the order shown, each with its evidence.
std::vector<NodeCheck> judge_checks(const Assignment& wanted, const HeadProof& proof, const MachineFacts& facts,
                                    Duration max_clock_skew);
bool all_good(const std::vector<NodeCheck>& checks);

/// What this node knows of the slurmd that it started last; kept across restarts of noded.
struct SlurmdView {
  NodeName node;           ///< the name that it was started under; empty = never
  std::int64_t start = 0;  ///< the number that it was started for
  bool alive = false;
  bool changing = false;      ///< a start or stop is under way
  Time since = no_time;       ///< alive: when it was started; else when it ended
  int failures = 0;           ///< starts in a row that did not last
  Time next_start = no_time;  ///< not earlier than this for the same number
  std::string last_end;       ///< how it ended
};

struct SlurmdRule {
  Duration settle{std::chrono::seconds{1}};   ///< alive so long: running
  Duration lasting{std::chrono::minutes{1}};  ///< alive so long: the count of failures begins anew
  int failed_after = 4;                       ///< so many failures in a row are reported as failed
  BackoffRule backoff{std::chrono::seconds{1}, 2.0, std::chrono::minutes{1}, 0.25};
};
/// A start for that number is about to be made.
void note_slurmd_start(SlurmdView& slurmd, const NodeName& node, std::int64_t start, Time now);
/// It ended, or could not be started; how is one clause ("exit status 1 after 0.2 s").
void note_slurmd_end(SlurmdView& slurmd, const SlurmdRule& rule, std::string how, Time now, double random);

/// Everything that the decision looks at.
struct NodeView {
  std::optional<Assignment> assignment;  ///< the last one heard; it stays while musterd is away
  std::optional<std::vector<NodeCheck>> checks;
  Time checked_at = no_time;
  Time bad_since = no_time;  ///< checks have been failing since then
  SlurmdView slurmd;
};

struct NodeRule {
  Duration check_patience{std::chrono::minutes{5}};   ///< checks failing for longer are reported as failed
  Duration check_lifetime{std::chrono::seconds{10}};  ///< slurmd starts on checks no older than this
  SlurmdRule slurmd;
};

enum class SlurmdAction { none, start, restart };

struct NodeDecision {
  NodeStep step = NodeStep::introduced;
  std::string message;  ///< for people; holds no number that changes by itself
  SlurmdAction action = SlurmdAction::none;
  bool check_now = false;
  Time look_again = no_time;  ///< no_time: when something changes
};
NodeDecision decide_node(const NodeView& view, const NodeRule& rule, Time now);

/// The start number to report: 0 while our slurmd runs, or ran, under another name than the assigned one.
std::int64_t reported_start(const NodeView& view);

/// The arguments after the program's name. extra comes first. Never without State=DRAIN: a slurmd that registers where
/// its record was lost is then born closed.
std::vector<std::string> slurmd_arguments(const Assignment& wanted, const std::string& conf_server,
                                          const std::vector<std::string>& extra);
/// The same as a value of SLURMD_OPTIONS that systemd splits again: arguments with blanks in double quotes.
Result<std::string> systemd_options(const std::vector<std::string>& arguments);

}  // namespace muster::logic
