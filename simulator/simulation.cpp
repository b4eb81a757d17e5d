// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulator/simulation.hpp"

#include <algorithm>

#include "logic/field_reader.hpp"

namespace muster::simulator {

using logic::Duration;
using logic::GroupName;
using logic::GroupSpec;
using logic::InstanceId;
using logic::no_time;
using logic::NodeName;
using logic::Time;
using logic::to_seconds;
using logic::Value;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr int many_groups = 8;
constexpr Duration longest_wait = minutes{30};
constexpr std::size_t names_told = 200;
/// Above this many nodes the promises that look at each machine in each pass are not checked: that would take longer
/// than the run itself.
constexpr int checked_nodes = 500;

int all_nodes(const logic::ClusterSpec& spec) {
  int nodes = 0;
  for (const GroupSpec& group : spec.groups) nodes += group.target_count;
  return nodes;
}

}  // namespace

// ---- Timeline ----

Timeline::Timeline(const World& world, std::function<void(const TimelineEntry&)> tell)
    : world_(world),
      tell_(std::move(tell)),
      has_many_groups_(world.head().spec().groups.size() > many_groups),
      first_wait_(all_nodes(world.head().spec()) > 100 ? minutes{1} : Duration{seconds{10}}) {}

void Timeline::saw_act(const std::string& text) {
  tell_due(false);
  TimelineEntry entry;
  entry.at = world_.elapsed();
  entry.level = "Act";
  entry.text = text;
  tell_(entry);
}

void Timeline::saw_events(const std::vector<logic::Event>& events) {
  tell_due(false);
  for (const logic::Event& event : events) {
    const bool is_of_cluster = event.group.empty();
    const std::string where = has_many_groups_ || is_of_cluster ? "" : event.group.str();
    Gathered& gathered = gathered_[event.kind + " " + where];
    if (gathered.entry.count == 0 || gathered.entry.kind.empty()) {
      gathered.entry.kind = event.kind;
      gathered.entry.count = 0;
      gathered.nodes.clear();
      gathered.groups.clear();
    }
    gathered.entry.at = world_.elapsed();
    gathered.entry.level = event_level_name(event.level);
    gathered.entry.text = event.text;
    ++gathered.entry.count;
    if (!is_of_cluster) ++gathered.groups[event.group];
    if (!event.node.empty() && gathered.nodes.size() < names_told) gathered.nodes.push_back(event.node);
  }
  tell_due(false);
}

void Timeline::tell_due(bool all) {
  std::vector<Gathered*> due;
  for (auto& [key, gathered] : gathered_) {
    const bool is_quiet = gathered.told_at == no_time || world_.now() >= gathered.told_at + gathered.wait;
    if (gathered.entry.count > 0 && (all || is_quiet)) due.push_back(&gathered);
  }
  std::stable_sort(due.begin(), due.end(),
                   [](const Gathered* a, const Gathered* b) { return a->entry.at < b->entry.at; });
  for (Gathered* gathered : due) tell(*gathered);
}

void Timeline::tell(Gathered& gathered) {
  const Time now = world_.now();
  const bool went_on = gathered.told_at != no_time && now < gathered.told_at + 2 * gathered.wait + first_wait_;
  gathered.wait = went_on ? std::min(gathered.wait * 2, longest_wait) : first_wait_;
  gathered.told_at = now;
  TimelineEntry entry = gathered.entry;
  gathered.entry.count = 0;
  if (gathered.groups.size() == 1) entry.group = gathered.groups.begin()->first.str();
  if (gathered.groups.size() > 1) entry.group = std::to_string(gathered.groups.size()) + " groups";
  std::sort(gathered.nodes.begin(), gathered.nodes.end());
  gathered.nodes.erase(std::unique(gathered.nodes.begin(), gathered.nodes.end()), gathered.nodes.end());
  const bool may_be_named =
      !gathered.nodes.empty() && gathered.groups.size() == 1 && gathered.nodes.size() < names_told;
  std::string words;
  if (may_be_named) words = names_text(gathered.nodes) + ": ";
  if (entry.count > 1) words += std::to_string(entry.count) + " times, the last: ";
  entry.text = words + entry.text;
  tell_(entry);
}

