// SPDX-License-Identifier: GPL-2.0-or-later
#include "noded/node_config.hpp"

#include <algorithm>

#include "logic/field_reader.hpp"
#include "sys/files.hpp"
#include "sys/yaml.hpp"

namespace muster::noded {
namespace {

using logic::Duration;
using logic::FieldReader;
using logic::Problems;
using logic::Result;
using logic::Value;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* default_state_directory = MUSTER_STATEDIR "-noded";
constexpr const char* default_run_directory = MUSTER_RUNDIR "-noded";
constexpr const char* default_identity_file = MUSTER_SYSCONFDIR "/instance-id";

/// Reads one key after another of one map and adds what only noded.yaml asks for.
class ConfigReader {
 public:
  ConfigReader(const Value& map, const std::string& title, Problems& problems)
      : fields(map, title, problems), title_(title), problems_(problems) {}

  void problem(std::string_view key, const std::string& text) {
    problems_.add(fields.place_of(key), title_ + ": " + std::string(key) + ": " + text);
  }

  std::string path(std::string_view key, const std::string& fallback) {
    std::string text = fields.text(key, fallback);
    if (!text.empty() && text.front() != '/') problem(key, "expected an absolute path, found \"" + text + "\"");
    return text;
  }

  Duration duration(std::string_view key, Duration fallback, Duration low, Duration high) {
    const Duration found = fields.duration(key, fallback);
    if (found >= low && found <= high) return found;
    problem(key, "expected " + logic::duration_text(low) + " to " + logic::duration_text(high) + ", found " +
                     logic::duration_text(found));
    return fallback;
  }

  FieldReader fields;

