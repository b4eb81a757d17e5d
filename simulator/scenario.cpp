// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulator/scenario.hpp"

#include <algorithm>
#include <memory>

#include "logic/field_reader.hpp"
#include "logic/hostlist.hpp"

namespace muster::simulator {

using logic::Done;
using logic::Duration;
using logic::FieldReader;
using logic::GroupName;
using logic::GroupSpec;
using logic::NodeName;
using logic::Problems;
using logic::Status;
using logic::Value;

namespace {

constexpr std::int64_t most_copies = 100;
constexpr std::int64_t most_repeats = 10000;

// ---- Small readers ----

/// "5 s" or "2 s to 10 s".
Spread read_spread(FieldReader& reader, const char* key, Spread fallback, const std::string& title,
                   Problems& problems) {
  const std::string text = reader.text(key, "");
  if (text.empty()) return fallback;
  const std::size_t to = text.find(" to ");
  const auto low = logic::parse_duration(text.substr(0, to));
  const auto high = to == std::string::npos ? low : logic::parse_duration(text.substr(to + 4));
  if (low && high && *low <= *high) return {*low, *high};
  problems.add(reader.place_of(key),
               title + ": " + key + ": expected a duration or two (90 s to 4 min), found \"" + text + "\"");
  return fallback;
}

std::vector<NodeName> read_names(FieldReader& reader, const std::string& title, Problems& problems) {
  std::vector<NodeName> names;
  for (const std::string& text : reader.texts("nodes")) {
    auto expanded = logic::expand_names(text);
    if (!expanded) {
      problems.add(reader.place_of("nodes"), title + ": nodes: " + expanded.error().message);
      continue;
    }
    for (std::string& name : *expanded) names.emplace_back(std::move(name));
  }
  if (names.empty())
    problems.add(reader.place_of("nodes"), title + ": nodes: expected names of nodes (gpu-[1-4]), found none");
  return names;
}

GroupName read_group(FieldReader& reader, const logic::ClusterSpec& cluster, bool required, const std::string& title,
                     Problems& problems) {
  const GroupName group{required ? reader.required_text("group") : reader.text("group", "")};
  if (!group.empty() && !cluster.find_group(group))
    problems.add(reader.place_of("group"),
                 title + ": group: expected one of instance_groups, found \"" + group.str() + "\"");
  return group;
}

std::optional<int> optional_count(FieldReader& reader, const char* key) {
  if (!reader.has(key)) return std::nullopt;
  return static_cast<int>(reader.count(key, 0, 0, 1'000'000));
}

// ---- behaviour ----

/// What one entry of "behaviour" sets; the rest stays as it was.
struct BehaviourChange {
  std::string provider;
  GroupName group;
  std::string type;
  std::vector<std::function<void(LaunchBehaviour&)>> launching;
  std::vector<std::function<void(ServiceBehaviour&)>> service;
};

void read_launching(FieldReader& reader, const std::string& title, BehaviourChange& change, Problems& problems) {
  const auto set = [&](const char* key, auto value, auto member) {
    if (reader.has(key)) change.launching.emplace_back([value, member](LaunchBehaviour& to) { to.*member = value; });
  };
  const auto part = [&](const char* key, double LaunchBehaviour::*member) {
    set(key, reader.real(key, 0, 0, 1), member);
  };
  set("launch_time", read_spread(reader, "launch_time", {}, title, problems), &LaunchBehaviour::launch_time);
  set("boot_time", read_spread(reader, "boot_time", {}, title, problems), &LaunchBehaviour::boot_time);
  set("supply_interval", reader.duration("supply_interval", Duration{0}), &LaunchBehaviour::supply_interval);
  set("hangs", reader.flag("hangs", false), &LaunchBehaviour::hangs);
  set("capacity", optional_count(reader, "capacity"), &LaunchBehaviour::capacity);
  set("failure",
      reader.choice<logic::FailureClass>("failure", logic::FailureClass::transient,
                                         {{"capacity", logic::FailureClass::capacity},
                                          {"quota", logic::FailureClass::quota},
                                          {"configuration", logic::FailureClass::configuration},
                                          {"transient", logic::FailureClass::transient}}),
      &LaunchBehaviour::failure);
  part("fails", &LaunchBehaviour::fails);
  part("never_boots", &LaunchBehaviour::never_boots);
  part("lacks_devices", &LaunchBehaviour::lacks_devices);
  part("is_rejected", &LaunchBehaviour::is_rejected);
  part("slurmd_ends", &LaunchBehaviour::slurmd_ends);
  set("machine_life_hours", reader.real("machine_life_hours", 0, 0, 1e6), &LaunchBehaviour::machine_life_hours);
}

void read_service(FieldReader& reader, BehaviourChange& change) {
  const auto set = [&](const char* key, auto value, auto member) {
    if (reader.has(key)) change.service.emplace_back([value, member](ServiceBehaviour& to) { to.*member = value; });
  };
  set("quota", optional_count(reader, "quota"), &ServiceBehaviour::quota);
  set("list_omits", reader.real("list_omits", 0, 0, 1), &ServiceBehaviour::list_omits);
  set("list_is_empty", reader.flag("list_is_empty", false), &ServiceBehaviour::list_is_empty);
  set("list_fails", reader.real("list_fails", 0, 0, 1), &ServiceBehaviour::list_fails);
  set("terminate_fails", reader.real("terminate_fails", 0, 0, 1), &ServiceBehaviour::terminate_fails);
  set("refuses_reboot", reader.flag("refuses_reboot", false), &ServiceBehaviour::refuses_reboot);
}

void apply_change(World& world, const BehaviourChange& change) {
  for (const GroupSpec& group : world.spec().groups) {
    if (!change.group.empty() && group.name != change.group) continue;
    if (!change.provider.empty() && group.provider != change.provider) continue;
    const std::vector<std::string> only{""};
    for (const std::string& type : group.instance_types.empty() ? only : group.instance_types) {
      if (!change.type.empty() && type != change.type) continue;
      LaunchBehaviour& behaviour = world.provider(group.provider).towards(group.name, type);
      for (const auto& set : change.launching) set(behaviour);
    }
  }
  for (const auto& [name, provider] : world.providers()) {
    if (!change.provider.empty() && name != change.provider) continue;
    for (const auto& set : change.service) set(provider->service());
  }
}

/// The keys of an entry that say something, for people: "capacity 0, hangs true".
std::string words_of(const Value& entry) {
  std::string words;
  for (const auto& [key, value] : entry.members()) {
    if (key == "at") continue;
    std::string text = value.as_text() ? *value.as_text() : describe(value);
    words += (words.empty() ? "" : ", ") + key + " " + text;
  }
  return words;
}

void read_behaviour(const Value& entry, const std::string& title, Scenario& scenario, Problems& problems) {
  if (!entry.is_map()) return problems.add(entry.place, title + ": expected a map, found " + describe(entry));
  FieldReader reader(entry, title, problems);
  auto change = std::make_shared<BehaviourChange>();
  ScenarioStep step;
  step.at = reader.duration("at", Duration{0});
  change->provider = reader.text("provider", "");
  if (!change->provider.empty() && scenario.cluster.providers.count(change->provider) == 0)
    problems.add(reader.place_of("provider"),
                 title + ": provider: expected one of providers, found \"" + change->provider + "\"");
  change->group = read_group(reader, scenario.cluster, false, title, problems);
  change->type = reader.text("type", "");
  read_launching(reader, title, *change, problems);
  read_service(reader, *change);
  reader.finish();
  if (step.at.count() > 0) step.text = "the provider: " + words_of(entry);
  step.act = [change](World& world) -> Status {
    apply_change(world, *change);
    return Done{};
  };
  scenario.steps.push_back(std::move(step));
}

// ---- acts ----

using Act = std::function<Status(World&)>;

Act command(logic::Command what) {
  return [what = std::move(what)](World& world) { return world.head().run_command(what); };
}

/// An act that cannot be refused.
template <typename Do>
Act simply(Do what) {
  return [what](World& world) -> Status {
    what(world);
    return Done{};
  };
}

class ActReader {
 public:
  ActReader(FieldReader& reader, const logic::ClusterSpec& cluster, std::string title, Problems& problems)
      : reader_(reader), cluster_(cluster), title_(std::move(title)), problems_(problems) {}

