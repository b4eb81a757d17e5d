// SPDX-License-Identifier: GPL-2.0-or-later
#include "musterd/settings.hpp"

#include <algorithm>
#include <array>

#include "logic/field_reader.hpp"
#include "logic/node_messages.hpp"

namespace muster::musterd {

using logic::FieldReader;
using logic::KeyInfo;
using logic::Problems;
using logic::Result;
using logic::Value;

const std::vector<KeyInfo>& settings_keys() {
  static const std::vector<KeyInfo> keys{
      {"musterd", "state_directory", "path", "/var/lib/muster", "where the ledger is kept; owned by SlurmUser"},
      {"musterd", "run_directory", "path", "/run/muster", "where the socket and the gate table are made"},
      {"musterd", "socket", "path", "RUN_DIRECTORY/musterd.sock", "the local socket"},
      {"musterd", "gate_table", "path", "RUN_DIRECTORY/gate-table", "the file that the Slurm plugins read"},
      {"musterd", "listen_address", "text", "0.0.0.0",
       "numeric address for nodes and operators elsewhere; empty for none"},
      {"musterd", "port", "port", "6820", "TCP port"},
      {"musterd", "munge_socket", "path", "munge's default", "munged's socket"},
      {"musterd", "slurm_conf", "path", "Slurm's default", "slurm.conf"},
      {"musterd", "node_file", "path", "/etc/slurm/muster-nodes.conf",
       "the include file of slurm.conf for groups with registration: slurm_conf"},
      {"musterd", "slurm_helper", "path", "LIBEXECDIR/muster/muster-slurm", "the program that talks with slurmctld"},
      {"musterd", "conf_server", "text", "auto", "what nodes give slurmd as --conf-server: auto, none, or HOST:PORT"},
      {"musterd", "pass_interval", "duration", "2 s", "how often Slurm is looked at when nothing happens"},
      {"musterd", "slurm_timeout", "duration", "30 s", "a call to slurmctld that takes longer is given up"},
      {"musterd", "event_keep", "count", "10000", "events kept, at most"},
      {"musterd", "event_age", "duration", "30 d", "events are kept no longer than this"},
      {"musterd", "log_level", "text", "info", "err, warning, notice, info or debug"},
  };
  return keys;
}

Result<Settings> parse_settings(const Value& document, const std::string& file_name) {
  Problems problems(file_name);
  Settings settings;
  static const Value no_keys = Value::map();
  if (!document.is_map() && !document.is_null()) {
    problems.add(document.place, "expected a map of settings, found " + logic::describe(document));
    return problems.error();
  }
  FieldReader reader(document.is_map() ? document : no_keys, "musterd", problems);
  settings.state_directory = reader.text("state_directory", settings.state_directory);
  settings.run_directory = reader.text("run_directory", settings.run_directory);
  settings.socket = reader.text("socket", settings.run_directory + "/musterd.sock");
  settings.gate_table = reader.text("gate_table", settings.run_directory + "/gate-table");
  settings.listen_address = reader.text("listen_address", settings.listen_address);
  settings.port = static_cast<int>(reader.count("port", settings.port, 1, 65535));
  settings.munge_socket = reader.text("munge_socket", settings.munge_socket);
  settings.slurm_conf = reader.text("slurm_conf", settings.slurm_conf);
  settings.node_file = reader.text("node_file", settings.node_file);
  settings.slurm_helper = reader.text("slurm_helper", settings.slurm_helper);
  settings.conf_server = reader.text("conf_server", settings.conf_server);
  settings.pass_interval = reader.duration("pass_interval", settings.pass_interval);
  settings.slurm_timeout = reader.duration("slurm_timeout", settings.slurm_timeout);
  settings.event_keep = static_cast<int>(reader.count("event_keep", settings.event_keep, 100, 1'000'000));
  settings.event_age = reader.duration("event_age", settings.event_age);
  settings.log_level = reader.text("log_level", settings.log_level);
  for (const char* key : {"state_directory", "run_directory", "socket", "gate_table", "slurm_helper", "slurm_conf",
                          "munge_socket", "node_file"}) {
    const Value* given = document.find(key);
    if (given && given->as_text() && (given->as_text()->empty() || given->as_text()->front() != '/')) {
      problems.add(given->place,
                   std::string("musterd: ") + key + ": expected an absolute path, found " + logic::describe(*given));
    }
  }
  if (settings.pass_interval < std::chrono::milliseconds{100})
    problems.add(reader.place_of("pass_interval"), "musterd: pass_interval: expected 100 ms or more");
  if (settings.event_age < std::chrono::minutes{1})
    problems.add(reader.place_of("event_age"), "musterd: event_age: expected 1 min or more");
  if (settings.slurm_timeout < std::chrono::seconds{1})
    problems.add(reader.place_of("slurm_timeout"), "musterd: slurm_timeout: expected 1 s or more");
  if (!settings.listen_address.empty() && !logic::is_numeric_address(settings.listen_address)) {
    problems.add(
        reader.place_of("listen_address"),
        "musterd: listen_address: expected a numeric address or nothing, found \"" + settings.listen_address + "\"");
  }
  if (settings.conf_server != "auto" && settings.conf_server != "none" &&
      settings.conf_server.find(':') == std::string::npos) {
    problems.add(reader.place_of("conf_server"),
                 "musterd: conf_server: expected auto, none or HOST:PORT, found \"" + settings.conf_server + "\"");
  }
  constexpr std::array<std::string_view, 5> levels{"err", "warning", "notice", "info", "debug"};
  if (std::find(levels.begin(), levels.end(), settings.log_level) == levels.end()) {
    problems.add(
        reader.place_of("log_level"),
        "musterd: log_level: expected err, warning, notice, info or debug, found \"" + settings.log_level + "\"");
  }
  reader.finish();
  if (!problems.empty()) return problems.error();
  return settings;
}

}  // namespace muster::musterd
