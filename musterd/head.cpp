// SPDX-License-Identifier: GPL-2.0-or-later
#include "musterd/head.hpp"

#include <algorithm>
#include <cerrno>
#include <set>

#include "logic/cluster_change.hpp"
#include "logic/field_reader.hpp"
#include "logic/node_file.hpp"
#include "logic/release.hpp"
#include "sys/clock.hpp"
#include "sys/digest.hpp"
#include "sys/files.hpp"
#include "sys/host.hpp"
#include "sys/service_link.hpp"
#include "sys/slurm_files.hpp"
#include "sys/yaml.hpp"

namespace muster::musterd {

using logic::Action;
using logic::GroupName;
using logic::InstanceId;
using logic::Ledger;
using logic::no_time;
using logic::Result;
using logic::Status;
using logic::Time;
using sys::log;
using sys::log_throttled;
using sys::LogLevel;

namespace {

constexpr logic::Duration facts_lifetime = std::chrono::minutes{1};
constexpr logic::Duration gate_table_refresh = std::chrono::minutes{1};  // the plugins believe it for five
constexpr logic::Duration slurm_retry_cap = std::chrono::seconds{10};

Status check_program(const logic::ClusterSpec& spec) {
  logic::Problems problems(spec.file_name);
  for (const auto& [name, provider] : spec.providers) {
    if (const std::string trouble = sys::program_trouble(provider.program); !trouble.empty())
      problems.add(provider.program_place, "provider " + name + ": program: expected a program, found " + trouble);
  }
  if (!problems.empty()) return problems.error();
  return logic::Done{};
}

Result<logic::ClusterSpec> parse_file(const LedgerStore::AppliedFile& file) {
  auto document = sys::parse_yaml(file.text, file.name);
  if (!document) return document.error();
  return logic::parse_cluster_spec(*document, file.name, file.base_directory);
}

}  // namespace

Head::Head(sys::EventLoop& loop, Settings settings, std::unique_ptr<LedgerStore> store)
    : loop_(loop),
      settings_(std::move(settings)),
      store_(std::move(store)),
      role_(*store_, {sys::host_name(), sys::own_addresses()}),
      slurm_(sys::SlurmLink::create(loop, {settings_.slurm_helper, settings_.slurm_conf}), settings_.slurm_timeout),
      providers_(loop,
                 {[this](logic::LaunchResult result) {
                    inbox_.launch_results.push_back(std::move(result));
                    request_pass();
                  },
                  [this](logic::TerminateResult result) {
                    inbox_.terminate_results.push_back(std::move(result));
                    request_pass();
                  },
                  [this](logic::RebootResult result) {
                    inbox_.reboot_results.push_back(std::move(result));
                    request_pass();
                  },
                  [this](const GroupName& group, Time asked_at, Result<std::vector<logic::SeenMachine>> machines) {
                    take_list(group, asked_at, std::move(machines));
                  },
                  [this] { return role_.may_act(); }}) {}

Result<std::unique_ptr<Head>> Head::create(sys::EventLoop& loop, const Settings& settings) {
  if (auto made = sys::make_directories(settings.state_directory, 0750); !made) return made.error();
  // By host: on shared storage another host's lock may be unknown here, or outlive the host. Between hosts the ledger's
  // generation decides.
  auto lock = sys::lock_file(settings.state_directory + "/lock." + sys::host_name());
  if (!lock) return lock.error();
  auto store = LedgerStore::open(settings.state_directory + "/ledger.sqlite");
  if (!store) return store.error();
  std::unique_ptr<Head> head(new Head(loop, settings, *std::move(store)));
  head->lock_ = *std::move(lock);
  if (auto loaded = head->load(); !loaded) return loaded.error();
  return head;
}

Status Head::load() {
  auto content = store_->load(event_limits(), sys::now());
  if (!content) return content.error();
  state_.ledger = std::move(content->ledger);
  state_.events = std::move(content->events);
  if (!content->file.text.empty()) {
    auto spec = parse_file(content->file);
    if (!spec)
      return logic::bug_error("the applied cluster file in the ledger cannot be read any more: " +
                              spec.error().message);
    state_.spec = *std::move(spec);
    state_.created_at = content->file.created_at;
    providers_.configure(*state_.spec);
  }
  index_instances();
  listening_since_ = sys::now();
  return logic::Done{};
}

void Head::start() { begin_pass(); }

Head::SlotPlace Head::find_slot(const InstanceId& instance) const {
  const auto found = instances_.find(instance);
  if (found == instances_.end() || !state_.spec) return {};
  return {state_.spec->find_group(found->second.first),
          &state_.ledger.groups.at(found->second.first).slots[found->second.second]};
}

void Head::index_instances() {
  instances_.clear();
  for (const auto& [name, group] : state_.ledger.groups) {
    for (std::size_t index = 0; index < group.slots.size(); ++index) {
      const logic::SlotRecord& slot = group.slots[index];
      if (!slot.instance.empty() && slot.state != logic::SlotState::terminating)
        instances_.emplace(slot.instance, std::pair{name, index});
    }
  }
  for (auto heard = state_.heard_at.begin(); heard != state_.heard_at.end();) {
    heard = instances_.count(heard->first) > 0 ? std::next(heard) : state_.heard_at.erase(heard);
  }
}

// ---- The pass ----

void Head::request_pass() {
  pass_wanted_ = true;
  if (!pass_runs_) begin_pass();
}

void Head::look_then(std::function<void()> done) {
  // The look of a pass that runs already may be older than the question.
  after_look_.emplace(pass_number_ + 1, std::move(done));
  request_pass();
}

void Head::begin_pass() {
  ++pass_number_;
  pass_runs_ = true;
  pass_wanted_ = false;
  timer_.reset();
  slurm_.read_controllers([this](Result<std::vector<logic::Controller>> controllers) {
    controllers_.clear();
    if (controllers) {
      controllers_ = *std::move(controllers);
      return look_at_slurm();
    }
    SlurmDriver::View nothing;
    nothing.trouble = controllers.error().message;
    take_view(nothing);
  });
}

void Head::look_at_slurm() {
  const auto look = [this] { slurm_.observe([this](const SlurmDriver::View& view) { take_view(view); }); };
  if (state_.facts && sys::now() - facts_read_at_ < facts_lifetime) return look();
  // Nothing is decided before slurm.conf is known: what nodes are told depends on it.
  slurm_.read_facts([this, look](Result<logic::SlurmFacts> facts) {
    if (!facts) {
      SlurmDriver::View nothing;
      nothing.trouble = facts.error().message;
      return take_view(nothing);
    }
    if (!state_.facts)
      log(LogLevel::notice, "slurm_found", {{"version", facts->version}, {"cluster", facts->cluster_name}});
    state_.facts = *std::move(facts);
    facts_read_at_ = sys::now();
    look();
  });
}

void Head::take_view(const SlurmDriver::View& view) {
  const bool was_read = view.trouble.empty();
  note_slurm(was_read, view.trouble);
  if (was_read) {
    state_.nodes = view.nodes;
    state_.nodes_at = sys::now();
    state_.jobs = *view.jobs;
    state_.reservations = *view.reservations;
    failed_passes_ = 0;
  } else {
    ++failed_passes_;
  }
  settle_role(was_read);
  while (!after_look_.empty() && after_look_.begin()->first <= pass_number_) {
    const auto waiting = after_look_.extract(after_look_.begin());
    waiting.mapped()();
  }
  list_machines();
  decide_and_act(was_read);
}

// ---- The role ----

void Head::settle_role(bool slurm_was_read) {
  switch (role_.settle(controllers_, slurm_was_read)) {
    case Role::Change::acts: begin_to_act(); break;
    case Role::Change::stands_by: stop_acting(); break;
    case Role::Change::none: break;
  }
  state_.role = role_.view();
  // Whoever acts writes it all himself.
  if (!role_.acts() && store_->has_news()) reload();
}

void Head::begin_to_act() {
  // What was read on standby may be older than the last write of the one before.
  if (const Status loaded = load(); !loaded) return role_.give_up(loaded.error().message);
  state_.store_trouble.clear();
  const LedgerStore::Owner& before = role_.predecessor();
  if (before.host.empty() || before.host == role_.view().host) return;
  const logic::Event event{logic::EventLevel::warn,
                           "HeadTookOver",
                           {},
                           {},
                           {},
                           "musterd on " + role_.view().host + " acts from now on; before it did musterd on " +
                               before.host + ", for " + logic::duration_text(sys::now() - before.since)};
  static_cast<void>(commit(state_.ledger, {event}));  // told in vain is no harm
}

void Head::stop_acting() {
  // Launches that are ended here stand in the ledger, so whoever acts now asks for them again, by the same tokens.
  providers_.stop();
  inbox_ = {};
  listed_at_.clear();
  last_actions_text_.clear();
  next_deadline_ = no_time;
  state_.store_trouble.clear();
  state_.role = role_.view();
  reload();
  if (changed_) changed_();
}

/// What the acting one has written. What is there stays if it cannot be read.
void Head::reload() {
  if (const Status loaded = load(); !loaded) {
    log_throttled(LogLevel::warning, "ledger_read", "ledger_read", loaded.error().message);
    return;
  }
  if (changed_) changed_();
}

void Head::note_slurm(bool up, const std::string& trouble) {
  state_.slurm_trouble = trouble;
  if (!up)
    log_throttled(LogLevel::warning, "slurm_read", "slurm_read", trouble + "; nothing is changed until it answers");
  if (state_.slurm_since != no_time && state_.slurm_is_up == up) return;
  state_.slurm_since = sys::now();
  state_.slurm_is_up = up;
  if (up) log(LogLevel::notice, "slurm_up");
  facts_read_at_ = no_time;  // another slurmctld may have another configuration
}

logic::Seen Head::look_at_all(bool slurm_was_read) const {
  logic::Seen seen = inbox_;
  if (slurm_was_read) {
    seen.nodes = state_.nodes;
    seen.jobs = state_.jobs;
    seen.reservations = state_.reservations;
  }
  if (state_.facts) seen.default_partition = state_.facts->default_partition();
  if (state_.facts) seen.slurm_takes_topology = state_.facts->takes_topology();
  if (state_.facts) seen.slurm_rereads_nodes = state_.facts->rereads_nodes();
  if (state_.spec && state_.facts && logic::needs_node_file(*state_.spec)) seen.node_file = look_at_node_file();
  seen.launches_in_flight = providers_.launches_in_flight();
  seen.terminations_in_flight = providers_.terminations_in_flight();
  seen.reboots_in_flight = providers_.reboots_in_flight();
  seen.heard_at = &state_.heard_at;
  seen.listening_since = listening_since_;
  return seen;
}

void Head::decide_and_act(bool slurm_was_read) {
  if (!state_.spec) return end_pass(false);
  if (!role_.acts() && !role_.is_due()) {
    // The plugins of the slurmctld here read it, too, and are to find it when that one takes over.
    if (slurm_was_read) write_gate_table();
    return end_pass(false);
  }
  logic::Plan plan = logic::plan(*state_.spec, state_.ledger, look_at_all(slurm_was_read), sys::now());
  next_deadline_ = plan.next_deadline;

  const bool ledger_changes = !(plan.ledger == state_.ledger);
  if (!role_.acts()) return hold_the_gate(plan);
  // Written before acted on, and where there is nothing to write, nobody else may have begun to act meanwhile. If it
  // cannot be written nothing is done and nothing that came in is forgotten.
  const Status written = ledger_changes || !plan.events.empty() ? commit(plan.ledger, plan.events) : confirm_ours();
  if (store_->successor()) {
    settle_role(slurm_was_read);
    return end_pass(false);
  }
  if (!written) return hold_the_gate(plan);
  inbox_.launch_results.clear();
  inbox_.terminate_results.clear();
  inbox_.reboot_results.clear();
  inbox_.reports.clear();
  inbox_.machines.clear();
  inbox_.slurm_was_reconfigured = false;
  if (slurm_was_read) write_gate_table();
  if ((ledger_changes || !plan.events.empty()) && changed_) changed_();

  for (const Action& action : plan.actions) {
    if (const auto* file = std::get_if<logic::WriteNodeFile>(&action)) write_node_file(*file);
    if (const auto* launch = std::get_if<logic::LaunchMachine>(&action)) providers_.launch(*launch);
    if (const auto* reboot = std::get_if<logic::RebootMachine>(&action)) providers_.reboot(*reboot);
    if (const auto* terminate = std::get_if<logic::TerminateMachine>(&action)) providers_.terminate(*terminate);
  }
  if (plan.actions.empty() && slurm_was_read) end_deleted_cluster();
  // Actions are read back at once, but the same ones again mean that they had no effect: then there is no hurry.
  std::string actions_text;
  for (const Action& action : plan.actions) actions_text += logic::describe(action) + "\n";
  const bool again = ledger_changes || (!plan.actions.empty() && actions_text != last_actions_text_);
  last_actions_text_ = std::move(actions_text);
  const bool reconfigures = std::any_of(plan.actions.begin(), plan.actions.end(), [](const Action& action) {
    return std::holds_alternative<logic::ReconfigureSlurm>(action);
  });
  slurm_.execute(
      std::move(plan.actions), [this] { return role_.may_act(); },
      [this, again, reconfigures](const std::vector<std::string>& problems) {
        inbox_.slurm_was_reconfigured = reconfigures && problems.empty();
        for (const std::string& problem : problems)
          log_throttled(LogLevel::warning, "slurm_action", "slurm_action", problem);
        // What Slurm refused is read back and tried again, but not in a hurry.
        end_pass(again && problems.empty());
      });
}

// The ledger cannot be written: nothing new is done. But a node of a gathering group that somebody opened is closed
// again, since that was decided and written long ago. A drain that was not written would be taken for somebody else's
// later.
void Head::hold_the_gate(const logic::Plan& plan) {
  std::vector<Action> closing;
  for (const Action& action : plan.actions) {
    if (const auto* drain = std::get_if<logic::DrainNodes>(&action)) {
      logic::DrainNodes again = *drain;
      again.names.clear();
      const auto group = state_.ledger.groups.find(drain->group);
      for (std::size_t i = 0; group != state_.ledger.groups.end() && i < group->second.slots.size(); ++i) {
        const logic::SlotRecord& slot = group->second.slots[i];
        const bool was_written = slot.our_reason == drain->reason;
        if (was_written && std::find(drain->names.begin(), drain->names.end(), slot.name) != drain->names.end())
          again.names.push_back(slot.name);
      }
      if (!again.names.empty()) closing.push_back(std::move(again));
    }
  }
  slurm_.execute(
      std::move(closing),
      [this] {
        // Unlike all else it is also done where the ledger cannot even be read.
        static_cast<void>(store_->confirm_ours());
        return !store_->successor();
      },
      [this](const std::vector<std::string>& problems) {
        for (const std::string& problem : problems)
          log_throttled(LogLevel::warning, "slurm_action", "slurm_action", problem);
        end_pass(false);
      });
}

void Head::end_pass(bool again) {
  pass_runs_ = false;
  if (again || pass_wanted_) {
    loop_.post([this] {
      if (!pass_runs_) begin_pass();
    });
    return;
  }
  logic::Duration wait = settings_.pass_interval;
  if (failed_passes_ > 0) wait = std::min(slurm_retry_cap, wait * std::min(failed_passes_, 8));
  if (next_deadline_ != no_time) wait = std::clamp(next_deadline_ - sys::now(), logic::Duration{1}, wait);
  timer_ = loop_.after(wait, [this] { request_pass(); });
}

void Head::list_machines() {
  if (!state_.spec || !role_.acts()) return;
  const Time now = sys::now();
  for (const logic::GroupSpec& group : state_.spec->groups) {
    const auto provider = state_.spec->providers.find(group.provider);
    const auto record = state_.ledger.groups.find(group.name);
    if (provider == state_.spec->providers.end() || record == state_.ledger.groups.end()) continue;
    Time& last = listed_at_[group.name];
    if (!logic::may_have_machines(record->second) || now - last < provider->second.list_interval) continue;
    last = now;
    providers_.list(group.name, now);
  }
}

logic::SeenNodeFile Head::look_at_node_file() const {
  logic::SeenNodeFile file;
  file.path = settings_.node_file;
  file.write_trouble = node_file_write_trouble_;
  file.slurm_conf = state_.facts->slurm_conf;
  const auto content = sys::read_file(file.path, std::size_t{16} << 20);
  const bool is_absent = !content && ::access(file.path.c_str(), F_OK) != 0 && errno == ENOENT;
  if (content) {
    file.text = *content;
    if (!content->empty() && content->compare(0, logic::node_file_mark.size(), logic::node_file_mark) != 0) {
      file.trouble = file.path + ": expected the first line to be \"" + std::string(logic::node_file_mark) +
                     "\", found another one; the file is somebody else's and is left alone";
    }
  } else if (!is_absent) {
    file.trouble = content.error().message;
  }
  const auto conf = sys::load_slurm_conf(file.slurm_conf, file.path);
  if (!conf) {
    if (file.trouble.empty()) file.trouble = conf.error().message;
    return file;
  }
  file.is_included = conf->has_left_out;
  file.others = conf->nodes;
  if (conf->says_max_node_count) file.max_nodes = conf->facts.max_node_count;
  return file;
}

void Head::write_node_file(const logic::WriteNodeFile& file) {
  const Status written = sys::replace_file(settings_.node_file, file.text, 0644);
  node_file_write_trouble_ = written ? "" : written.error().message;
  if (written)
    log(LogLevel::notice, "node_file_written", {{"file", settings_.node_file}});
  else
    log_throttled(LogLevel::err, "node_file", "node_file", node_file_write_trouble_);
}

void Head::write_gate_table() {
  logic::Seen seen;
  seen.nodes = state_.nodes;
  if (state_.facts) seen.default_partition = state_.facts->default_partition();
  const Time now = sys::now();
  logic::GateTable table = logic::make_gate_table(*state_.spec, state_.ledger, seen, now);
  logic::GateTable timeless = table;
  timeless.time = no_time;
  std::string body = logic::write_gate_table(timeless);
  if (body == gate_table_body_ && now - gate_table_written_at_ < gate_table_refresh) return;
  const Status written = sys::replace_file(settings_.gate_table, logic::write_gate_table(table), 0644, false);
  if (!written) {
    log_throttled(LogLevel::err, "gate_table", "gate_table", written.error().message);
    return;
  }
  gate_table_body_ = std::move(body);
  gate_table_written_at_ = now;
}

Status Head::commit(const Ledger& after, const std::vector<logic::Event>& events,
                    const LedgerStore::AppliedFile* file) {
  std::vector<logic::StoredEvent> stored;
  for (const logic::Event& event : events) stored.push_back({0, sys::random_uuid(), sys::now(), event});
  const Status written = note_store(store_->commit(state_.ledger, after, stored, event_limits(), file));
  if (!written) return written;
  state_.ledger = after;
  index_instances();
  log_events(stored);
  for (logic::StoredEvent& event : stored) state_.events.push_back(std::move(event));
  forget_old_events();
  return logic::Done{};
}

/// In a pass that has nothing to write.
Status Head::confirm_ours() {
  const Status ours = store_->confirm_ours();
  if (!ours) return note_store(ours);
  // What was decided and written earlier may be done, but that the trouble is over is said when it is over.
  if (!state_.store_trouble.empty()) static_cast<void>(note_store(store_->try_write(sys::now())));
  return ours;
}

Status Head::note_store(const Status& outcome) {
  if (outcome) {
    if (!state_.store_trouble.empty())
      log(LogLevel::notice, "ledger_good", {{"text", "the ledger can be written again"}});
    state_.store_trouble.clear();
  } else if (!store_->successor()) {
    state_.store_trouble = outcome.error().message;
    log_throttled(LogLevel::err, "ledger_write", "ledger_write",
                  outcome.error().message + "; nothing is done until it can be written");
  }
  return outcome;
}

void Head::forget_old_events() {
  const Time oldest = sys::now() - settings_.event_age;
  auto& events = state_.events;
  while (!events.empty() && (static_cast<int>(events.size()) > settings_.event_keep || events.front().time < oldest))
    events.pop_front();
}

void Head::log_events(const std::vector<logic::StoredEvent>& events) {
  for (const logic::StoredEvent& stored : events) {
    const logic::Event& event = stored.event;
    const LogLevel level = event.level == logic::EventLevel::error  ? LogLevel::err
                           : event.level == logic::EventLevel::warn ? LogLevel::warning
                                                                    : LogLevel::notice;
    log(level, event.kind,
        {{"group", event.group.str()},
         {"node", event.node.str()},
         {"instance", event.instance.str()},
         {"text", event.text}});
  }
}

void Head::end_deleted_cluster() {
  const Ledger& ledger = state_.ledger;
  const bool is_gone =
      std::all_of(ledger.groups.begin(), ledger.groups.end(), [](const auto& group) { return group.second.deleted; });
  if (ledger.cluster.deleting.empty() || !is_gone) return;
  logic::Event event;
  event.kind = "ClusterDeleted";
  event.text = "cluster " + state_.spec->name + " is gone, deleted by " + ledger.cluster.deleting;
  const LedgerStore::AppliedFile nothing;
  if (const Status written = commit({}, {event}, &nothing); !written) return;
  state_.spec.reset();
  state_.created_at = no_time;
  inbox_ = {};
  listed_at_.clear();
  next_deadline_ = no_time;
  providers_.configure({});
  // A table that is left would hold jobs for groups that are gone, for as long as it is fresh.
  ::unlink(settings_.gate_table.c_str());
  gate_table_body_.clear();
  if (changed_) changed_();
}

// ---- Commands ----

void Head::take_report(logic::NodeReport report) {
  const SlotPlace place = find_slot(report.instance);
  if (!place.slot || is_refused(report.instance, report.boot_id)) return;
  const logic::SlotRecord& slot = *place.slot;
  const bool is_news = slot.boot_id != report.boot_id || slot.address != report.address ||
                       slot.node_step != logic::step_name(report.step) || slot.node_message != report.message ||
                       slot.node_slurmd_start != report.slurmd_start || slot.node_slurmd_alive != report.slurmd_alive ||
                       !(slot.checks == report.checks);
  if (!is_news) return;
  // Each report is the whole present state. While nothing can be written they would pile up. But of two machines with
  // one id neither speaks for the other.
  auto& reports = inbox_.reports;
  const auto is_older = [&](const logic::NodeReport& other) {
    return other.instance == report.instance && other.boot_id == report.boot_id;
  };
  reports.erase(std::remove_if(reports.begin(), reports.end(), is_older), reports.end());
  reports.push_back(std::move(report));
  request_pass();
}

void Head::note_heard(const InstanceId& instance, const std::string& boot_id) {
  if (find_slot(instance).slot && !is_refused(instance, boot_id)) state_.heard_at[instance] = sys::now();
}

bool Head::is_refused(const InstanceId& instance, const std::string& boot_id) const {
  const SlotPlace place = find_slot(instance);
  return place.slot && !boot_id.empty() && place.slot->refused_boot_id == boot_id;
}

Result<std::string> Head::run_command(const logic::Command& command, std::int64_t by) {
  if (!state_.spec) return logic::absent_error("there is no cluster yet; muster apply -f FILE makes one");
  auto outcome = logic::run_command(*state_.spec, state_.ledger, command, "uid " + std::to_string(by), sys::now());
  if (!outcome) return outcome.error();
  if (state_.facts && state_.nodes) {
    if (const Status fits =
            logic::check_room(*state_.spec, state_.ledger, outcome->ledger, *state_.facts, *state_.nodes);
        !fits)
      return fits.error();
  }
  if (const Status written = commit(outcome->ledger, outcome->events); !written)
    return logic::retry_error("the ledger cannot be written, so nothing was changed: " + written.error().message);
  if (changed_) changed_();
  request_pass();
  return std::move(outcome->message);
}

logic::Plan Head::preview() const {
  if (!state_.spec) return {};
  return logic::plan(*state_.spec, state_.ledger, look_at_all(state_.nodes && state_.slurm_is_up), sys::now());
}

void Head::take_list(const GroupName& group, Time asked_at, Result<std::vector<logic::SeenMachine>> machines) {
  if (!machines) {
    state_.list_trouble[group] = machines.error().message;
    log_throttled(LogLevel::warning, "provider_list", "provider_list_" + group.str(),
                  "group " + group.str() + ": " + machines.error().message);
  } else {
    state_.list_trouble.erase(group);
  }
  bool is_kept = false;
  for (Resync& resync : resyncs_) {
    if (resync.awaited.count(group) == 0) continue;
    is_kept = true;
    note_list(resync, group, asked_at, machines);
  }
  if (is_kept) return end_resyncs();
  if (!machines) return;
  inbox_.machines[group] = {asked_at, *std::move(machines)};
  request_pass();
}

void Head::note_list(Resync& resync, const GroupName& group, Time asked_at,
                     const Result<std::vector<logic::SeenMachine>>& machines) {
  // One that was under way already may be older than the question.
  if (asked_at < resync.begun_at) return providers_.list(group, sys::now());
  resync.awaited.erase(group);
  if (machines) {
    resync.lists[group] = {asked_at, *machines};
  } else {
    resync.failed[group] = machines.error().message;
  }
}

void Head::resync(bool dry_run, std::int64_t by, Time give_up_at, std::function<void(Result<ResyncOutcome>)> done) {
  if (!state_.spec) return done(logic::absent_error("there is no cluster yet; muster apply -f FILE makes one"));
  const auto resync = resyncs_.emplace(resyncs_.end());
  resync->dry_run = dry_run;
  resync->by = by;
  resync->begun_at = sys::now();
  resync->give_up_at = give_up_at;
  resync->done = std::move(done);
  logic::Duration limit{0};
  for (const logic::GroupSpec& group : state_.spec->groups) {
    const auto provider = state_.spec->providers.find(group.provider);
    const auto record = state_.ledger.groups.find(group.name);
    if (provider == state_.spec->providers.end()) continue;
    if (record == state_.ledger.groups.end() || record->second.deleted) continue;
    resync->awaited.insert(group.name);
    // Its program is killed then; that it was shows a moment later.
    limit = std::max(limit, provider->second.call_timeout + std::chrono::seconds{1});
  }
  limit = std::clamp(give_up_at - sys::now(), logic::Duration{0}, limit);
  resync->timer = loop_.after(limit, [this, resync, limit] {
    for (const GroupName& group : resync->awaited)
      resync->failed[group] = "no list within " + logic::duration_text(limit);
    resync->awaited.clear();
    loop_.post([this] { end_resyncs(); });
  });
  for (const GroupName& group : resync->awaited) providers_.list(group, resync->begun_at);
  slurm_.read_whole_next();
  look_then([this, resync] {
    resync->has_looked = true;
    end_resyncs();
  });
}

void Head::end_resyncs() {
  for (auto resync = resyncs_.begin(); resync != resyncs_.end();) {
    if (!resync->has_looked || !resync->awaited.empty()) {
      ++resync;
      continue;
    }
    Resync ended = std::move(*resync);
    resync = resyncs_.erase(resync);
    end_resync(std::move(ended));
  }
}

void Head::end_resync(Resync resync) {
  if (!state_.slurm_is_up)
    return resync.done(logic::retry_error("Slurm cannot be asked, so nothing was changed: " + state_.slurm_trouble));
  if (!state_.spec) return resync.done(logic::absent_error("the cluster has been deleted meanwhile"));
  if (sys::now() >= resync.give_up_at)
    return resync.done(logic::retry_error("Slurm answered too late, so nothing was changed"));
  ResyncOutcome outcome;
  outcome.failed = std::move(resync.failed);
  logic::Seen seen = look_at_all(true);
  for (const auto& [group, list] : resync.lists) seen.machines[group] = list;
  Ledger ledger = state_.ledger;
  const std::string by = "uid " + std::to_string(resync.by);
  if (auto retried = logic::run_command(*state_.spec, ledger, logic::RetryNow{}, by, sys::now()))
    ledger = std::move(retried->ledger);
  outcome.plan = logic::plan(*state_.spec, ledger, seen, sys::now());
  if (!resync.dry_run) {
    for (auto& [group, list] : resync.lists) {
      listed_at_[group] = list.listed_at;
      inbox_.machines[group] = std::move(list);
    }
    auto retried = run_command(logic::RetryNow{}, resync.by);
    if (!retried) return resync.done(retried.error());
    outcome.message = *std::move(retried);
  }
  resync.done(std::move(outcome));
}

void Head::apply(LedgerStore::AppliedFile file, bool dry_run, std::int64_t by, Time give_up_at,
                 std::function<void(Result<ApplyOutcome>)> done) {
  auto spec = parse_file(file);
  if (!spec) return done(spec.error());
  if (const Status programs = check_program(*spec); !programs) return done(programs.error());
  if (state_.spec) {
    if (const Status change = logic::check_change(*state_.spec, state_.ledger, *spec); !change)
      return done(change.error());
  }
  // What Slurm has is looked at afresh: unknown is not empty.
  slurm_.read_facts([this, file = std::move(file), spec = *std::move(spec), dry_run, by, give_up_at,
                     done = std::move(done)](Result<logic::SlurmFacts> facts) {
    if (!facts) {
      return done(logic::retry_error("Slurm cannot be asked whether this fits, so nothing was changed: " +
                                     facts.error().message));
    }
    state_.facts = *std::move(facts);
    slurm_.observe([this, file, spec, dry_run, by, give_up_at, done](const SlurmDriver::View& view) {
      if (!view.trouble.empty()) {
        return done(
            logic::retry_error("Slurm cannot be asked whether this fits, so nothing was changed: " + view.trouble));
      }
      state_.nodes = view.nodes;
      check_and_take(file, spec, dry_run, by, give_up_at, done);
    });
  });
}

void Head::check_and_take(LedgerStore::AppliedFile file, logic::ClusterSpec spec, bool dry_run, std::int64_t by,
                          Time give_up_at, std::function<void(Result<ApplyOutcome>)> done) {
  if (sys::now() >= give_up_at) return done(logic::retry_error("Slurm answered too late, so nothing was changed"));
  if (const Status fits = logic::check_against_slurm(spec, state_.ledger, *state_.facts, *state_.nodes); !fits)
    return done(fits.error());
  // Another apply may have come in between.
  if (state_.spec) {
    if (const Status change = logic::check_change(*state_.spec, state_.ledger, spec); !change)
      return done(change.error());
  }
  ApplyOutcome outcome;
  outcome.changes = logic::describe_changes(state_.spec, state_.ledger, spec);
  outcome.warnings = logic::warnings_against_slurm(spec, *state_.facts);
  const logic::CommandOutcome taken = logic::take_file(state_.spec ? &*state_.spec : nullptr, spec, state_.ledger,
                                                       "uid " + std::to_string(by), sys::now());
  logic::Seen seen = look_at_all(true);
  // What came in meanwhile belongs to the passes.
  seen.launch_results.clear();
  seen.terminate_results.clear();
  seen.reboot_results.clear();
  seen.reports.clear();
  seen.machines.clear();
  const logic::Plan plan = logic::plan(spec, taken.ledger, seen, sys::now());
  for (const Action& action : plan.actions) outcome.plan.push_back(logic::describe(action));
  if (dry_run) return done(std::move(outcome));

  file.created_at = state_.spec ? state_.created_at : sys::now();
  if (const Status written = commit(taken.ledger, taken.events, &file); !written) {
    return done(logic::retry_error("the ledger cannot be written, so nothing was changed: " + written.error().message));
  }
  log(LogLevel::notice, "cluster_applied", {{"file", file.name}, {"changes", std::to_string(outcome.changes.size())}});
  state_.created_at = file.created_at;
  state_.spec = std::move(spec);
  providers_.configure(*state_.spec);
  // The groups exist from now on: the first thing a person asks next is their status. The plan was for telling; what it
  // decides is written down by the pass that also does it.
  if (changed_) changed_();
  done(std::move(outcome));
  request_pass();
}

}  // namespace muster::musterd
