// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <utility>

namespace muster::runner {

namespace {

using logic::Error;
using logic::Result;

constexpr int exit_usage = 2;

/// As written on the command line, before the meaning is checked.
struct Written {
  std::string nnodes;
  std::string nproc = "1";
  std::string rdzv_backend;
  std::string rdzv_endpoint;
  std::string rdzv_id;
  std::string rdzv_conf;
  bool standalone = false;
  int max_restarts = 0;
  double monitor_interval = 0;
  std::string start_method;
  std::string role = "default";
  bool is_module = false;
  bool no_python = false;
  bool run_path = false;
  std::string log_dir;
  std::string redirects = "0";
  std::string tee = "0";
  std::string local_ranks_filter;
  int node_rank = -1;
  std::string master_addr;
  int master_port = 0;
  std::string local_addr;
  std::string logs_specs;
};

/// "--nproc-per-node" as CLI11 wants it with its other spelling, and a short form where there is one.
std::string both_spellings(const std::string& name, const std::string& short_form = {}) {
  std::string underscored = name;
  std::replace(underscored.begin(), underscored.end(), '-', '_');
  std::string names = short_form.empty() ? "" : "-" + short_form + ",";
  names += "--" + name;
  if (underscored != name) names += ",--" + underscored;
  return names;
}

std::string variable_of(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return "PET_" + name;
}

template <typename T>
CLI::Option* option(CLI::App& app, const std::string& name, T& target, const std::string& help,
                    const std::string& short_form = {}) {
  return app.add_option(both_spellings(name, short_form), target, help)->envname(variable_of(name));
}

CLI::Option* flag(CLI::App& app, const std::string& names, const std::string& variable, bool& target,
                  const std::string& help) {
  return app.add_flag(names, target, help)->envname(variable);
}

void describe(CLI::App& app, Written& written) {
  app.prefix_command();
  app.set_version_flag("--version", "muster-run " PACKAGE_VERSION);
  app.footer("SCRIPT and what follows it go to the workers. See muster-run(1).");

  const std::string place = "Nodes and workers";
  option(app, "nnodes", written.nnodes, "Number of nodes; default: those of the Slurm step, else 1")->group(place);
  option(app, "nproc-per-node", written.nproc, "Workers on each node: a number, cpu, gpu or auto; default 1")
      ->group(place);
  option(app, "node-rank", written.node_rank, "Rank of this node, outside a Slurm step")->group(place);
  option(app, "master-addr", written.master_addr, "Where rank 0 listens; default: first node of the step")
      ->group(place);
  option(app, "master-port", written.master_port, "Its port; default: worked out from job and step")
      ->check(CLI::Range(1, 65535))
      ->group(place);
  flag(app, "--standalone", "PET_STANDALONE", written.standalone, "One node by itself, on a free port")->group(place);
  option(app, "role", written.role, "Name of the workers' role")->group(place);

  const std::string program = "Program";
  flag(app, "-m,--module", "PET_MODULE", written.is_module, "SCRIPT is a Python module")->group(program);
  flag(app, both_spellings("no-python"), "PET_NO_PYTHON", written.no_python, "SCRIPT is a program, not Python")
      ->group(program);
  flag(app, both_spellings("run-path"), "PET_RUN_PATH", written.run_path, "Not supported")->group(program);

  const std::string output = "Output";
  option(app, "log-dir", written.log_dir, "Folder for the workers' output")->group(output);
  option(app, "redirects", written.redirects, "Into files instead: 0 none, 1 stdout, 2 stderr, 3 both, or RANK:N,...",
         "r")
      ->group(output);
  option(app, "tee", written.tee, "Shown line by line with a prefix, and into files: as --redirects", "t")
      ->group(output);
  option(app, "local-ranks-filter", written.local_ranks_filter, "Show only these local ranks: 0,2")->group(output);

  const std::string taken = "Accepted for torchrun's sake";
  option(app, "rdzv-id", written.rdzv_id, "Becomes TORCHELASTIC_RUN_ID")->group(taken);
  option(app, "rdzv-backend", written.rdzv_backend, "Not needed")->group(taken);
  option(app, "rdzv-endpoint", written.rdzv_endpoint, "Not needed")->group(taken);
  option(app, "rdzv-conf", written.rdzv_conf, "Not needed")->group(taken);
  option(app, "max-restarts", written.max_restarts, "Above 0: a warning, workers are not restarted yet")->group(taken);
  option(app, "monitor-interval", written.monitor_interval, "Not needed")->group(taken);
  option(app, "start-method", written.start_method, "Not needed")->group(taken);
  option(app, "local-addr", written.local_addr, "Not needed")->group(taken);
  option(app, "logs-specs", written.logs_specs, "Only \"default\"")->group(taken);
}

Error named(const char* option_name, const Error& error) {
  return {error.kind, std::string(option_name) + ": " + error.message};
}

/// Refuses what is not supported and would change what runs.
Result<Options> understand(const Written& written, std::vector<std::string> command) {
  if (command.empty()) return logic::reject_error("no script given; see muster-run --help");
  if (command.front().rfind('-', 0) == 0 && command.front() != "-") {
    return logic::reject_error("unknown option " + command.front() + "; see muster-run --help");
  }
  if (written.is_module && written.no_python) return logic::reject_error("-m and --no-python exclude each other");
  if (written.run_path) return logic::reject_error("--run-path is not supported: give the script itself");
  if (!written.logs_specs.empty() && written.logs_specs != "default") {
    return logic::reject_error("--logs-specs=" + written.logs_specs + " is not supported: only \"default\"");
  }
  Options options;
  if (!written.nnodes.empty()) {
    const auto range = logic::parse_node_range(written.nnodes);
    if (!range) return range.error();
    options.place.nodes = *range;
  }
  if (written.node_rank >= 0) options.place.node_rank = written.node_rank;
  if (written.master_port > 0) options.place.master_port = written.master_port;
  options.place.master_address = written.master_addr;
  options.place.run_id = written.rdzv_id;
  options.place.standalone = written.standalone;
  const auto tee = logic::StreamChoice::parse(written.tee);
  if (!tee) return named("--tee", tee.error());
  const auto redirects = logic::StreamChoice::parse(written.redirects);
  if (!redirects) return named("--redirects", redirects.error());
  if (redirects->any() && written.log_dir.empty()) return logic::reject_error("--redirects needs --log-dir");
  const auto ranks = logic::parse_rank_list(written.local_ranks_filter);
  if (!ranks) return ranks.error();
  options.tee = *tee;
  options.redirects = *redirects;
  options.console_ranks = *ranks;
  options.log_dir = written.log_dir;
  options.workers = written.nproc;
  options.role = written.role;
  options.is_module = written.is_module;
  options.no_python = written.no_python;
  options.command = std::move(command);
  if (written.max_restarts > 0) {
    options.warnings.push_back("--max-restarts=" + std::to_string(written.max_restarts) +
                               " has no effect yet: a worker that fails ends the run");
  }
  return options;
}

}  // namespace

std::variant<Options, int> parse_options(int argc, const char* const* argv) {
  Written written;
  CLI::App app{"muster-run [OPTIONS] SCRIPT [ARGUMENTS...]: starts the workers of a training job on this node",
               "muster-run"};
  describe(app, written);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) { return app.exit(problem) == 0 ? 0 : exit_usage; }
  auto options = understand(written, app.remaining());
  if (!options) {
    std::cerr << "muster-run: " << options.error().message << "\n";
    return exit_usage;
  }
  return *std::move(options);
}

std::vector<std::string> worker_command(const Options& options, const std::string& python, int local_rank) {
  std::vector<std::string> command;
  if (!options.no_python) {
    command = {python, "-u"};
    if (options.is_module) command.emplace_back("-m");
  }
  for (const std::string& argument : options.command) command.push_back(logic::fill_in_rank(argument, local_rank));
  return command;
}

}  // namespace muster::runner
