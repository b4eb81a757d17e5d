// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/systemd_manager.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <map>
#include <utility>

namespace muster::sys {
namespace {

using logic::Done;
using logic::Duration;
using logic::Result;
using logic::Status;

constexpr const char* manager_name = "org.freedesktop.systemd1";
constexpr const char* manager_path = "/org/freedesktop/systemd1";
constexpr const char* manager_interface = "org.freedesktop.systemd1.Manager";

struct BusClose {
  void operator()(sd_bus* bus) const { sd_bus_close_unref(bus); }
};
struct SlotUnref {
  void operator()(sd_bus_slot* slot) const { sd_bus_slot_unref(slot); }
};
struct MessageUnref {
  void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
};
using MessageHandle = std::unique_ptr<sd_bus_message, MessageUnref>;

logic::Error bus_error(const std::string& what, int negative_errno) {
  return logic::retry_error("systemd: " + what + ": " + std::strerror(-negative_errno));
}

std::uint64_t microseconds(Duration duration) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 1)) * 1000u;
}

class Manager final : public SystemdManager {
 public:
  explicit Manager(EventLoop& loop) : loop_(loop) {}

  Status open() {
    sd_bus* bus = nullptr;
    if (int error = sd_bus_open_system(&bus); error < 0) return bus_error("the system bus", error);
    bus_.reset(bus);
    sd_bus_slot* slot = nullptr;
    const int matched = sd_bus_match_signal_async(bus, &slot, manager_name, manager_path, manager_interface,
                                                  "JobRemoved", on_job_removed, nullptr, this);
    if (matched < 0) return bus_error("JobRemoved", matched);
    job_removed_.reset(slot);
    // systemd sends signals only to those who asked.
    call("Subscribe", std::chrono::seconds{10}, {}, [](Result<MessageHandle>) {});
    return watch();
  }

  void reload(Duration deadline, Callback done) override {
    call("Reload", deadline, {}, [done = std::move(done)](Result<MessageHandle> reply) {
      if (reply) return done(Done{});
      done(reply.error());
    });
  }

  void restart_unit(const std::string& unit, Duration deadline, Callback done) override {
    const std::uint64_t id = ++last_job_;
    Job job{unit, {}, std::move(done), {}};
    job.timer = loop_.after(deadline, [this, id, unit] {
      finish(id, logic::retry_error("systemd: restart of " + unit + " did not end in time"));
    });
    jobs_.emplace(id, std::move(job));
    call("RestartUnit", deadline, {unit, "replace"}, [this, id](Result<MessageHandle> reply) {
      const auto found = jobs_.find(id);
      if (found == jobs_.end()) return;
      if (!reply) return finish(id, reply.error());
      const char* path = nullptr;
      if (int error = sd_bus_message_read(reply->get(), "o", &path); error < 0)
        return finish(id, bus_error("RestartUnit", error));
      found->second.path = path;
    });
  }

  void unit_state(const std::string& unit, Duration deadline, StateCallback done) override {
    call("LoadUnit", deadline, {unit}, [this, unit, deadline, done = std::move(done)](Result<MessageHandle> reply) {
      if (!reply) return done(reply.error());
      const char* path = nullptr;
      if (int error = sd_bus_message_read(reply->get(), "o", &path); error < 0)
        return done(bus_error("LoadUnit", error));
      ask(Question{path, deadline, {}, done}, "org.freedesktop.systemd1.Unit", "LoadState");
    });
  }

 private:
  using Reply = std::function<void(Result<MessageHandle>)>;

  struct Call {
    Manager* manager;
    std::uint64_t id;
    std::string what;
    Reply reply;
    std::unique_ptr<sd_bus_slot, SlotUnref> slot;
  };
  struct Job {
    std::string unit;
    std::string path;
    Callback done;
    EventLoop::Handle timer;
  };
  struct Question {
    std::string path;
    Duration deadline;
    UnitState state;
    StateCallback done;
  };

  void call(const char* method, Duration deadline, const std::vector<std::string>& arguments, Reply reply) {
    sd_bus_message* raw = nullptr;
    int error = sd_bus_message_new_method_call(bus_.get(), &raw, manager_name, manager_path, manager_interface, method);
    MessageHandle message{raw};
    for (const std::string& argument : arguments) {
      if (error >= 0) error = sd_bus_message_append(raw, "s", argument.c_str());
    }
    send(std::move(message), error, method, deadline, std::move(reply));
  }

  void send(MessageHandle message, int error, const std::string& what, Duration deadline, Reply reply) {
    auto pending = std::make_unique<Call>(Call{this, ++last_call_, what, std::move(reply), nullptr});
    sd_bus_slot* slot = nullptr;
    if (error >= 0)
      error = sd_bus_call_async(bus_.get(), &slot, message.get(), on_reply, pending.get(), microseconds(deadline));
    if (error < 0) {
      // Not from within the caller: it would be surprised to hear the answer before the call has returned.
      loop_.post([alive = std::weak_ptr<bool>(alive_), late = std::move(pending->reply), what, error] {
        if (!alive.expired()) late(bus_error(what, error));
      });
      return;
    }
    pending->slot.reset(slot);
    calls_.emplace(pending->id, std::move(pending));
    rewatch();
  }

  /// LoadState, ActiveState, MainPID: one after the other.
  void ask(Question question, const char* interface, const char* property) {
    sd_bus_message* raw = nullptr;
    int error = sd_bus_message_new_method_call(bus_.get(), &raw, manager_name, question.path.c_str(),
                                               "org.freedesktop.DBus.Properties", "Get");
    MessageHandle message{raw};
    if (error >= 0) error = sd_bus_message_append(raw, "ss", interface, property);
    const Duration deadline = question.deadline;
    send(std::move(message), error, property, deadline,
         [this, question = std::move(question), name = std::string(property)](Result<MessageHandle> reply) mutable {
           if (!reply) return question.done(reply.error());
           answer(std::move(question), name, reply->get());
         });
  }