  Act read(const std::string& what) {
    struct Kind {
      const char* name;
      Act (ActReader::*read)();
    };
    static constexpr Kind kinds[] = {{"scale", &ActReader::scale},
                                     {"add", &ActReader::add},
                                     {"remove", &ActReader::remove},
                                     {"replace", &ActReader::replace},
                                     {"reboot", &ActReader::reboot},
                                     {"open", &ActReader::open},
                                     {"delete", &ActReader::delete_group},
                                     {"delete-cluster", &ActReader::delete_cluster},
                                     {"resync", &ActReader::resync},
                                     {"drain", &ActReader::drain},
                                     {"down", &ActReader::down},
                                     {"resume", &ActReader::resume},
                                     {"resume-all", &ActReader::resume_all},
                                     {"delete-records", &ActReader::delete_records},
                                     {"reserve", &ActReader::reserve},
                                     {"unreserve", &ActReader::unreserve},
                                     {"slurmctld-restart", &ActReader::slurmctld_restart},
                                     {"slurmctld-clear", &ActReader::slurmctld_clear},
                                     {"musterd-crash", &ActReader::musterd_crash},
                                     {"machines-die", &ActReader::machines_die},
                                     {"machines-cut-off", &ActReader::machines_cut_off},
                                     {"machines-reached", &ActReader::machines_reached}};
    std::string known;
    for (const Kind& kind : kinds) {
      if (what == kind.name) return (this->*kind.read)();
      known += (known.empty() ? "" : ", ") + std::string(kind.name);
    }
    if (!what.empty())
      problems_.add(reader_.place_of("do"), title_ + ": do: expected one of " + known + ", found \"" + what + "\"");
    return {};
  }

