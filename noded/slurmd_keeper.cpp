// SPDX-License-Identifier: GPL-2.0-or-later
#include "noded/slurmd_keeper.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <utility>

#include "logic/field_reader.hpp"
#include "sys/clock.hpp"
#include "sys/files.hpp"
#include "sys/service_link.hpp"

namespace muster::noded {
namespace {

using logic::Done;
using logic::Status;
using std::chrono::seconds;
using sys::log;
using sys::LogLevel;

constexpr logic::Duration stop_limit{seconds{30}};
constexpr logic::Duration bus_limit{seconds{30}};
constexpr logic::Duration job_limit{seconds{120}};
constexpr off_t output_limit = 4 << 20;

/// The end of a text file: its last line that is not empty, cut to what a log line bears.
std::string last_line(const std::string& path) {
  std::ifstream file(path);
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg();
  file.seekg(size > 4096 ? size - 4096 : 0);
  std::string line;
  std::string last;
  while (std::getline(file, line)) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin != std::string::npos) last = line.substr(begin, 200);
  }
  return last;
}

Status replace_if_other(const std::string& path, const std::string& content, bool& replaced) {
  const auto old = sys::read_file(path);
  replaced = !old || *old != content;
  if (!replaced) return Done{};
  return sys::replace_file(path, content, 0644, false);
}

}  // namespace

SlurmdKeeper::SlurmdKeeper(sys::EventLoop& loop, NodeConfig config, StateFile state, std::string boot_id,
                           logic::SlurmdRule rule, std::function<double()> random, std::function<void()> changed)
    : loop_(loop),
      config_(std::move(config)),
      state_(std::move(state)),
      boot_id_(std::move(boot_id)),
      rule_(rule),
      random_(std::move(random)),
      changed_(std::move(changed)) {}

bool SlurmdKeeper::by_systemd() const {
  if (config_.slurmd_by == SlurmdBy::automatic) return sys::systemd_is_running();
  return config_.slurmd_by == SlurmdBy::systemd;
}

SlurmdRecord SlurmdKeeper::record(const sys::ProcessIdentity& process) const {
  return {view_.node, view_.start, view_.since, started_by_systemd_, process, boot_id_};
}

Status SlurmdKeeper::adopt() {
  auto saved = state_.load();
  if (!saved) return saved.error();
  if (!*saved) return Done{};
  const SlurmdRecord& old = **saved;
  view_.node = old.node;
  view_.start = old.start;
  view_.since = old.since;
  view_.last_end = "it was gone when muster-noded started";
  started_by_systemd_ = old.by_systemd;
  if (old.boot_id != boot_id_) {
    view_.last_end = "the machine was booted";
    return Done{};
  }
  if (old.process.pid > 0 && watch(old.process)) {
    view_.alive = true;
    log(LogLevel::notice, "slurmd_adopted",
        {{"node", view_.node.str()}, {"start", std::to_string(view_.start)}, {"pid", std::to_string(old.process.pid)}});
    return Done{};
  }
  if (!old.by_systemd) return Done{};
  // noded may have died while systemd was starting it, or systemd restarted it since.
  auto manager = sys::SystemdManager::connect(loop_);
  if (!manager) return Done{};
  systemd_ = std::move(*manager);
  view_.changing = true;
  systemd_->unit_state(config_.slurmd_unit, bus_limit, [this](const logic::Result<sys::UnitState>& state) {
    view_.changing = false;
    const auto process = state ? sys::find_process(state->main_pid) : std::nullopt;
    if (process && watch(*process)) running(*process);
    changed_();
  });
  return Done{};
}

void SlurmdKeeper::start(const logic::Assignment& wanted) {
  wanted_ = wanted;
  const bool was_alive = view_.alive;
  const bool replaced_by_systemd = started_by_systemd_ && by_systemd();
  log(LogLevel::notice, was_alive ? "slurmd_restart" : "slurmd_start",
      {{"node", wanted.node.str()},
       {"start", std::to_string(wanted.slurmd_start)},
       {"by", by_systemd() ? config_.slurmd_unit : config_.slurmd_program}});
  view_.changing = true;
  if (was_alive && !replaced_by_systemd) return stop_then_begin();
  begin();
}

void SlurmdKeeper::stop_then_begin() {
  stopping_ = true;
  if (auto sent = watch_->signal(SIGTERM); !sent) {
    // It has gone this very moment; its end is about to be told.
    log(LogLevel::info, "slurmd_stop", {{"result", sent.error().message}});
  }
  stop_timer_ = loop_.after(stop_limit, [this] {
    log(LogLevel::warning, "slurmd_stop",
        {{"result", "still there after " + logic::duration_text(stop_limit)}, {"next", "SIGKILL"}});
    (void)watch_->signal(SIGKILL);
  });
}

void SlurmdKeeper::begin() {
  // From here on the end of the old one is no news.
  watch_.reset();
  stop_timer_.reset();
  stopping_ = false;
  const bool is_retry = view_.node == wanted_.node && view_.start == wanted_.slurmd_start;
  logic::note_slurmd_start(view_, wanted_.node, wanted_.slurmd_start, sys::now());
  view_.alive = false;
  view_.changing = true;
  started_by_systemd_ = by_systemd();
  if (started_by_systemd_) {
    begin_by_systemd(is_retry);
  } else {
    begin_child();
  }
}

void SlurmdKeeper::begin_child() {
  std::vector<std::string> arguments = {config_.slurmd_program, "-D"};
  for (std::string& argument : slurmd_arguments(wanted_, config_.conf_server, config_.slurmd_arguments)) {
    arguments.push_back(std::move(argument));
  }
  const auto started =
      sys::start_detached(arguments, state_.output_path(),
                          [this](const sys::ProcessIdentity& process) { return state_.save(record(process)); });
  if (!started) return not_started(started.error().message);
  if (auto watched = watch(*started); !watched) return ended(watched.error().message);
  running(*started);
  changed_();
}

