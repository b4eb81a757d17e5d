// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/ranks.hpp"

#include <algorithm>
#include <charconv>

#include "logic/hostlist.hpp"

namespace muster::logic {

namespace {

constexpr int most_nodes = 65536;
constexpr int most_workers = 4096;
constexpr int torchrun_port = 29500;
// Above the well-known ports and Slurm's, below those that Linux picks for outgoing connections (from 32768).
constexpr std::uint32_t first_step_port = 15000;
constexpr std::uint32_t step_ports = 15000;
// Step ids from here on are Slurm's own kinds of step: batch script, extern, interactive.
constexpr std::int64_t first_special_step = 0xFFFFFFF0;

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

std::optional<int> number_within(std::string_view text, int low, int high) {
  const auto number = whole_number(text);
  if (!number || *number < low || *number > high) return std::nullopt;
  return static_cast<int>(*number);
}

std::string quoted(std::string_view text) { return "\"" + std::string(text.substr(0, 80)) + "\""; }

/// What srun told this task.
struct Step {
  std::uint32_t job = 0;
  std::uint32_t step = 0;
  int node_count = 0;
  int node_rank = 0;
  std::string first_node;
  std::string tasks_per_node;
};

Error bad_variable(const char* name, const std::string& value) {
  return reject_error(std::string(name) + "=" + quoted(value) + " makes no sense; was this started by srun?");
}

/// Nothing where we are in no step of srun's.
Result<std::optional<Step>> read_step(const Environment& environment) {
  const auto job = environment("SLURM_JOB_ID");
  const auto step_id = environment("SLURM_STEP_ID");
  const auto nodes = environment("SLURM_STEP_NUM_NODES");
  const auto node_id = environment("SLURM_NODEID");
  const auto node_list = environment("SLURM_STEP_NODELIST");
  if (!job || !step_id || !nodes || !node_id || !node_list) return std::optional<Step>{};
  const auto step_number = whole_number(*step_id);
  if (!step_number || *step_number < 0 || *step_number > 0xFFFFFFFF) return bad_variable("SLURM_STEP_ID", *step_id);
  if (*step_number >= first_special_step) return std::optional<Step>{};

  Step step;
  const auto job_number = whole_number(*job);
  if (!job_number || *job_number < 0 || *job_number > 0xFFFFFFFF) return bad_variable("SLURM_JOB_ID", *job);
  step.job = static_cast<std::uint32_t>(*job_number);
  step.step = static_cast<std::uint32_t>(*step_number);
  const auto count = number_within(*nodes, 1, most_nodes);
  if (!count) return bad_variable("SLURM_STEP_NUM_NODES", *nodes);
  step.node_count = *count;
  const auto rank = number_within(*node_id, 0, step.node_count - 1);
  if (!rank) return bad_variable("SLURM_NODEID", *node_id);
  step.node_rank = *rank;
  const auto names = expand_names(*node_list, most_nodes);
  if (!names) return names.error();
  if (names->size() != static_cast<std::size_t>(step.node_count))
    return bad_variable("SLURM_STEP_NODELIST", *node_list);
  step.first_node = names->front();
  step.tasks_per_node = environment("SLURM_STEP_TASKS_PER_NODE").value_or("1");
  return std::optional<Step>(std::move(step));
}

/// "1" and "1(x4)", but not "2", "2(x4)" or "2,1".
bool is_one_task_per_node(const std::string& tasks_per_node) {
  const std::string count = tasks_per_node.substr(0, tasks_per_node.find('('));
  return count == "1" && tasks_per_node.find(',') == std::string::npos;
}

Result<LaunchPlace> place_in_step(const PlaceOptions& options, const Step& step) {
  if (!is_one_task_per_node(step.tasks_per_node)) {
    return reject_error("srun started " + quoted(step.tasks_per_node) +
                        " tasks per node, but muster-run starts the workers itself: use srun --ntasks-per-node=1");
  }
  LaunchPlace place;
  place.in_slurm_step = true;
  place.node_rank = step.node_rank;
  place.node_count = step.node_count;
  if (options.nodes) {
    const NodeRange range = *options.nodes;
    if (step.node_count < range.low || step.node_count > range.high) {
      const std::string wanted = range.low == range.high ? std::to_string(range.low)
                                                         : std::to_string(range.low) + ":" + std::to_string(range.high);
      return reject_error("--nnodes=" + wanted + ", but the Slurm step has " + std::to_string(step.node_count) +
                          "; leave --nnodes out or set srun --nodes");
    }
    if (range.low != range.high) {
      place.warnings.push_back("an elastic --nnodes is not supported yet: runs with the " +
                               std::to_string(step.node_count) + " nodes of the Slurm step from start to end");
    }
  }
  // A --node-rank is not looked at: $SLURM_NODEID in a batch script is 0 for all nodes by the time srun runs.
  place.master_address = options.master_address.empty() ? step.first_node : options.master_address;
  place.master_port = options.master_port ? *options.master_port : step_port(step.job, step.step);
  place.run_id = options.run_id.empty() ? std::to_string(step.job) + "." + std::to_string(step.step) : options.run_id;
  return place;
}

Result<LaunchPlace> place_by_options(const PlaceOptions& options) {
  LaunchPlace place;
  const NodeRange range = options.nodes.value_or(NodeRange{});
  if (range.low != range.high) {
    return reject_error(
        "an elastic --nnodes is not supported yet, and outside a Slurm step the number of nodes must be "
        "given: --nnodes=" +
        std::to_string(range.high));
  }
  place.node_count = range.high;
  place.node_rank = options.node_rank.value_or(0);
  if (place.node_rank < 0 || place.node_rank >= place.node_count) {
    return reject_error("--node-rank=" + std::to_string(place.node_rank) + ": expected 0.." +
                        std::to_string(place.node_count - 1) + " with --nnodes=" + std::to_string(place.node_count));
  }
  if (place.node_count > 1 && (!options.node_rank || options.master_address.empty())) {
    return reject_error(
        "several nodes outside a Slurm step need --node-rank and --master-addr; or start it with srun, "
        "which says both");
  }
  place.master_address = options.master_address.empty() ? "127.0.0.1" : options.master_address;
  place.master_port = options.master_port.value_or(torchrun_port);
  place.run_id = options.run_id.empty() ? "none" : options.run_id;
  return place;
}

Result<LaunchPlace> place_standalone(const PlaceOptions& options) {
  if (options.nodes && options.nodes->high != 1) {
    return reject_error("--standalone is for one node, but --nnodes says " + std::to_string(options.nodes->high));
  }
  LaunchPlace place;
  place.master_address = "127.0.0.1";
  place.master_port = options.master_port.value_or(0);
  place.run_id = options.run_id.empty() ? "standalone" : options.run_id;
  return place;
}

std::optional<Streams> stream_bits(std::string_view text) {
  const auto bits = number_within(text, 0, 3);
  if (!bits) return std::nullopt;
  return Streams{(*bits & 1) != 0, (*bits & 2) != 0};
}

}  // namespace

Result<NodeRange> parse_node_range(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto low = number_within(text.substr(0, colon), 1, most_nodes);
  const auto high = colon == std::string_view::npos ? low : number_within(text.substr(colon + 1), 1, most_nodes);
  if (!low || !high || *low > *high) {
    return reject_error("--nnodes: expected a number or MIN:MAX, found " + quoted(text));
  }
  return NodeRange{*low, *high};
}

Result<LaunchPlace> find_place(const PlaceOptions& options, const Environment& environment) {
  if (options.standalone) return place_standalone(options);
  const auto step = read_step(environment);
  if (!step) return step.error();
  return *step ? place_in_step(options, **step) : place_by_options(options);
}

int step_port(std::uint32_t job, std::uint32_t step) {
  // A step's neighbours get other ports, so a worker that survived the last step does no harm.
  const std::uint64_t number = std::uint64_t{job} * 31 + step;
  return static_cast<int>(first_step_port + number % step_ports);
}

Result<int> worker_count(std::string_view text, int cpus, int gpus) {
  if (text == "cpu") return std::max(cpus, 1);
  if (text == "auto") return gpus > 0 ? gpus : std::max(cpus, 1);
  if (text == "gpu") {
    if (gpus > 0) return gpus;
    return reject_error(
        "--nproc-per-node=gpu, but no GPU was given to this process; did the job ask for some (--gres)?");
  }
  const auto count = number_within(text, 1, most_workers);
  if (!count) {
    return reject_error("--nproc-per-node: expected a number from 1 to " + std::to_string(most_workers) +
                        ", cpu, gpu or auto; found " + quoted(text));
  }
  return *count;
}

std::optional<int> gpus_in_environment(const Environment& environment) {
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}) {
    const auto devices = environment(name);
    if (!devices) continue;
    // CUDA stops at the first entry that names no device.
    int count = 0;
    std::string_view rest = *devices;
    while (!rest.empty()) {
      const std::string_view device = rest.substr(0, rest.find(','));
      if (device.empty() || device == "-1" || device == "NoDevFiles") break;
      ++count;
      rest.remove_prefix(std::min(rest.size(), device.size() + 1));
    }
    return count;
  }
  if (const auto count = environment("SLURM_GPUS_ON_NODE")) return number_within(*count, 0, most_workers);
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> worker_environment(const LaunchPlace& place,
                                                                    const WorkerSettings& settings, int local_rank,
                                                                    const std::string& error_file,
                                                                    const Environment& environment) {
  const std::string rank = std::to_string(place.node_rank * settings.workers + local_rank);
  const std::string world = std::to_string(place.node_count * settings.workers);
  std::vector<std::pair<std::string, std::string>> variables{
      {"LOCAL_RANK", std::to_string(local_rank)},
      {"RANK", rank},
      {"GROUP_RANK", std::to_string(place.node_rank)},
      {"ROLE_RANK", rank},
      {"ROLE_NAME", settings.role},
      {"LOCAL_WORLD_SIZE", std::to_string(settings.workers)},
      {"WORLD_SIZE", world},
      {"GROUP_WORLD_SIZE", std::to_string(place.node_count)},
      {"ROLE_WORLD_SIZE", world},
      {"MASTER_ADDR", place.master_address},
      {"MASTER_PORT", std::to_string(place.master_port)},
      {"TORCHELASTIC_RESTART_COUNT", "0"},
      {"TORCHELASTIC_MAX_RESTARTS", "0"},
      {"TORCHELASTIC_RUN_ID", place.run_id},
      // Rank 0 opens the store itself; the launcher serves none.
      {"TORCHELASTIC_USE_AGENT_STORE", "False"},
      {"TORCHELASTIC_ERROR_FILE", error_file},
  };
  if (!environment("TORCH_NCCL_ASYNC_ERROR_HANDLING")) variables.emplace_back("TORCH_NCCL_ASYNC_ERROR_HANDLING", "1");
  if (settings.workers > 1 && !environment("OMP_NUM_THREADS")) variables.emplace_back("OMP_NUM_THREADS", "1");
  return variables;
}

