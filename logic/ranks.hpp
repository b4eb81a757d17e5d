// SPDX-License-Identifier: GPL-2.0-or-later
//
// Ranks, ports and the environment of training workers: what torchrun's workers may rely on, worked out from a Slurm
// step or from options. Pure: the environment is asked through a function.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logic/result.hpp"

namespace muster::logic {

/// Looks up a variable of our own environment; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(std::string_view name)>;

/// --nnodes: "4" or "2:4".
struct NodeRange {
  int low = 1;
  int high = 1;
};
Result<NodeRange> parse_node_range(std::string_view text);

/// What the command line says about the place of this launcher among its peers.
struct PlaceOptions {
  std::optional<NodeRange> nodes;
  std::optional<int> node_rank;
  std::string master_address;  ///< empty = not given
  std::optional<int> master_port;
  std::string run_id;  ///< --rdzv-id; empty = not given
  bool standalone = false;
};

/// Where this launcher stands: one launcher a node.
struct LaunchPlace {
  int node_rank = 0;
  int node_count = 1;
  std::string master_address;
  int master_port = 0;  ///< 0 = the caller picks one that is free here (--standalone)
  std::string run_id;
  bool in_slurm_step = false;
  std::vector<std::string> warnings;  ///< sentences; the launcher of node rank 0 says them
};

/// Within a step that srun started, Slurm says how many nodes there are and which this is; outside, the options do.
Result<LaunchPlace> find_place(const PlaceOptions& options, const Environment& environment);

/// The port on which rank 0 listens: the same on all nodes of a step, another for the next step, and outside the range
/// that Linux gives to outgoing connections.
int step_port(std::uint32_t job, std::uint32_t step);

/// --nproc-per-node: "4", "cpu", "gpu", "auto". What "cpu" and "gpu" find is told by the caller.
Result<int> worker_count(std::string_view text, int cpus, int gpus);

/// GPUs that the environment gives to this process; nothing where it does not say.
std::optional<int> gpus_in_environment(const Environment& environment);

/// What is the same for all workers of a node.
struct WorkerSettings {
  int workers = 1;  ///< on this node; the other nodes are taken to have as many
  std::string role = "default";
};

/// The variables that a worker gets on top of the launcher's own environment, in a fixed order.
std::vector<std::pair<std::string, std::string>> worker_environment(const LaunchPlace& place,
                                                                    const WorkerSettings& settings, int local_rank,
                                                                    const std::string& error_file,
                                                                    const Environment& environment);

/// --tee and --redirects: which streams of a worker.
struct Streams {
  bool out = false;
  bool err = false;
};
/// "0", "1", "2", "3", or a map of local ranks such as "0:1,1:3"; ranks not named have none.
class StreamChoice {
 public:
  static Result<StreamChoice> parse(std::string_view text);
  Streams of(int local_rank) const;
  bool any() const;

 private:
  Streams all_;
  std::vector<std::pair<int, Streams>> by_rank_;
};

/// --local-ranks-filter: "0,2"; an empty list is all.
Result<std::vector<int>> parse_rank_list(std::string_view text);

/// The argument with each "${local_rank}" replaced.
std::string fill_in_rank(std::string argument, int local_rank);

}  // namespace muster::logic
