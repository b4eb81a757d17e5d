// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulator/promises.hpp"

#include <algorithm>

#include "logic/departure.hpp"
#include "logic/field_reader.hpp"
#include "logic/gres.hpp"

namespace muster::simulator {

using logic::Action;
using logic::Counts;
using logic::Duration;
using logic::GroupName;
using logic::GroupRecord;
using logic::GroupSpec;
using logic::InstanceId;
using logic::Ledger;
using logic::no_time;
using logic::NodeBase;
using logic::NodeName;
using logic::SeenNode;
using logic::SlotRecord;
using logic::Time;
using logic::Wish;
using std::chrono::seconds;

namespace {

/// Two looks have to be so far apart to count as two.
constexpr Duration second_look = seconds{5};
/// So long after its start musterd may not have heard everybody yet.
constexpr Duration hearing_time = seconds{60};
/// Less silence than this proves nothing.
constexpr Duration some_silence = seconds{30};

bool begins_with(const std::string& text, const std::string& beginning) {
  return text.compare(0, beginning.size(), beginning) == 0;
}

const SlotRecord* slot_in(const Ledger& ledger, const GroupName& group, const NodeName& name) {
  const auto record = ledger.groups.find(group);
  if (record == ledger.groups.end()) return nullptr;
  for (const SlotRecord& slot : record->second.slots) {
    if (slot.name == name) return &slot;
  }
  return nullptr;
}

/// It has registered, as what it should be.
bool is_sound(const GroupSpec& spec, const SeenNode& node) {
  return node.is_registered() && !node.invalid_registration && node_offers(node.gres, spec.gres);
}

}  // namespace

std::string_view promise_name(Promise promise) {
  switch (promise) {
    case Promise::closed_until_open: return "closed until open";
    case Promise::opened_when_ready: return "opened when ready";
    case Promise::others_untouched: return "others untouched";
    case Promise::ended_on_evidence: return "ended on evidence";
    case Promise::exact_deadlines: return "exact deadlines";
    case Promise::one_machine_a_slot: return "one machine a slot";
    case Promise::written_first: return "written first";
    case Promise::independent_groups: return "independent groups";
    case Promise::counts_as_asked: return "counts as asked";
    case Promise::converges: return "converges";
  }
  return "unknown";
}

Promises::Promises(World& world) : world_(world) {}

void Promises::breach(Promise promise, const std::string& text) { breaches_.push_back({promise, world_.now(), text}); }

const GroupSpec* Promises::group_of(const NodeName& name) const {
  for (const GroupSpec& spec : world_.spec().groups) {
    const std::string& prefix = spec.node_prefix;
    if (!begins_with(name.str(), prefix) || name.str().size() == prefix.size()) continue;
    if (name.str().find_first_not_of("0123456789", prefix.size()) == std::string::npos) return &spec;
  }
  return nullptr;
}

std::vector<const Machine*> Promises::machines_of(const GroupName& group) const {
  std::vector<const Machine*> machines;
  for (const auto& machine : world_.machines().all()) {
    if (machine->exists() && machine->origin().group == group && !machine->origin().name.empty())
      machines.push_back(machine.get());
  }
  return machines;
}

// ---- The book ----

void Promises::note_groups() {
  const Ledger& ledger = world_.head().ledger();
  for (const GroupSpec& spec : world_.spec().groups) {
    const auto record = ledger.groups.find(spec.name);
    const bool is_there = record != ledger.groups.end() && !record->second.deleted && !record->second.name.empty();
    if (!is_there) {
      books_.erase(spec.name);
    } else if (books_.count(spec.name) == 0) {
      Book book;
      book.counts = {spec.target_count, spec.min_count};
      book.began_at = world_.now();
      book.deadline = world_.now() + spec.deadline;
      books_[spec.name] = book;
    }
  }
}

void Promises::set_counts(const GroupName& group, const Counts& counts) {
  const auto found = books_.find(group);
  if (found == books_.end()) return;
  Book& book = found->second;
  const Counts before = book.counts;
  book.counts = counts;
  if (counts.min == before.min) return;
  const Time deadline = world_.now() + world_.spec().find_group(group)->deadline;
  if (book.gathers) {
    book.deadline = deadline;
  } else if (world_.head().ledger().groups.at(group).gathering == logic::Gathering::updating) {
    // Whether what is there was enough is the planner's to say; from then on the time counts.
    book.gathers = true;
    book.restore = before;
    book.deadline = deadline;
  }
}

void Promises::note_asked(const std::vector<NodeName>& names, Wish wish) {
  for (const NodeName& name : names) {
    asked_[name] = {wish, world_.now()};
    // What an admin has set on a machine that is named to go, goes with it.
    if (wish != Wish::reboot) world_.waive_mark(name);
  }
}

void Promises::waive_marks(const GroupName& group) {
  for (const SlotRecord& slot : world_.head().ledger().groups.at(group).slots) world_.waive_mark(slot.name);
}

void Promises::saw_command(const logic::Command& command) {
  note_groups();
  if (const auto* scale = std::get_if<logic::ScaleGroup>(&command)) {
    Counts counts = books_.at(scale->group).counts;
    counts.target = scale->target.value_or(counts.target);
    counts.min = scale->min.value_or(counts.min);
    set_counts(scale->group, counts);
  } else if (const auto* add = std::get_if<logic::AddNodes>(&command)) {
    Counts counts = books_.at(add->group).counts;
    counts.target += add->count;
    set_counts(add->group, counts);
  } else if (const auto* remove = std::get_if<logic::RemoveNodes>(&command)) {
    // How many of them were on their way out already is not ours to know: the answer is in the ledger.
    for (auto& [name, book] : books_) set_counts(name, world_.head().ledger().groups.at(name).counts);
    note_asked(remove->names, Wish::remove);
  } else if (const auto* replace = std::get_if<logic::ReplaceNodes>(&command)) {
    note_asked(replace->names, Wish::replace);
  } else if (const auto* reboot = std::get_if<logic::RebootNodes>(&command)) {
    note_asked(reboot->names, Wish::reboot);
  } else if (const auto* erase = std::get_if<logic::DeleteGroup>(&command)) {
    waive_marks(erase->group);
  } else if (std::holds_alternative<logic::DeleteCluster>(command)) {
    for (const GroupSpec& spec : world_.spec().groups) waive_marks(spec.name);
  } else if (const auto* open = std::get_if<logic::OpenGroup>(&command)) {
    Book& book = books_.at(open->group);
    book.gathers = book.is_below_floor = false;
    book.floor_is_waived = true;
  }
}

void Promises::saw_file() {
  note_groups();
  for (const GroupSpec& spec : world_.spec().groups) {
    const auto record = world_.head().ledger().groups.find(spec.name);
    if (record != world_.head().ledger().groups.end() && record->second.deleting.empty())
      set_counts(spec.name, {spec.target_count, spec.min_count});
  }
}

void Promises::saw_events(const std::vector<logic::Event>& events) {
  note_groups();
  for (const logic::Event& event : events) {
    if (event.kind == "MachineLaunched") progress_[event.instance].answered_at = world_.now();
    if (event.kind == "MachineFailed") note_verdict(event.group, event.instance);
    if (event.kind == "MachineRebooted" || event.kind == "RebootRefused") {
      // Somebody may have asked for more since.
      if (const auto asked = asked_.find(event.node); asked != asked_.end() && asked->second.wish == Wish::reboot)
        asked_.erase(asked);
    }
    const auto book = books_.find(event.group);
    if (book == books_.end()) continue;
    if (event.kind == "ClosedBelowFloor") book->second.is_below_floor = true;
    if (event.kind != "RollbackStarted") continue;
    const GroupSpec& spec = *world_.spec().find_group(event.group);
    if (!book->second.gathers) {
      breach(Promise::exact_deadlines, "group " + event.group.str() + " is rolled back, but waits for nothing");
    } else if (world_.now() < book->second.deadline && spec.max_idle_node_hours <= 0) {
      breach(Promise::exact_deadlines, "group " + event.group.str() + " is rolled back " +
                                           logic::duration_text(book->second.deadline - world_.now()) + " too early");
    }
    book->second.gathers = false;
    book->second.counts = book->second.restore;
  }
}

// What is written down is done, also after a crash, and by what was known when it was decided.
void Promises::note_verdict(const GroupName& group, const InstanceId& instance) {
  const GroupSpec* spec = world_.spec().find_group(group);
  const Machine* machine = world_.machines().find(instance);
  if (spec && machine && (is_lost(*machine) || is_over_time(*spec, *machine))) progress_[instance].is_given_up = true;
}

void Promises::saw_list(const GroupName& group, const logic::Seen::Machines& list) {
  std::set<InstanceId> listed;
  for (const logic::SeenMachine& machine : list.machines) {
    if (machine.state != "terminated") listed.insert(machine.instance);
  }
  for (const Machine* machine : machines_of(group)) {
    Sightings& sightings = sightings_[machine->origin().id];
    const bool is_present = listed.count(machine->origin().id) > 0;
    Time& first = is_present ? sightings.first_present : sightings.first_absent;
    if (first == no_time) first = list.listed_at;
    (is_present ? sightings.last_present : sightings.last_absent) = list.listed_at;
    if (is_present) sightings.first_absent = sightings.last_absent = no_time;
  }
}

void Promises::head_died() { awake_since_ = slurm_read_since_ = no_time; }

// ---- What is so ----

bool Promises::is_good(const GroupSpec& spec, const Machine& machine) const {
  if (!machine.is_listening()) return false;
  if (!spec.joins_slurm()) return machine.report().step == logic::NodeStep::ready;
  const SeenNode* node = world_.slurm().find(machine.origin().name);
  return machine.runs_slurmd() && node && logic::is_in_shape(spec, *node) &&
         world_.slurm().history(machine.origin().name).machine == machine.origin().id;
}

void Promises::note_progress() {
  for (const auto& machine : world_.machines().all()) {
    if (!machine->exists() || machine->origin().name.empty()) continue;
    const GroupSpec* spec = world_.spec().find_group(machine->origin().group);
    if (spec && is_good(*spec, *machine)) progress_[machine->origin().id].last_good = world_.now();
  }
}

bool Promises::is_visibly_ready(const GroupSpec& spec, const NodeName& name) const {
  if (opened_.count(name) > 0) return true;
  const SeenNode* node = world_.slurm().find(name);
  const bool is_held_back = world_.admin_marks().count(name) > 0 || asked_.count(name) > 0;
  // One that was open counts until its machine goes, whether it answers at the moment or not.
  if (was_open_before(name)) return !is_held_back;
  return node && !is_held_back && logic::is_in_shape(spec, *node) &&
         node->slurmd_start_time + spec.settle_time <= world_.now();
}

bool Promises::was_open_before(const NodeName& name) const {
  const Machine* machine = world_.machine_behind(name);
  const auto before = machine_opened_.find(name);
  return machine && before != machine_opened_.end() && before->second == machine->origin().id;
}

int Promises::ready_nodes(const GroupSpec& spec) const {
  const auto record = world_.head().ledger().groups.find(spec.name);
  if (record == world_.head().ledger().groups.end()) return 0;
  return static_cast<int>(std::count_if(record->second.slots.begin(), record->second.slots.end(),
                                        [&](const SlotRecord& slot) { return is_visibly_ready(spec, slot.name); }));
}

bool Promises::may_open(const GroupSpec& spec) {
  const auto found = books_.find(spec.name);
  if (found == books_.end()) return false;
  Book& book = found->second;
  if (!book.gathers && !book.is_below_floor) return true;
  if (ready_nodes(spec) < book.counts.min) return false;
  book.gathers = book.is_below_floor = false;
  return true;
}

// A raised MinCount holds back what is new, not a node that was open and to go, or drained, and is given back.
bool Promises::may_be_open(const GroupSpec& spec, const NodeName& name) {
  return may_open(spec) || (was_open_before(name) && !books_.at(spec.name).is_below_floor);
}

// ---- Before an action ----

void Promises::before_action(const Action& action) {
  note_groups();
  struct Check {
    Promises& promises;
    const Action& action;
    void operator()(const logic::CreateRecords& a) { promises.check_ours(action, a.names); }
    void operator()(const logic::DeleteRecords& a) {
      for (const NodeName& name : a.names) promises.note_end_of_record(a.group, name);
      promises.check_ours(action, a.names);
    }
    void operator()(const logic::DrainNodes& a) { promises.check_ours(action, a.names); }
    void operator()(const logic::UndrainNodes& a) {
      promises.check_ours(action, a.names);
      promises.check_undrain(a);
    }
    void operator()(const logic::ResumeNodes& a) { promises.check_ours(action, a.names); }
    void operator()(const logic::ReturnToFuture& a) { promises.check_ours(action, a.names); }
    void operator()(const logic::SetAddresses& a) { promises.check_ours(action, a.names); }
    void operator()(const logic::LaunchMachine& a) { promises.check_launch(a); }
    void operator()(const logic::RebootMachine& a) {
      const Machine* machine = promises.world_.machines().find(a.instance);
      if (!machine || machine->origin().name.empty())
        promises.breach(Promise::others_untouched, "reboots " + a.instance.str() + ", which is none of ours");
    }
    void operator()(const logic::TerminateMachine& a) { promises.check_end_of_machine(a); }
    void operator()(const logic::WriteNodeFile&) {}
    void operator()(const logic::ReconfigureSlurm&) {}
    void operator()(const logic::ReleaseJobs& a) {
      for (const logic::SeenJob& job : promises.world_.slurm().jobs()) {
        for (const auto& item : a.jobs) {
          if (item.job == job.id && !begins_with(job.admin_comment, "muster: held"))
            promises.breach(Promise::others_untouched,
                            "releases job " + std::to_string(job.id) + ", which others hold");
        }
      }
    }
  };
  std::visit(Check{*this, action}, action);
}

void Promises::after_action(const Action& action, const logic::Status& outcome) {
  (void)outcome;
  const auto close = [this](const std::vector<NodeName>& names) {
    for (const NodeName& name : names) {
      const SeenNode* node = world_.slurm().find(name);
      if (!node || !SimulatedSlurm::is_open(*node)) opened_.erase(name);
    }
  };
  if (const auto* drain = std::get_if<logic::DrainNodes>(&action)) close(drain->names);
  if (const auto* future = std::get_if<logic::ReturnToFuture>(&action)) close(future->names);
  if (const auto* erase = std::get_if<logic::DeleteRecords>(&action)) close(erase->names);
}

// With the record of a node that is gone, whatever was set on it goes.
void Promises::note_end_of_record(const GroupName& group, const NodeName& name) {
  const SlotRecord* slot = slot_in(world_.head().ledger(), group, name);
  if (!slot || slot->wish == Wish::remove) world_.waive_mark(name);
}

void Promises::check_ours(const Action& action, const std::vector<NodeName>& names) {
  const bool lifts =
      std::holds_alternative<logic::UndrainNodes>(action) || std::holds_alternative<logic::ResumeNodes>(action);
  const auto* drain = std::get_if<logic::DrainNodes>(&action);
  for (const NodeName& name : names) {
    const bool exists = world_.slurm().find(name) != nullptr;
    if (!group_of(name) || (exists && world_.slurm().history(name).made_by == Actor::admin))
      breach(Promise::others_untouched, describe(action) + ": " + name.str() + " is none of ours");
    const auto mark = world_.admin_marks().find(name);
    if (mark == world_.admin_marks().end() || !mark->second.was_seen) continue;
    if (lifts || (drain && drain->reason != mark->second.reason))
      breach(Promise::others_untouched,
             describe(action) + ": an admin has set " + name.str() + " to \"" + mark->second.reason + "\"");
  }
}

void Promises::check_undrain(const logic::UndrainNodes& action) {
  for (const NodeName& name : action.names) {
    const GroupSpec* spec = group_of(name);
    const SeenNode* node = world_.slurm().find(name);
    if (!spec || !node) continue;
    if (!may_be_open(*spec, name)) {
      breach(Promise::closed_until_open, "opens " + name.str() + " with " + std::to_string(ready_nodes(*spec)) +
                                             " ready nodes, MinCount is " +
                                             std::to_string(books_.at(spec->name).counts.min));
    } else if (!is_sound(*spec, *node)) {
      breach(Promise::opened_when_ready, "opens " + name.str() + ", which is " + node->state_text());
    } else if (asked_.count(name) > 0 && asked_.at(name).wish == Wish::remove) {
      breach(Promise::opened_when_ready, "opens " + name.str() + ", which is to be removed");
    } else {
      note_open(name);
    }
  }
}

void Promises::note_open(const NodeName& name) {
  opened_.insert(name);
  machine_opened_[name] = world_.slurm().history(name).machine;
}

void Promises::check_launch(const logic::LaunchMachine& action) {
  const GroupSpec* spec = world_.spec().find_group(action.group);
  if (!spec || group_of(action.name) != spec)
    return breach(Promise::others_untouched, describe(action) + ": no node of ours");
  const SlotRecord* slot = slot_in(world_.head().written(), action.group, action.name);
  if (!slot || slot->token != action.token)
    breach(Promise::written_first, describe(action) + ": nothing of it is written");
  const bool is_first = launched_.insert(action.token).second;
  const bool is_idempotent = world_.spec().providers.at(spec->provider).idempotent_launch;
  if (!is_first && !is_idempotent)
    breach(Promise::one_machine_a_slot, describe(action) + ": " + action.token.str() + " is launched again");
  for (const Machine* machine : machines_of(action.group)) {
    const Machine::Origin& origin = machine->origin();
    if (origin.name != action.name || origin.token == action.token) continue;
    const bool was_denied = sightings_[origin.id].first_absent != no_time;
    if (!was_denied) breach(Promise::one_machine_a_slot, describe(action) + " while " + origin.id.str() + " is there");
  }
  const SeenNode* node = world_.slurm().find(action.name);
  if (is_first && spec->joins_slurm() && slurm_read_since_ != no_time &&
      !(node && node->base == NodeBase::future && node->drained))
    breach(Promise::closed_until_open, describe(action) + ": its record is not closed");
  if (is_first) asked_.erase(action.name);
}

void Promises::check_end_of_machine(const logic::TerminateMachine& action) {
  const Machine* machine = world_.machines().find(action.instance);
  if (!machine || machine->origin().name.empty())
    return breach(Promise::others_untouched, describe(action) + ": it is none of ours");
  if (!machine->exists()) return;
  const GroupSpec* spec = world_.spec().find_group(machine->origin().group);
  if (!spec) return;
  Progress& progress = progress_[machine->origin().id];
  if (std::exchange(progress.is_being_ended, true)) return;  // asked for again, since the provider did not
  const bool is_group_deleted = !world_.head().ledger().groups.at(spec->name).deleting.empty();
  if (is_asked_for(*machine) || is_group_deleted)
    world_.waive_mark(machine->origin().name);  // goes with the machine that was named
  if (reason_to_end(*spec, *machine).empty()) {
    const bool was_heard = machine->last_contact() != no_time;
    breach(was_heard ? Promise::ended_on_evidence : Promise::exact_deadlines,
           describe(action) + ": nothing speaks against it");
  }
  check_jobs_were_waited_for(*spec, *machine);
}

std::string Promises::reason_to_end(const GroupSpec& spec, const Machine& machine) const {
  const GroupRecord& record = world_.head().ledger().groups.at(spec.name);
  if (!record.deleting.empty()) return "the group is deleted";
  if (is_asked_for(machine)) return "asked for";
  if (is_orphan(machine)) return "of an earlier attempt";
  if (is_too_many(spec, machine)) return "more than wanted";
  if (is_lost(machine)) return "lost";
  if (is_over_time(spec, machine)) return "over its time";
  if (progress_.at(machine.origin().id).is_given_up) return "given up before";
  return "";
}

bool Promises::is_asked_for(const Machine& machine) const {
  const auto asked = asked_.find(machine.origin().name);
  return asked != asked_.end() && asked->second.wish != Wish::reboot;
}

// A node goes because there are more than wanted: as many as wanted stay, whether they have a machine or not.
bool Promises::is_too_many(const GroupSpec& spec, const Machine& machine) const {
  const GroupRecord& record = world_.head().ledger().groups.at(spec.name);
  const SlotRecord* slot = slot_in(world_.head().ledger(), spec.name, machine.origin().name);
  const auto staying = std::count_if(record.slots.begin(), record.slots.end(),
                                     [](const SlotRecord& other) { return other.wish != Wish::remove; });
  return slot && slot->wish == Wish::remove && staying >= books_.at(spec.name).counts.target;
}

bool Promises::is_over_time(const GroupSpec& spec, const Machine& machine) const {
  const auto found = progress_.find(machine.origin().id);
  // Who could not be heard is not late.
  const bool could_be_heard = was_awake_since(world_.now() - some_silence);
  if (found == progress_.end() || !could_be_heard) return false;
  const Progress& progress = found->second;
  const Duration shorter = std::min(spec.boot_timeout, spec.register_timeout);
  if (progress.last_good != no_time) return world_.now() >= progress.last_good + shorter;
  if (progress.answered_at == no_time) return false;
  if (progress.ready_at != no_time && world_.now() >= progress.ready_at + spec.register_timeout) return true;
  return world_.now() >= progress.answered_at + spec.boot_timeout;
}

bool Promises::is_lost(const Machine& machine) const {
  const auto found = sightings_.find(machine.origin().id);
  if (found == sightings_.end() || found->second.first_absent == no_time) return false;
  const bool was_missed_twice = found->second.last_absent >= found->second.first_absent + second_look;
  const Time contact = machine.last_contact();
  return was_missed_twice && (contact == no_time || world_.now() - contact >= some_silence);
}

bool Promises::is_orphan(const Machine& machine) const {
  const Machine::Origin& origin = machine.origin();
  const SlotRecord* slot = slot_in(world_.head().ledger(), origin.group, origin.name);
  if (slot && slot->token == origin.token) return false;
  const auto found = sightings_.find(origin.id);
  return found != sightings_.end() && found->second.first_present != no_time &&
         found->second.last_present >= found->second.first_present + second_look;
}

void Promises::check_jobs_were_waited_for(const GroupSpec& spec, const Machine& machine) {
  const NodeName& name = machine.origin().name;
  const SeenNode* node = world_.slurm().find(name);
  if (!spec.joins_slurm() || !node || world_.slurm().history(name).jobs.empty()) return;
  if (!machine.runs_slurmd() || is_lost(machine)) return;  // its jobs are lost as it is
  const auto asked = asked_.find(name);
  const SlotRecord* slot = slot_in(world_.head().ledger(), spec.name, name);
  const Time chosen = slot ? slot->wish_since : no_time;  // one of those that are too many
  const Time since = asked != asked_.end() ? asked->second.at : std::max(chosen, books_.at(spec.name).began_at);
  if (world_.now() >= since + spec.drain_timeout) return;
  if (!world_.head().ledger().groups.at(spec.name).deleting.empty()) return;
  breach(Promise::exact_deadlines, "ends " + name.str() + " under its jobs, " +
                                       logic::duration_text(since + spec.drain_timeout - world_.now()) +
                                       " before its drain_timeout");
}

// ---- At a pass ----

void Promises::saw_plan(const Ledger& before, const logic::Seen& seen, const logic::Plan& plan) {
  ++passes_;
  note_progress();
  if (seen.nodes) world_.note_marks_seen();
  for (const logic::NodeReport& report : seen.reports) {
    Progress& progress = progress_[report.instance];
    const bool has_passed = report.step == logic::NodeStep::ready || report.step == logic::NodeStep::starting ||
                            report.step == logic::NodeStep::running;
    if (has_passed && progress.ready_at == no_time) progress.ready_at = world_.now();
  }
  if (seen.nodes) {
    for (const auto& [name, node] : *seen.nodes) {
      if (!node.drained && node.base != NodeBase::down) continue;
      const auto action = logic::asked_action(node.reason);
      if (!action || !action->wish || std::exchange(requested_at_[name], node.reason_time) == node.reason_time)
        continue;
      if (world_.machine_behind(name)) asked_.emplace(name, Asked{*action->wish, world_.now()});
    }
  }
  check_closed(false);
  if (compare_every_ > 0 && passes_ % compare_every_ == 0) check_independence(before, seen, plan);
}

void Promises::pass_ended(bool slurm_was_read) {
  note_groups();
  note_progress();
  if (slurm_was_read) {
    check_closed(true);
    check_marks();
    for (const GroupSpec& spec : world_.spec().groups) check_floor(spec);
  }
  if (awake_since_ == no_time) awake_since_ = world_.now();
  if (!slurm_was_read) slurm_read_since_ = no_time;
  if (slurm_was_read && slurm_read_since_ == no_time) slurm_read_since_ = world_.now();
  check_deadlines();
  check_counts();
}

void Promises::check_closed(bool after_pass) {
  for (const auto& [name, node] : *world_.slurm().nodes()) {
    const RecordHistory& history = world_.slurm().history(name);
    if (history.made_by == Actor::admin) continue;
    if (!SimulatedSlurm::is_open(node)) {
      if (node.base == NodeBase::future || node.drained) opened_.erase(name);
      passes_left_open_.erase(name);
      continue;
    }
    if (opened_.count(name) > 0) continue;
    const GroupSpec* spec = group_of(name);
    if (spec && history.undrained_by != Actor::muster && may_be_open(*spec, name) && is_sound(*spec, node)) {
      note_open(name);  // an admin gives a node of an open group back
    } else if (history.undrained_by == Actor::muster) {
      breach(Promise::closed_until_open, name.str() + " is open by muster's doing: " + node.state_text());
      opened_.insert(name);  // told once
    } else if (after_pass && ++passes_left_open_[name] == 2) {
      breach(Promise::closed_until_open, name.str() + " was opened by others and is left so");
    }
  }
}

void Promises::check_floor(const GroupSpec& spec) {
  const auto found = books_.find(spec.name);
  const GroupRecord* record = found == books_.end() ? nullptr : &world_.head().ledger().groups.at(spec.name);
  if (spec.gate != logic::GatePolicy::floor || !record || found->second.gathers || !record->deleting.empty()) return;
  int usable = 0;
  int open = 0;
  for (const SlotRecord& slot : record->slots) {
    const SeenNode* node = world_.slurm().find(slot.name);
    if (!node) continue;
    const bool is_held_back = world_.admin_marks().count(slot.name) > 0 || asked_.count(slot.name) > 0;
    usable += node->is_registered() && node->base != NodeBase::down && !is_held_back ? 1 : 0;
    open += SimulatedSlurm::is_open(*node) && !is_held_back ? 1 : 0;
  }
  Book& book = found->second;
  if (usable >= book.counts.min) book.floor_is_waived = false;
  const bool is_below = usable < book.counts.min && open > 0 && !book.floor_is_waived;
  book.passes_below_floor = is_below ? book.passes_below_floor + 1 : 0;
  if (book.passes_below_floor == 3)
    breach(Promise::closed_until_open,
           "group " + spec.name.str() + " is below its floor and " + std::to_string(open) + " of its nodes are open");
}

void Promises::check_marks() {
  for (const auto& [name, mark] : world_.admin_marks()) {
    const GroupSpec* spec = group_of(name);
    if (!mark.was_seen || !spec) continue;
    const SlotRecord* slot = slot_in(world_.head().ledger(), spec->name, name);
    const bool is_to_go = !slot || slot->wish == Wish::remove;
    const SeenNode* node = world_.slurm().find(name);
    const bool stands =
        node && (node->drained || node->base == NodeBase::down) && logic::reason_as_set(node->reason) == mark.reason;
    int& passes = passes_without_mark_[name];
    passes = stands || is_to_go ? 0 : passes + 1;
    if (passes == 4)
      breach(Promise::others_untouched, "an admin's \"" + mark.reason + "\" on " + name.str() + " is gone: " +
                                            (node ? node->state_text() + " \"" + node->reason + "\"" : "no record"));
  }
}

void Promises::check_deadlines() {
  const Time now = world_.now();
  for (auto& [name, book] : books_) {
    const GroupRecord& record = world_.head().ledger().groups.at(name);
    const GroupSpec* spec = world_.spec().find_group(name);
    if (!spec) continue;
    if (book.gathers && record.gathering == logic::Gathering::no && record.deleting.empty()) {
      // It says that it is open: is it right?
      if (!may_open(*spec) && spec->joins_slurm())
        breach(Promise::closed_until_open, "group " + name.str() + " counts as open with " +
                                               std::to_string(ready_nodes(*spec)) + " ready nodes, MinCount is " +
                                               std::to_string(book.counts.min));
      book.gathers = false;
    }
    if (book.gathers && now > book.deadline && was_awake_since(book.deadline) && record.deleting.empty())
      breach(Promise::exact_deadlines, "group " + name.str() + " should have been rolled back " +
                                           logic::duration_text(now - book.deadline) + " ago");
  }
  for (const auto& machine : world_.machines().all()) {
    const Machine::Origin& origin = machine->origin();
    const auto progress = progress_.find(origin.id);
    if (!machine->exists() || progress == progress_.end() || progress->second.is_being_ended) continue;
    const GroupSpec* spec = world_.spec().find_group(origin.group);
    const Time due = progress->second.answered_at + (spec ? spec->boot_timeout : Duration{0});
    const bool is_silent = spec && progress->second.answered_at != no_time && machine->last_contact() == no_time;
    if (is_silent && now > due && was_awake_since(due - hearing_time) && world_.admin_marks().count(origin.name) == 0 &&
        passes_without_mark_.count(origin.name) == 0 && asked_.count(origin.name) == 0) {
      breach(Promise::exact_deadlines,
             origin.id.str() + " is silent and should have been ended " + logic::duration_text(now - due) + " ago");
      progress->second.is_being_ended = true;  // told once
    }
  }
  for (const auto& [name, asked] : asked_) {
    const GroupSpec* spec = group_of(name);
    const SeenNode* node = world_.slurm().find(name);
    const Machine* machine = world_.machine_behind(name);
    if (!spec || !node || !machine || asked.at == no_time || world_.slurm().history(name).jobs.empty()) continue;
    const Time due = asked.at + spec->drain_timeout;
    const auto progress = progress_.find(machine->origin().id);
    const bool is_done = progress != progress_.end() && progress->second.is_being_ended;
    const SlotRecord* slot = slot_in(world_.head().ledger(), spec->name, name);
    if (now > due && !is_done && was_awake_since(due) && slurm_read_since_ != no_time && slurm_read_since_ <= due &&
        slot && slot->wish == asked.wish && slot->wish != Wish::keep && slot->state != logic::SlotState::rebooting)
      breach(Promise::exact_deadlines,
             name.str() + " should have been taken from its jobs " + logic::duration_text(now - due) + " ago");
  }
}

void Promises::check_counts() {
  for (const auto& [name, book] : books_) {
    const GroupRecord& record = world_.head().ledger().groups.at(name);
    if (!record.deleting.empty() || record.counts == book.counts) continue;
    breach(Promise::counts_as_asked, "group " + name.str() + ": expected target " + std::to_string(book.counts.target) +
                                         ", MinCount " + std::to_string(book.counts.min) + ", found " +
                                         std::to_string(record.counts.target) + ", " +
                                         std::to_string(record.counts.min));
    books_[name].counts = record.counts;
  }
}

// ---- Independence ----

namespace {

const GroupName* group_of_action(const Action& action) {
  return std::visit(
      [](const auto& detail) -> const GroupName* {
        using Kind = std::decay_t<decltype(detail)>;
        constexpr bool is_of_all = std::is_same_v<Kind, logic::ReleaseJobs> ||
                                   std::is_same_v<Kind, logic::WriteNodeFile> ||
                                   std::is_same_v<Kind, logic::ReconfigureSlurm>;
        if constexpr (is_of_all) {
          return nullptr;
        } else {
          return &detail.group;
        }
      },
      action);
}

std::string actions_text(const logic::Plan& plan, const GroupName& group) {
  std::string text;
  for (const Action& action : plan.actions) {
    if (const GroupName* of = group_of_action(action); of && *of == group) text += describe(action) + "\n";
  }
  return text;
}

}  // namespace

void Promises::check_independence(const Ledger& before, const logic::Seen& seen, const logic::Plan& plan) {
  for (const GroupSpec& spec : world_.spec().groups) {
    logic::ClusterSpec alone = world_.spec();
    // Controllers come first, whatever the group.
    alone.groups.erase(std::remove_if(alone.groups.begin(), alone.groups.end(),
                                      [&](const GroupSpec& other) {
                                        return other.name != spec.name &&
                                               other.node_type != logic::NodeType::controller;
                                      }),
                       alone.groups.end());
    Ledger ledger = before;
    for (auto group = ledger.groups.begin(); group != ledger.groups.end();)
      group = alone.find_group(group->first) ? std::next(group) : ledger.groups.erase(group);
    logic::Seen part = seen;
    if (seen.nodes) {
      auto nodes = std::make_shared<logic::SeenNodes>(*seen.nodes);
      for (auto node = nodes->begin(); node != nodes->end();)
        node = group_of(node->first) == &spec ? std::next(node) : nodes->erase(node);
      part.nodes = std::move(nodes);
    }
    const logic::Plan own = world_.head().planner()(alone, ledger, part, world_.now());
    const std::string with_others = actions_text(plan, spec.name);
    const std::string by_itself = actions_text(own, spec.name);
    if (with_others != by_itself)
      breach(Promise::independent_groups,
             "group " + spec.name.str() + ": beside others " + with_others + " and by itself " + by_itself);
  }
}

// ---- The end ----

std::vector<std::string> Promises::missing_of_group(const GroupSpec& spec) const {
  std::vector<std::string> missing;
  const auto say = [&](const std::string& text) { missing.push_back("group " + spec.name.str() + ": " + text); };
  const Ledger& ledger = world_.head().ledger();
  const auto record = ledger.groups.find(spec.name);
  if (record == ledger.groups.end()) {
    say("not in the ledger");
    return missing;
  }
  const bool is_deleted = !record->second.deleting.empty();
  const auto book = books_.find(spec.name);
  const int target = is_deleted || book == books_.end() ? 0 : book->second.counts.target;
  if (is_deleted && !record->second.deleted) say("it is not deleted yet");
  if (!is_deleted && record->second.gathering != logic::Gathering::no) say("it still gathers");
  std::map<NodeName, int> machines;
  for (const Machine* machine : machines_of(spec.name)) {
    ++machines[machine->origin().name];
    if (!is_good(spec, *machine)) say("machine " + machine->origin().id.str() + " is not in service");
  }
  for (const auto& [name, number] : machines) {
    if (number > 1) say(std::to_string(number) + " machines stand behind " + name.str());
  }
  if (static_cast<int>(machines.size()) != target)
    say(std::to_string(machines.size()) + " nodes have a machine, the target is " + std::to_string(target));
  if (!spec.joins_slurm()) return missing;
  int open = 0;
  std::vector<NodeName> records;
  for (const auto& [name, node] : *world_.slurm().nodes()) {
    const RecordHistory& history = world_.slurm().history(name);
    if (group_of(name) != &spec || history.made_by == Actor::admin) continue;
    // A slurmctld that was killed just after a record was deleted has it again: hidden, and nobody's any more.
    if (history.came_back && node.base == NodeBase::future && !slot_in(ledger, spec.name, name)) continue;
    records.push_back(name);
    open += SimulatedSlurm::is_open(node) && !node.not_responding ? 1 : 0;
  }
  if (open != target) say(std::to_string(open) + " nodes are open, the target is " + std::to_string(target));
  if (static_cast<int>(records.size()) != target)
    say("the records are " + names_text(records) + ", the target is " + std::to_string(target));
  return missing;
}

std::vector<std::string> Promises::missing() const {
  std::vector<std::string> all;
  for (const GroupSpec& spec : world_.spec().groups) {
    for (std::string& text : missing_of_group(spec)) all.push_back(std::move(text));
  }
  return all;
}

bool Promises::has_converged() const { return missing().empty(); }

void Promises::check_end() {
  for (const std::string& text : missing()) breach(Promise::converges, text);
}

}  // namespace muster::simulator