 private:
  GroupName group() { return read_group(reader_, cluster_, true, title_, problems_); }
  std::vector<NodeName> names() { return read_names(reader_, title_, problems_); }
  Duration away(Duration fallback) { return reader_.duration("away", fallback); }

  Act scale() {
    const GroupName of = group();
    const auto target = optional_count(reader_, "target");
    return command(logic::ScaleGroup{of, target, optional_count(reader_, "min")});
  }
  Act add() {
    const GroupName to = group();
    return command(logic::AddNodes{to, static_cast<int>(reader_.required_count("count", 1, 1'000'000))});
  }
  Act remove() { return command(logic::RemoveNodes{names()}); }
  Act replace() { return command(logic::ReplaceNodes{names()}); }
  Act reboot() { return command(logic::RebootNodes{names()}); }
  Act open() { return command(logic::OpenGroup{group()}); }
  Act delete_group() { return command(logic::DeleteGroup{group()}); }
  Act delete_cluster() { return command(logic::DeleteCluster{}); }
  Act resync() { return command(logic::RetryNow{}); }

  Act drain() {
    auto nodes = names();
    return simply(
        [nodes, reason = reader_.required_text("reason")](World& world) { world.admin_drains(nodes, reason); });
  }
  Act down() {
    auto nodes = names();
    return simply(
        [nodes, reason = reader_.required_text("reason")](World& world) { world.admin_downs(nodes, reason); });
  }
  Act resume() {
    return simply([nodes = names()](World& world) { world.admin_resumes(nodes); });
  }
  Act resume_all() {
    return simply([](World& world) { world.admin_resumes_all(); });
  }
  Act delete_records() {
    return simply([nodes = names()](World& world) { world.admin_deletes(nodes); });
  }
  Act reserve() {
    auto nodes = names();
    return simply(
        [nodes, name = reader_.text("name", "maintenance")](World& world) { world.slurm().reserve(name, nodes); });
  }
  Act unreserve() {
    return simply([name = reader_.text("name", "maintenance")](World& world) { world.slurm().unreserve(name); });
  }
  Act slurmctld_restart() {
    const Duration for_so_long = away(std::chrono::seconds{5});
    const Duration forgets = reader_.duration("forgets", Duration{0});
    return simply([for_so_long, forgets](World& world) { world.slurmctld_restarts(for_so_long, forgets); });
  }
  Act slurmctld_clear() {
    return simply([](World& world) { world.slurmctld_loses_records(); });
  }
  Act musterd_crash() {
    return simply([for_so_long = away(std::chrono::seconds{5})](World& world) { world.head().die(for_so_long); });
  }
  Act machines_die() {
    return on_machines([](World& world, Machine& machine) { world.machine_dies(machine.origin().id); });
  }
  Act machines_cut_off() {
    return on_machines([](World&, Machine& machine) { machine.cut_off(true); });
  }
  Act machines_reached() {
    return on_machines([](World&, Machine& machine) { machine.cut_off(false); });
  }
  Act on_machines(void (*what)(World&, Machine&)) {
    return simply([nodes = names(), what](World& world) {
      for (const NodeName& name : nodes) {
        if (Machine* machine = world.machine_behind(name)) what(world, *machine);
      }
    });
  }