  void answer(Question question, const std::string& property, sd_bus_message* reply) {
    if (property == "MainPID") {
      std::uint32_t pid = 0;
      if (int error = sd_bus_message_read(reply, "v", "u", &pid); error < 0)
        return question.done(bus_error(property, error));
      question.state.main_pid = static_cast<pid_t>(pid);
      return question.done(question.state);
    }
    const char* text = nullptr;
    if (int error = sd_bus_message_read(reply, "v", "s", &text); error < 0)
      return question.done(bus_error(property, error));
    if (property == "ActiveState") {
      question.state.active_state = text;
      return ask(std::move(question), "org.freedesktop.systemd1.Service", "MainPID");
    }
    question.state.load_state = text;
    // A unit that does not exist has no MainPID to ask for.
    if (question.state.load_state != "loaded") return question.done(question.state);
    ask(std::move(question), "org.freedesktop.systemd1.Unit", "ActiveState");
  }

  void finish(std::uint64_t id, const Status& how) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) return;
    const Callback done = std::move(found->second.done);
    jobs_.erase(found);
    done(how);
  }

  static int on_reply(sd_bus_message* message, void* userdata, sd_bus_error* /*error*/) {
    Call* pending = static_cast<Call*>(userdata);
    Manager* manager = pending->manager;
    const auto found = manager->calls_.find(pending->id);
    const std::unique_ptr<Call> owned = std::move(found->second);
    manager->calls_.erase(found);
    if (const sd_bus_error* failure = sd_bus_message_get_error(message)) {
      const char* text = failure->message ? failure->message : failure->name;
      owned->reply(logic::retry_error("systemd: " + owned->what + ": " + text));
    } else {
      owned->reply(MessageHandle{sd_bus_message_ref(message)});
    }
    return 0;
  }

  static int on_job_removed(sd_bus_message* message, void* userdata, sd_bus_error* /*error*/) {
    std::uint32_t id = 0;
    const char* path = nullptr;
    const char* unit = nullptr;
    const char* result = nullptr;
    if (sd_bus_message_read(message, "uoss", &id, &path, &unit, &result) < 0) return 0;
    auto* manager = static_cast<Manager*>(userdata);
    const auto found = std::find_if(manager->jobs_.begin(), manager->jobs_.end(),
                                    [&](const auto& entry) { return entry.second.path == path; });
    if (found == manager->jobs_.end()) return 0;
    const std::string text = result;
    manager->finish(found->first, text == "done" ? Status{Done{}}
                                                 : logic::retry_error("systemd: restart of " + found->second.unit +
                                                                      " ended as \"" + text + "\""));
    return 0;
  }

  Status watch() {
    source_.reset();  // the descriptor can be watched once
    const int events = sd_bus_get_events(bus_.get());
    if (events < 0) return bus_error("the system bus", events);
    std::uint32_t wanted = 0;
    if (events & POLLIN) wanted |= EPOLLIN;
    if (events & POLLOUT) wanted |= EPOLLOUT;
    auto source = loop_.watch(sd_bus_get_fd(bus_.get()), wanted, [this](std::uint32_t) { process(); });
    if (!source) return source.error();
    source_ = std::move(*source);
    watch_timeout();
    return Done{};
  }

  void watch_timeout() {
    std::uint64_t due = 0;
    timer_.reset();
    if (sd_bus_get_timeout(bus_.get(), &due) < 0 || due == UINT64_MAX) return;
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const std::uint64_t present =
        static_cast<std::uint64_t>(now.tv_sec) * 1000000u + static_cast<std::uint64_t>(now.tv_nsec) / 1000u;
    const std::uint64_t wait = due > present ? due - present : 0;
    timer_ = loop_.after(Duration{static_cast<std::int64_t>(wait / 1000u + 1)}, [this] { process(); });
  }

  /// The bus wants other events after something was sent or received; a lost bus answers its calls while processing.
  void rewatch() {
    if (!watch()) timer_ = loop_.after(std::chrono::milliseconds{10}, [this] { process(); });
  }

  void process() {
    // Callbacks run inside; one of them may destroy us.
    const std::weak_ptr<bool> alive = alive_;
    int more = 0;
    do {
      more = sd_bus_process(bus_.get(), nullptr);
      if (alive.expired()) return;
    } while (more > 0);
    if (more == -ENOTCONN || more == -ECONNRESET) {
      source_.reset();
      timer_.reset();
      return;
    }
    rewatch();
  }

  EventLoop& loop_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::unique_ptr<sd_bus, BusClose> bus_;
  std::unique_ptr<sd_bus_slot, SlotUnref> job_removed_;
  std::map<std::uint64_t, std::unique_ptr<Call>> calls_;
  std::map<std::uint64_t, Job> jobs_;
  std::uint64_t last_call_ = 0;
  std::uint64_t last_job_ = 0;
  EventLoop::Handle source_;
  EventLoop::Handle timer_;
};

}  // namespace

bool systemd_is_running() { return sd_booted() > 0; }

Result<std::unique_ptr<SystemdManager>> SystemdManager::connect(EventLoop& loop) {
  auto manager = std::make_unique<Manager>(loop);
  if (auto opened = manager->open(); !opened) return opened.error();
  return std::unique_ptr<SystemdManager>(std::move(manager));
}

}  // namespace muster::sys
