// SPDX-License-Identifier: GPL-2.0-or-later
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "musterd/api.hpp"
#include "musterd/head.hpp"
#include "musterd/settings.hpp"
#include "sys/digest.hpp"
#include "sys/event_loop.hpp"
#include "sys/files.hpp"
#include "sys/http_server.hpp"
#include "sys/service_link.hpp"
#include "sys/yaml.hpp"

namespace {

using namespace muster;
using sys::log;
using sys::LogLevel;

constexpr int exit_wrong_config = 2;  ///< trying again does not help: see RestartPreventExitStatus= in the unit

logic::Result<musterd::Settings> load_settings(const std::string& path, bool path_was_given) {
  if (!path_was_given && ::access(path.c_str(), F_OK) != 0) return musterd::parse_settings({}, path);
  auto text = sys::read_file(path);
  if (!text) return text.error();
  auto document = sys::parse_yaml(*text, path);
  if (!document) return document.error();
  return musterd::parse_settings(*document, path);
}

LogLevel level_of(const std::string& name) {
  if (name == "err") return LogLevel::err;
  if (name == "warning") return LogLevel::warning;
  if (name == "notice") return LogLevel::notice;
  return name == "debug" ? LogLevel::debug : LogLevel::info;
}

int run(const musterd::Settings& settings, const std::string& config_path) {
  const auto fail = [](const char* what, const logic::Error& error) {
    log(LogLevel::err, what, {{"error", error.message}});
    return 1;
  };
  auto loop = sys::EventLoop::create();
  if (!loop) return fail("start", loop.error());
  sys::EventLoop& events = **loop;
  const auto signals = events.on_signals({SIGTERM, SIGINT}, [&](int signal) {
    log(LogLevel::info, "stop", {{"signal", std::to_string(signal)}});
    sys::notify_stopping("stopping");
    events.stop();
  });
  if (!signals) return fail("start", signals.error());
  if (auto made = sys::make_directories(settings.run_directory, 0755); !made) return fail("start", made.error());
  auto head = musterd::Head::create(events, settings);
  if (!head) return fail("ledger", head.error());
  musterd::Api api(events, **head);

  sys::HttpServerSettings http;
  http.socket_path = settings.socket;
  http.listen_address = settings.listen_address;
  http.port = static_cast<std::uint16_t>(settings.port);
  http.munge_socket = settings.munge_socket;
  auto server = sys::HttpServer::start(events, http, [&api](sys::HttpRequest request, sys::Responder respond) {
    api.handle(std::move(request), std::move(respond));
  });
  if (!server) return fail("listen", server.error());

  log(LogLevel::info, "start",
      {{"version", PACKAGE_VERSION},
       {"config", config_path},
       {"socket", settings.socket},
       {"listen", settings.listen_address + ":" + std::to_string(settings.port)}});
  (*head)->start();
  sys::notify_ready("serving at " + settings.socket);
  const auto ended = events.run();
  server->reset();
  return ended ? 0 : fail("loop", ended.error());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "musterd: the head daemon of muster. Keeps instance groups, launches machines, opens gates, releases jobs."};
  std::string config_path = MUSTER_SYSCONFDIR "/musterd.yaml";
  bool check_only = false;
  const CLI::Option* config_option = app.add_option("--config", config_path, "settings file (musterd.yaml(5))");
  app.add_flag("--check-config", check_only, "check the settings file and exit");
  app.set_version_flag("--version", std::string("musterd " PACKAGE_VERSION));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) { return app.exit(error) == 0 ? 0 : exit_wrong_config; }

  const auto settings = load_settings(config_path, config_option->count() > 0 || check_only);
  if (!settings) {
    std::cerr << settings.error().message << "\n";
    return exit_wrong_config;
  }
  if (check_only) {
    std::cout << config_path << ": good\n";
    return 0;
  }
  sys::set_log_level(level_of(settings->log_level));
  return run(*settings, config_path);
}