void SlurmdKeeper::begin_by_systemd(bool is_retry) {
  const auto options = logic::systemd_options(slurmd_arguments(wanted_, config_.conf_server, config_.slurmd_arguments));
  if (!options) return not_started(options.error().message);
  const auto changed = write_unit_files(*options);
  if (!changed) return not_started(changed.error().message);
  // Written down before it runs: whoever finds this asks systemd for the process.
  if (auto saved = state_.save(record({})); !saved) return not_started(saved.error().message);
  auto manager = sys::SystemdManager::connect(loop_);
  if (!manager) return not_started(manager.error().message);
  systemd_ = std::move(*manager);
  if (!*changed && is_retry) return take_or_restart_unit();
  if (!*changed) return restart_unit();
  systemd_->reload(bus_limit, [this](const Status& reloaded) {
    if (!reloaded) return not_started(reloaded.error().message);
    restart_unit();
  });
}

/// True: systemd must read its files again.
logic::Result<bool> SlurmdKeeper::write_unit_files(const std::string& options) const {
  const std::string environment = config_.run_directory + "/slurmd.env";
  const std::string directory = "/run/systemd/system/" + config_.slurmd_unit + ".d";
  if (auto made = sys::make_directories(config_.run_directory); !made) return made.error();
  if (auto made = sys::make_directories(directory); !made) return made.error();
  bool replaced = false;
  // systemd reads this one at each start; options hold no quote of this kind.
  if (auto written = replace_if_other(environment, "SLURMD_OPTIONS='" + options + "'\n", replaced); !written)
    return written.error();
  const std::string drop_in =
      "# Written by muster-noded at each boot; see muster-noded(8).\n"
      "[Unit]\n"
      "# A node that fetches its configuration has no slurm.conf.\n"
      "ConditionPathExists=\n"
      "[Service]\n"
      "EnvironmentFile=" +
      environment +
      "\n"
      "# muster-noded starts it again, after its checks.\n"
      "Restart=no\n";
  if (auto written = replace_if_other(directory + "/90-muster.conf", drop_in, replaced); !written)
    return written.error();
  return replaced;
}

/// It may run again already, with our options: somebody restarted the unit by hand.
void SlurmdKeeper::take_or_restart_unit() {
  systemd_->unit_state(config_.slurmd_unit, bus_limit, [this](const logic::Result<sys::UnitState>& state) {
    if (state && sys::find_process(state->main_pid)) return take_unit_state(state);
    restart_unit();
  });
}

void SlurmdKeeper::restart_unit() {
  // Restart, not start: a slurmd that somebody else started without our options must not stay.
  systemd_->restart_unit(config_.slurmd_unit, job_limit, [this](const Status& restarted) {
    if (!restarted) return not_started(restarted.error().message);
    systemd_->unit_state(config_.slurmd_unit, bus_limit,
                         [this](const logic::Result<sys::UnitState>& state) { take_unit_state(state); });
  });
}

void SlurmdKeeper::take_unit_state(const logic::Result<sys::UnitState>& state) {
  if (!state) return not_started(state.error().message);
  const auto process = sys::find_process(state->main_pid);
  if (!process) {
    return not_started("systemd: " + config_.slurmd_unit + " is " +
                       (state->load_state == "loaded" ? state->active_state : state->load_state));
  }
  if (auto watched = watch(*process); !watched) return not_started(watched.error().message);
  running(*process);
  changed_();
}

Status SlurmdKeeper::watch(const sys::ProcessIdentity& process) {
  auto begun = sys::ProcessWatch::begin(loop_, process, [this](const std::string& how) { ended(how); });
  if (!begun) return begun.error();
  watch_ = std::move(*begun);
  return Done{};
}

void SlurmdKeeper::running(const sys::ProcessIdentity& process) {
  view_.alive = true;
  view_.changing = false;
  if (auto saved = state_.save(record(process)); !saved) {
    log(LogLevel::err, "state_save", {{"result", saved.error().message}});
  }
  log(LogLevel::notice, "slurmd_runs",
      {{"node", view_.node.str()}, {"start", std::to_string(view_.start)}, {"pid", std::to_string(process.pid)}});
}

void SlurmdKeeper::ended(const std::string& how) {
  watch_.reset();
  if (stopping_) return begin();
  std::string text = how + " after " + logic::duration_text(sys::now() - view_.since);
  if (started_by_systemd_) {
    text += ", see journalctl -u " + config_.slurmd_unit;
  } else if (const std::string words = last_line(state_.output_path()); !words.empty()) {
    text += ": " + words;
  }
  not_started(text);
}

void SlurmdKeeper::not_started(const std::string& why) {
  note_slurmd_end(view_, rule_, why, sys::now(), random_());
  log(LogLevel::warning, "slurmd_ended",
      {{"node", view_.node.str()},
       {"start", std::to_string(view_.start)},
       {"result", why},
       {"failures", std::to_string(view_.failures)},
       {"next", logic::duration_text(view_.next_start - sys::now())}});
  changed_();
}

void SlurmdKeeper::trim_output() const {
  struct stat info {};
  const std::string path = state_.output_path();
  // slurmd appends, so it goes on at the new end.
  if (stat(path.c_str(), &info) == 0 && info.st_size > output_limit && truncate(path.c_str(), 0) != 0) {
    log(LogLevel::warning, "slurmd_output", {{"file", path}, {"result", "cannot be emptied"}});
  }
}

}  // namespace muster::noded
