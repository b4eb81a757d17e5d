// SPDX-License-Identifier: GPL-2.0-or-later
//
// muster-noded: proves a node ready and starts its slurmd last. This file: options, signals, life cycle.
#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <string>

#include "noded/node_agent.hpp"
#include "noded/node_config.hpp"
#include "noded/state_file.hpp"
#include "sys/event_loop.hpp"
#include "sys/service_link.hpp"

namespace muster::noded {
namespace {

using sys::log;
using sys::LogLevel;

constexpr int exit_failure = 1;
constexpr int exit_wrong_config = 2;  ///< trying again does not help: see RestartPreventExitStatus= in the unit

struct Options {
  std::string config = MUSTER_SYSCONFDIR "/noded.yaml";
  bool check_config = false;
  bool verbose = false;
};

int fail(const std::string& what, const logic::Error& error) {
  log(LogLevel::err, what, {{"result", error.message}});
  sys::notify_stopping(what + ": " + error.message);
  return exit_failure;
}

void reload(const Options& options, NodeAgent& agent) {
  auto config = load_node_config(options.config);
  if (!config) {
    log(LogLevel::err, "reload", {{"result", config.error().message}, {"next", "the old configuration stays"}});
    return;
  }
  log(LogLevel::info, "reload", {{"config", options.config}});
  agent.use_config(std::move(*config));
}

int serve(const Options& options, NodeConfig config) {
  auto loop = sys::EventLoop::create();
  if (!loop) return fail("start", loop.error());
  auto state = StateFile::open(config.state_directory);
  if (!state) return fail("start", state.error());
  log(LogLevel::info, "start", {{"version", PACKAGE_VERSION}, {"config", options.config}});

  NodeAgent agent{**loop, std::move(config), std::move(*state)};
  const auto signals = (*loop)->on_signals({SIGTERM, SIGINT, SIGHUP}, [&](int number) {
    if (number == SIGHUP) return reload(options, agent);
    log(LogLevel::info, "stop", {{"signal", std::to_string(number)}, {"slurmd", "is left as it is"}});
    sys::notify_stopping("stopping; slurmd is left as it is");
    (*loop)->stop();
  });
  if (!signals) return fail("start", signals.error());
  sys::notify_ready("starting");
  if (auto begun = agent.begin(); !begun) return fail("start", begun.error());
  if (auto run = (*loop)->run(); !run) return fail("stop", run.error());
  return 0;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app{"Proves this node ready and starts its slurmd last.", "muster-noded"};
  app.add_option("-c,--config", options.config, "The configuration file")->capture_default_str();
  app.add_flag("--check-config", options.check_config, "Read the configuration, say what is wrong with it, and exit");
  app.add_flag("-v,--verbose", options.verbose, "Log what happens in detail");
  app.set_version_flag("-V,--version", "muster-noded " PACKAGE_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) { return app.exit(error) == 0 ? 0 : exit_wrong_config; }
  if (options.verbose) sys::set_log_level(LogLevel::debug);

  auto config = load_node_config(options.config);
  if (!config) {
    std::cerr << config.error().message << "\n";
    return exit_wrong_config;
  }
  if (options.check_config) {
    std::cout << options.config << ": ok\n";
    return 0;
  }
  return serve(options, std::move(*config));
}

}  // namespace
}  // namespace muster::noded

int main(int argc, char** argv) { return muster::noded::run(argc, argv); }