// ---- Tally ----

void Tally::saw_events(const std::vector<logic::Event>& events) {
  for (const logic::Event& event : events) {
    GroupTally& tally = groups_[event.group];
    if (event.kind == "MinCountReached" && tally.min_reached == no_time) tally.min_reached = world_.now();
    if (event.kind == "TargetReached" && tally.target_reached == no_time) tally.target_reached = world_.now();
    if (event.kind == "RollbackStarted") ++tally.rolled_back;
    if (event.kind == "MachineLaunched") machine_of_[event.node] = event.instance;
    const bool is_failure = event.kind == "LaunchFailed" || event.kind == "MachineFailed" ||
                            event.kind == "LaunchUnknown" || event.kind == "RegistrationLost";
    if (!is_failure) continue;
    const auto group = world_.head().ledger().groups.find(event.group);
    if (group == world_.head().ledger().groups.end()) continue;
    for (const logic::SlotRecord& slot : group->second.slots) {
      if (slot.name != event.node) continue;
      const bool is_unknown = event.kind == "LaunchUnknown";
      ++tally.failures[is_unknown ? "unanswered" : std::string(failure_class_name(slot.last_failure))];
      break;
    }
  }
}

void Tally::before_action(const logic::Action& action) {
  if (const auto* terminate = std::get_if<logic::TerminateMachine>(&action)) {
    const Machine* machine = world_.machines().find(terminate->instance);
    if (machine && terminated_.emplace(terminate->instance, true).second) ++groups_[machine->origin().group].terminated;
  }
  if (const auto* reboot = std::get_if<logic::RebootMachine>(&action)) ++groups_[reboot->group].reboots;
}

void Tally::after_action(const logic::Action& action, const logic::Status& outcome) {
  const auto* undrain = std::get_if<logic::UndrainNodes>(&action);
  if (!undrain || !outcome) return;
  for (const NodeName& name : undrain->names) {
    if (const auto machine = machine_of_.find(name); machine != machine_of_.end())
      opened_at_.emplace(machine->second, world_.now());
  }
}

std::map<GroupName, double> Tally::idle_hours() const {
  std::map<GroupName, double> hours;
  for (const auto& machine : world_.machines().all()) {
    const auto opened = opened_at_.find(machine->origin().id);
    const Time end = opened != opened_at_.end() ? opened->second
                     : machine->exists()        ? world_.now()
                                                : machine->ended_at();
    hours[machine->origin().group] += to_seconds(end - machine->origin().made_at) / 3600.0;
  }
  return hours;
}

Value Tally::group_summary(const GroupSpec& spec, double idle_hours) const {
  static const logic::GroupRecord nothing;
  static const GroupTally no_tally;
  const auto found = world_.head().ledger().groups.find(spec.name);
  const logic::GroupRecord& record = found == world_.head().ledger().groups.end() ? nothing : found->second;
  const auto counted = groups_.find(spec.name);
  const GroupTally& tally = counted == groups_.end() ? no_tally : counted->second;
  Value failures = Value::map();
  for (const auto& [kind, number] : tally.failures) failures.set(kind, number);
  const auto after = [](Time time) { return time == no_time ? Value() : Value(to_seconds(time - World::begin)); };
  const bool has_opened = record.gate_opened_at != no_time;
  return Value::map({{"Name", spec.name.str()},
                     {"Status", record.deleted ? std::string_view("Deleted") : group_status_name(record.status)},
                     {"StatusReason", record.status_reason},
                     {"TargetCount", record.counts.target},
                     {"MinCount", record.counts.min},
                     {"Ready", ready_count(record)},
                     {"Open", open_count(record)},
                     {"SecondsToMinCount", after(tally.min_reached)},
                     {"SecondsToOpen", has_opened ? after(record.gate_opened_at) : Value()},
                     {"SecondsToTarget", after(tally.target_reached)},
                     {"Launches", record.launches},
                     {"Failures", std::move(failures)},
                     {"Terminated", tally.terminated},
                     {"Reboots", tally.reboots},
                     {"RolledBack", tally.rolled_back},
                     {"IdleNodeHours", idle_hours}});
}