  FieldReader& reader_;
  const logic::ClusterSpec& cluster_;
  const std::string title_;
  Problems& problems_;
};

void read_act(const Value& entry, const std::string& title, Scenario& scenario, Problems& problems) {
  if (!entry.is_map()) return problems.add(entry.place, title + ": expected a map, found " + describe(entry));
  FieldReader reader(entry, title, problems);
  ScenarioStep step;
  step.at = reader.duration("at", Duration{0});
  const std::string what = reader.required_text("do");
  step.act = ActReader(reader, scenario.cluster, title, problems).read(what);
  if (step.act) reader.finish();
  step.text = words_of(entry);
  scenario.steps.push_back(std::move(step));
}

// ---- jobs ----

void read_job(const Value& entry, const std::string& title, Scenario& scenario, Problems& problems) {
  if (!entry.is_map()) return problems.add(entry.place, title + ": expected a map, found " + describe(entry));
  FieldReader reader(entry, title, problems);
  JobWish wish;
  const Duration at = reader.duration("at", Duration{0});
  wish.partition = logic::PartitionName{reader.required_text("partition")};
  wish.nodes = static_cast<int>(reader.count("nodes", 1, 1, 1'000'000));
  wish.features = reader.text("constraint", "");
  wish.run_time = reader.duration("run_time", wish.run_time);
  const std::int64_t times = reader.count("times", 1, 1, most_repeats);
  const Duration every = reader.duration("every", Duration{0});
  reader.finish();
  const auto& groups = scenario.cluster.groups;
  const bool is_fed = std::any_of(groups.begin(), groups.end(),
                                  [&](const GroupSpec& group) { return group.partition == wish.partition; });
  if (!is_fed && !wish.partition.empty())
    problems.add(reader.place_of("partition"),
                 title + ": partition: expected one that a group feeds, found \"" + wish.partition.str() + "\"");
  for (std::int64_t i = 0; i < times; ++i) {
    ScenarioStep step;
    step.at = at + every * i;
    step.act = [wish](World& world) -> Status {
      if (world.slurm().submit(wish) == 0)
        return logic::reject_error("a job of " + std::to_string(wish.nodes) + " nodes is refused at submission");
      return Done{};
    };
    scenario.steps.push_back(std::move(step));
  }
}

// ---- The file ----

/// The part that cluster.yaml has too. A scenario needs no program to launch machines with.
Value cluster_part(const Value& document, std::int64_t copies) {
  Value cluster = Value::map();
  cluster.place = document.place;
  for (const auto& [key, value] : document.members()) {
    if (key == "simulate" || key == "title") continue;
    if (key == "providers" && value.is_map()) {
      Value providers = Value::map();
      providers.place = value.place;
      for (const auto& [name, provider] : value.members()) {
        Value whole = provider.is_null() ? Value::map() : provider;
        if (whole.is_map() && !whole.find("type")) whole.set("type", "exec");
        if (whole.is_map() && whole.text_or("type") == "exec" && !whole.find("program"))
          whole.set("program", "/simulated");
        providers.set(name, std::move(whole));
      }
      cluster.set(key, std::move(providers));
    } else if (key == "instance_groups" && copies > 1) {
      Value groups = Value::list();
      groups.place = value.place;
      for (const Value& group : value.items()) {
        for (std::int64_t copy = 1; copy <= copies; ++copy) {
          Value made = group;
          if (made.is_map() && made.find("name")) made.set("name", made.text_or("name") + std::to_string(copy));
          groups.push(std::move(made));
        }
      }
      cluster.set(key, std::move(groups));
    } else {
      cluster.set(key, value);
    }
  }
  return cluster;
}

void read_list(FieldReader& reader, const char* key, Scenario& scenario, Problems& problems,
               void (*read)(const Value&, const std::string&, Scenario&, Problems&)) {
  const Value* list = reader.list(key, false);
  if (!list) return;
  for (std::size_t index = 0; index < list->items().size(); ++index)
    read(list->items()[index], "simulate: " + std::string(key) + "[" + std::to_string(index) + "]", scenario, problems);
}

void check_registration(const Scenario& scenario, Problems& problems) {
  for (const GroupSpec& group : scenario.cluster.groups) {
    if (group.registration == logic::Registration::dynamic) continue;
    problems.add(group.place,
                 "group " + group.name.str() + ": registration: expected dynamic, since no other one is simulated");
  }
}

void read_simulate(FieldReader& reader, Scenario& scenario, Problems& problems) {
  scenario.duration = reader.duration("duration", scenario.duration);
  scenario.ends_when_there = reader.flag("ends_when_there", scenario.ends_when_there);
  scenario.settings.seed = static_cast<std::uint64_t>(reader.count("seed", 1, 0, 1'000'000'000));
  SlurmSettings& slurm = scenario.settings.slurm;
  slurm.version = reader.choice<SlurmVersion>(
      "slurm", slurm.version,
      {{"22.05", SlurmVersion::v22_05}, {"24.11", SlurmVersion::v24_11}, {"26.05", SlurmVersion::v26_05}});
  slurm.max_node_count = static_cast<int>(reader.count("max_node_count", slurm.max_node_count, 0, 1'000'000));
  slurm.slurmd_timeout = reader.duration("slurmd_timeout", slurm.slurmd_timeout);
  HeadSettings& head = scenario.settings.head;
  head.pass_interval = reader.duration("pass_interval", head.pass_interval);
  head.call_time = reader.duration("slurm_call_time", std::chrono::milliseconds{2});
  head.record_time = reader.duration("slurm_time_per_1000_nodes", std::chrono::milliseconds{10});
  if (head.pass_interval < std::chrono::milliseconds{100})
    problems.add(reader.place_of("pass_interval"), "simulate: pass_interval: expected 100 ms or more");
  read_list(reader, "behaviour", scenario, problems, read_behaviour);
  read_list(reader, "acts", scenario, problems, read_act);
  read_list(reader, "jobs", scenario, problems, read_job);
}

}  // namespace

const std::vector<logic::KeyInfo>& scenario_file_keys() {
  static const std::vector<logic::KeyInfo> keys{
      {"scenario", "title", "text", "none", "one sentence about it"},
      {"scenario", "simulate", "map", "required", "what happens to the cluster"},
      {"simulate", "duration", "duration", "1 h", "how long it goes on at most"},
      {"simulate", "ends_when_there", "flag", "true", "it ends as soon as all acts are over and everything is there"},
      {"simulate", "seed", "count", "1", "of chance: the same seed gives the same run"},
      {"simulate", "copies", "count", "1", "each group is made so often, as NAME1, NAME2 and so on"},
      {"simulate", "slurm", "text", "24.11", "\"22.05\", \"24.11\" or \"26.05\": whose habits"},
      {"simulate", "max_node_count", "count", "1000000", "MaxNodeCount of slurm.conf"},
      {"simulate", "slurmd_timeout", "duration", "5 min", "SlurmdTimeout of slurm.conf"},
      {"simulate", "pass_interval", "duration", "2 s", "pass_interval of musterd.yaml"},
      {"simulate", "slurm_call_time", "duration", "2 ms", "how long a call of slurmctld takes"},
      {"simulate", "slurm_time_per_1000_nodes", "duration", "10 ms",
       "and how much more for every thousand nodes in it"},
      {"simulate", "behaviour", "list", "none", "how providers behave, from a time on"},
      {"simulate", "acts", "list", "none", "what operators, admins and fate do, at a time"},
      {"simulate", "jobs", "list", "none", "what is submitted, at a time"},
      {"behaviour", "at", "duration", "0 s", "from then on"},
      {"behaviour", "provider", "text", "all", "which provider"},
      {"behaviour", "group", "text", "all", "towards which group"},
      {"behaviour", "type", "text", "all", "for which of instance_types"},
      {"behaviour", "launch_time", "durations", "1 s to 3 s", "until a launch is answered"},
      {"behaviour", "boot_time", "durations", "1 min to 2 min", "until muster-noded runs"},
      {"behaviour", "capacity", "count", "none", "machines at once for the group and type"},
      {"behaviour", "supply_interval", "duration", "0 s", "a machine is to be had once in so long"},
      {"behaviour", "fails", "part", "0", "the part of launches that fail, 0 to 1"},
      {"behaviour", "failure", "text", "transient", "as what: capacity, quota, configuration or transient"},
      {"behaviour", "hangs", "flag", "false", "launches are never answered"},
      {"behaviour", "never_boots", "part", "0", "the part of machines of which nothing is ever heard"},
      {"behaviour", "lacks_devices", "part", "0", "the part of machines that fail muster-noded's checks"},
      {"behaviour", "is_rejected", "part", "0", "the part of machines whose registration Slurm rejects"},
      {"behaviour", "slurmd_ends", "part", "0", "the part of machines whose slurmd ends at once"},
      {"behaviour", "machine_life_hours", "number", "0", "mean life of a machine; 0 = for ever"},
      {"behaviour", "quota", "count", "none", "machines of the provider at once"},
      {"behaviour", "list_omits", "part", "0", "each machine is missing from a list with this probability"},
      {"behaviour", "list_is_empty", "flag", "false", "lists are empty"},
      {"behaviour", "list_fails", "part", "0", "the part of lists that fail"},
      {"behaviour", "terminate_fails", "part", "0", "the part of terminations that fail"},
      {"behaviour", "refuses_reboot", "flag", "false", "machines cannot be rebooted"},
      {"act", "at", "duration", "0 s", "when"},
      {"act", "do", "text", "required", "what; see ACTS"},
      {"act", "group", "text", "by do", "the group"},
      {"act", "nodes", "list", "by do", "names of nodes, as in gpu-[1-4]"},
      {"act", "target", "count", "as it is", "with scale"},
      {"act", "min", "count", "as it is", "with scale"},
      {"act", "count", "count", "required", "with add"},
      {"act", "reason", "text", "required", "with drain and down"},
      {"act", "name", "text", "maintenance", "with reserve and unreserve"},
      {"act", "away", "duration", "5 s", "with slurmctld-restart and musterd-crash: for how long"},
      {"act", "forgets", "duration", "0 s", "with slurmctld-restart: what was done within that time before"},
      {"job", "at", "duration", "0 s", "when"},
      {"job", "partition", "text", "required", "where"},
      {"job", "nodes", "count", "1", "how many it needs"},
      {"job", "constraint", "text", "none", "a feature that its nodes need"},
      {"job", "run_time", "duration", "10 min", "how long it runs"},
      {"job", "times", "count", "1", "how often it is submitted"},
      {"job", "every", "duration", "0 s", "and in which interval"},
  };
  return keys;
}

logic::Result<Scenario> parse_scenario(const Value& document, const std::string& file_name) {
  Problems problems(file_name);
  if (!document.is_map()) {
    problems.add(document.place,
                 "expected a map with cluster, providers, instance_groups and simulate, found " + describe(document));
    return problems.error();
  }
  const Value* simulate = document.find("simulate");
  if (!simulate || !simulate->is_map()) {
    problems.add(
        simulate ? simulate->place : document.place,
        "simulate: expected a map, found " + (simulate ? describe(*simulate) : "nothing (the key is required)"));
    return problems.error();
  }
  FieldReader reader(*simulate, "simulate", problems);
  const std::int64_t copies = reader.count("copies", 1, 1, most_copies);
  auto cluster = logic::parse_cluster_spec(cluster_part(document, copies), file_name, "/");
  if (!cluster) return cluster.error();
  Scenario scenario;
  scenario.title = document.text_or("title");
  scenario.cluster = *std::move(cluster);
  check_registration(scenario, problems);
  read_simulate(reader, scenario, problems);
  reader.finish();
  if (!problems.empty()) return problems.error();
  std::stable_sort(scenario.steps.begin(), scenario.steps.end(),
                   [](const ScenarioStep& a, const ScenarioStep& b) { return a.at < b.at; });
  return scenario;
}

}  // namespace muster::simulator