Result<StreamChoice> StreamChoice::parse(std::string_view text) {
  const Error wrong = reject_error(
      "expected 0 (none), 1 (stdout), 2 (stderr), 3 (both), or a map of local ranks such as "
      "0:1,1:3; found " +
      quoted(text));
  StreamChoice choice;
  if (text.find(':') == std::string_view::npos) {
    const auto streams = stream_bits(text);
    if (!streams) return wrong;
    choice.all_ = *streams;
    return choice;
  }
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view entry = text.substr(0, comma);
    const std::size_t colon = entry.find(':');
    if (colon == std::string_view::npos) return wrong;
    const auto rank = number_within(entry.substr(0, colon), 0, most_workers - 1);
    const auto streams = stream_bits(entry.substr(colon + 1));
    if (!rank || !streams) return wrong;
    choice.by_rank_.emplace_back(*rank, *streams);
    if (comma == std::string_view::npos) return choice;
    text.remove_prefix(comma + 1);
  }
}

Streams StreamChoice::of(int local_rank) const {
  for (const auto& [rank, streams] : by_rank_) {
    if (rank == local_rank) return streams;
  }
  return all_;
}

bool StreamChoice::any() const {
  const auto is_some = [](const Streams& streams) { return streams.out || streams.err; };
  return is_some(all_) ||
         std::any_of(by_rank_.begin(), by_rank_.end(), [&](const auto& entry) { return is_some(entry.second); });
}

Result<std::vector<int>> parse_rank_list(std::string_view text) {
  std::vector<int> ranks;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    const auto rank = number_within(entry, 0, most_workers - 1);
    if (!rank) return reject_error("--local-ranks-filter: expected local ranks such as 0,2; found " + quoted(entry));
    ranks.push_back(*rank);
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
  }
  return ranks;
}

std::string fill_in_rank(std::string argument, int local_rank) {
  static constexpr std::string_view macro = "${local_rank}";
  const std::string rank = std::to_string(local_rank);
  for (std::size_t at = argument.find(macro); at != std::string::npos; at = argument.find(macro, at + rank.size())) {
    argument.replace(at, macro.size(), rank);
  }
  return argument;
}

}  // namespace muster::logic