 private:
  std::string title_;
  Problems& problems_;
};

bool is_server_url(const std::string& url) {
  for (const std::string start : {"http://", "https://"}) {
    if (url.rfind(start, 0) == 0 && url.size() > start.size()) return true;
  }
  return url.rfind("unix:/", 0) == 0;
}

void read_servers(ConfigReader& reader, NodeConfig& config) {
  config.servers = reader.fields.texts("server");
  if (config.servers.empty()) {
    reader.problem("server", "expected one or more URLs such as http://head:6820, found nothing (the key is required)");
  }
  for (const std::string& url : config.servers) {
    if (!is_server_url(url)) {
      reader.problem("server", "expected http://HOST:PORT, https://HOST:PORT or unix:/PATH, found \"" + url + "\"");
    }
  }
}

void read_identity(ConfigReader& top, Problems& problems, NodeConfig& config) {
  static const Value empty = Value::map();
  const Value* map = top.fields.map("identity", false);
  ConfigReader reader(map ? *map : empty, "identity", problems);
  std::vector<std::string> sources = reader.fields.texts("sources");
  if (sources.empty()) sources = {"file", "hostname"};
  for (const std::string& source : sources) {
    if (source == "file") {
      config.identity_sources.push_back(IdentitySource::file);
    } else if (source == "hostname") {
      config.identity_sources.push_back(IdentitySource::hostname);
    } else {
      reader.problem("sources", "expected file or hostname, found \"" + source + "\"");
    }
  }
  config.identity_file = reader.path("file", default_identity_file);
  reader.fields.finish();
}

void read_device_patterns(ConfigReader& top, NodeConfig& config) {
  config.device_patterns = {{"gpu", "/dev/nvidia[0-9]*"}};
  const Value* map = top.fields.map("device_pattern", false);
  if (!map) return;
  for (const auto& [gres, pattern] : map->members()) {
    const std::string* text = pattern.as_text();
    if (!text || text->empty() || text->front() != '/') {
      top.problem("device_pattern", gres + ": expected an absolute path with * and [..], found " + describe(pattern));
      continue;
    }
    config.device_patterns[gres] = *text;
  }
}

void read_slurmd(ConfigReader& top, Problems& problems, NodeConfig& config) {
  static const Value empty = Value::map();
  const Value* map = top.fields.map("slurmd", false);
  ConfigReader reader(map ? *map : empty, "slurmd", problems);
  config.slurmd_program = reader.path("program", "/usr/sbin/slurmd");
  const std::string by = reader.fields.text("start", "auto");
  if (by == "auto") {
    config.slurmd_by = SlurmdBy::automatic;
  } else if (by == "systemd") {
    config.slurmd_by = SlurmdBy::systemd;
  } else if (by == "child") {
    config.slurmd_by = SlurmdBy::child;
  } else {
    reader.problem("start", "expected auto, systemd or child, found \"" + by + "\"");
  }
  config.slurmd_unit = reader.fields.text("unit", "slurmd.service");
  const std::string suffix = ".service";
  const std::string& unit = config.slurmd_unit;
  if (unit.size() <= suffix.size() || unit.compare(unit.size() - suffix.size(), suffix.size(), suffix) != 0 ||
      unit.find('/') != std::string::npos) {
    reader.problem("unit", "expected a name that ends in .service, found \"" + unit + "\"");
  }
  config.conf_server = reader.fields.text("conf_server", "");
  config.slurmd_arguments = reader.fields.texts("arguments");
  reader.fields.finish();
}

}  // namespace

const std::vector<logic::KeyInfo>& node_file_keys() {
  static const std::vector<logic::KeyInfo> keys = {
      {"node", "server", "list", "required", "URLs of musterd, tried in turn"},
      {"node", "identity", "map", "", "how the machine finds out which instance it is"},
      {"node", "node_name", "text", "", "the node name asked for; musterd decides"},
      {"node", "address", "text", "", "numeric address by which the head reaches this node"},
      {"node", "state_directory", "path", default_state_directory, "what must survive a restart of noded"},
      {"node", "run_directory", "path", default_run_directory, "slurmd's options where systemd starts it"},
      {"node", "munge_socket", "path", "", "munged's socket; default: munge's own"},
      {"node", "head_users", "list", "[root, slurm]", "the users that musterd may run as"},
      {"node", "poll_wait", "duration", "50 s", "how long a request for news waits on the head"},
      {"node", "max_clock_skew", "duration", "30 s", "the most that the clock may differ from the head's"},
      {"node", "check_interval", "duration", "2 s", "time between two rounds of checks while one fails"},
      {"node", "check_patience", "duration", "5 min", "checks failing for longer are reported as failed"},
      {"node", "device_pattern", "map", "gpu: /dev/nvidia[0-9]*", "glob pattern of the device files of each GRES"},
      {"node", "slurmd", "map", "", "how slurmd is started"},
      {"identity", "sources", "list", "[file, hostname]", "tried in this order"},
      {"identity", "file", "path", default_identity_file, "holds the instance id, nothing else"},
      {"slurmd", "program", "path", "/usr/sbin/slurmd", "slurmd itself"},
      {"slurmd", "start", "text", "auto", "auto, systemd or child"},
      {"slurmd", "unit", "text", "slurmd.service", "the unit that systemd starts"},
      {"slurmd", "conf_server", "text", "", "slurmctld to fetch the configuration from; default: what musterd says"},
      {"slurmd", "arguments", "list", "[]", "put before ours"},
  };
  return keys;
}

Result<NodeConfig> parse_node_config(const Value& document, const std::string& file_name) {
  Problems problems(file_name);
  if (!document.is_map()) {
    problems.add(document.place, "expected keys such as \"server: [http://head:6820]\", found " + describe(document));
    return problems.error();
  }
  NodeConfig config;
  ConfigReader reader(document, "noded", problems);
  read_servers(reader, config);
  read_identity(reader, problems, config);
  config.node_name = reader.fields.text("node_name", "");
  config.address = reader.fields.text("address", "");
  config.state_directory = reader.path("state_directory", default_state_directory);
  config.run_directory = reader.path("run_directory", default_run_directory);
  config.munge_socket = reader.path("munge_socket", "");
  config.head_users = reader.fields.texts("head_users");
  if (config.head_users.empty()) config.head_users = {"root", "slurm"};
  config.poll_wait = reader.duration("poll_wait", seconds{50}, seconds{1}, seconds{60});
  config.max_clock_skew = reader.duration("max_clock_skew", seconds{30}, seconds{1}, minutes{5});
  config.check_interval = reader.duration("check_interval", seconds{2}, seconds{1}, minutes{5});
  config.check_patience = reader.duration("check_patience", minutes{5}, seconds{1}, std::chrono::hours{24});
  read_device_patterns(reader, config);
  read_slurmd(reader, problems, config);
  reader.fields.finish();
  if (!problems.empty()) return problems.error();
  return config;
}

Result<NodeConfig> load_node_config(const std::string& path) {
  const auto text = sys::read_file(path);
  if (!text) return text.error();
  const auto document = sys::parse_yaml(*text, path);
  if (!document) return document.error();
  return parse_node_config(*document, path);
}

}  // namespace muster::noded
