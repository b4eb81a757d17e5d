// SPDX-License-Identifier: GPL-2.0-or-later
//
// muster-run: one launcher a node starts the workers of a training job, as torchrun does.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "logic/ranks.hpp"
#include "runner/launcher.hpp"
#include "runner/machine.hpp"
#include "runner/options.hpp"
#include "runner/say.hpp"
#include "sys/event_loop.hpp"
#include "sys/files.hpp"

namespace {

using namespace muster;

constexpr int exit_usage = 2;
constexpr int exit_cannot_start = 127;

int fail(const logic::Error& error, int code) {
  runner::say(error.message);
  return code;
}

std::string python_program() {
  const char* chosen = std::getenv("PYTHON_EXEC");
  return chosen && *chosen != '\0' ? chosen : "python3";
}

/// Where one stream of a worker goes, by --tee, --redirects, --local-ranks-filter and --log-dir.
runner::StreamTarget stream_target(bool teed, bool redirected, bool on_console, const std::string& file) {
  runner::StreamTarget target;
  target.is_piped = teed && on_console;
  target.is_shown = on_console && !(redirected && !teed);
  const bool wants_file = teed || redirected || !on_console;
  if (wants_file) target.file = file;
  return target;
}

struct Plan {
  logic::LaunchPlace place;
  logic::WorkerSettings settings;
  std::string log_directory;  ///< of this attempt; empty = none
};

logic::Result<runner::WorkerSpec> worker_spec(const runner::Options& options, const Plan& plan, int local_rank) {
  runner::WorkerSpec spec;
  spec.local_rank = local_rank;
  spec.rank = plan.place.node_rank * plan.settings.workers + local_rank;
  spec.command = runner::worker_command(options, python_program(), local_rank);
  spec.prefix = "[" + options.role + std::to_string(local_rank) + "]:";
  std::string folder;
  if (!plan.log_directory.empty()) {
    folder = plan.log_directory + "/" + std::to_string(local_rank) + "/";
    if (auto made = sys::make_directories(folder); !made) return made.error();
    spec.error_file = folder + "error.json";
  }
  const std::vector<int>& shown = options.console_ranks;
  const bool on_console = shown.empty() || std::find(shown.begin(), shown.end(), local_rank) != shown.end();
  const logic::Streams tee = options.tee.of(local_rank);
  const logic::Streams redirect = options.redirects.of(local_rank);
  const auto file = [&](const char* name) { return folder.empty() ? std::string() : folder + name; };
  spec.out = stream_target(tee.out, redirect.out, on_console, file("stdout.log"));
  spec.err = stream_target(tee.err, redirect.err, on_console, file("stderr.log"));
  spec.environment =
      logic::worker_environment(plan.place, plan.settings, local_rank, spec.error_file, runner::process_environment());
  return spec;
}

/// Said once for the job, by the launcher of node rank 0.
void say_warnings(const runner::Options& options, const Plan& plan) {
  if (plan.place.node_rank != 0) return;
  for (const auto& warning : options.warnings) runner::say("warning: " + warning);
  for (const auto& warning : plan.place.warnings) runner::say("warning: " + warning);
  if (plan.settings.workers > 1 && !std::getenv("OMP_NUM_THREADS")) {
    runner::say("warning: OMP_NUM_THREADS is not set: each worker gets 1, as with torchrun");
  }
}

logic::Result<Plan> make_plan(const runner::Options& options) {
  Plan plan;
  auto place = logic::find_place(options.place, runner::process_environment());
  if (!place) return place.error();
  plan.place = *std::move(place);
  const auto workers = logic::worker_count(options.workers, runner::cpu_count(), runner::gpu_count());
  if (!workers) return workers.error();
  plan.settings = {*workers, options.role};
  if (plan.place.master_port == 0) {
    const auto port = runner::free_port();
    if (!port) return port.error();
    plan.place.master_port = *port;
  }
  return plan;
}

int run(const runner::Options& options) {
  auto plan = make_plan(options);
  if (!plan) return fail(plan.error(), exit_usage);
  say_warnings(options, *plan);
  if (!options.log_dir.empty()) {
    auto directory = runner::make_log_directory(options.log_dir, plan->place.run_id);
    if (!directory) return fail(directory.error(), exit_cannot_start);
    plan->log_directory = *std::move(directory);
  }
  std::vector<runner::WorkerSpec> specs;
  for (int local_rank = 0; local_rank < plan->settings.workers; ++local_rank) {
    auto spec = worker_spec(options, *plan, local_rank);
    if (!spec) return fail(spec.error(), exit_cannot_start);
    specs.push_back(*std::move(spec));
  }
  auto loop = sys::EventLoop::create();
  if (!loop) return fail(loop.error(), exit_cannot_start);
  const auto code = runner::Launcher(**loop).run(std::move(specs));
  return code ? *code : fail(code.error(), exit_cannot_start);
}

}  // namespace

int main(int argc, char** argv) {
  const auto parsed = runner::parse_options(argc, argv);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  return run(*std::get_if<runner::Options>(&parsed));
}