Value Tally::summary(const Scenario& scenario) const {
  const std::map<GroupName, double> hours = idle_hours();
  Value groups = Value::list();
  for (const GroupSpec& spec : world_.spec().groups) {
    const auto spent = hours.find(spec.name);
    groups.push(group_summary(spec, spent == hours.end() ? 0 : spent->second));
  }
  const HeadCounts& head = world_.head().counts();
  const JobCounts& jobs = world_.slurm().job_counts();
  return Value::map(
      {{"Title", scenario.title},
       {"Cluster", world_.spec().name},
       {"Seed", static_cast<std::int64_t>(scenario.settings.seed)},
       {"SimulatedSeconds", to_seconds(world_.elapsed())},
       {"Groups", std::move(groups)},
       {"Machines",
        Value::map({{"Made", world_.machines().all().size()}, {"LaunchedTwice", world_.machines().doubles()}})},
       {"Head", Value::map({{"Passes", head.passes},
                            {"SlurmCalls", head.slurm_calls},
                            {"ProviderCalls", head.provider_calls},
                            {"Crashes", head.deaths}})},
       {"Jobs", Value::map({{"Submitted", jobs.submitted},
                            {"Refused", jobs.refused},
                            {"Held", jobs.held},
                            {"Started", jobs.started},
                            {"Ended", jobs.ended},
                            {"Interrupted", jobs.interrupted},
                            {"MeanWaitSeconds",
                             jobs.started > 0 ? Value(to_seconds(jobs.waited) / jobs.started) : Value()}})}});
}

// ---- The run ----

Value run_scenario(const Scenario& scenario, const std::function<void(const TimelineEntry&)>& tell) {
  World world(scenario.cluster, scenario.settings);
  Timeline timeline(world, tell);
  Tally tally(world);
  Promises promises(world);
  const bool is_checked = all_nodes(scenario.cluster) <= checked_nodes;
  if (is_checked) world.head().observe(&promises);
  world.head().observe(&timeline);
  world.head().observe(&tally);
  Duration last_step{0};
  for (const ScenarioStep& step : scenario.steps) {
    last_step = std::max(last_step, step.at);
    const auto run = [&world, &timeline, &step] {
      const logic::Status done = step.act(world);
      if (!step.text.empty() || !done)
        timeline.saw_act(step.text + (done ? "" : (step.text.empty() ? "" : ": ") + done.error().message));
    };
    if (step.at.count() == 0) {
      // What is so from the beginning is so before musterd starts, but nobody can ask anything of it before that.
      world.clock().at(World::begin, run);
    } else {
      world.clock().at(World::begin + step.at, run);
    }
  }
  world.start();
  const Duration look_interval = std::clamp<Duration>(scenario.duration / 200, seconds{10}, minutes{1});
  bool is_there = false;
  while (world.elapsed() < scenario.duration && !is_there) {
    world.run_for(std::min(look_interval, scenario.duration - world.elapsed()));
    is_there = scenario.ends_when_there && world.elapsed() > last_step && !world.slurm().has_jobs() &&
               promises.has_converged();
  }
  timeline.finish();
  Value summary = tally.summary(scenario);
  summary.set("EndedBecause", is_there ? "everything is there" : "the duration is over");
  Value broken = Value::list();
  for (const Breach& breach : promises.breaches()) {
    broken.push(Value::map({{"Promise", promise_name(breach.promise)},
                            {"Seconds", to_seconds(breach.time - World::begin)},
                            {"Text", breach.text}}));
  }
  summary.set("BrokenPromises", std::move(broken));
  summary.set("PromisesChecked", is_checked);
  return summary;
}

}  // namespace muster::simulator
