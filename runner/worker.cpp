// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/worker.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>

extern char** environ;

namespace muster::runner {

namespace {

using logic::Result;

constexpr int cannot_start = 127;

std::string errno_text() { return std::strerror(errno); }

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;  // the reader has gone or the disk is full: the training goes on without its log
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

Result<sys::Fd> open_log(const std::string& path) {
  sys::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) return logic::reject_error("cannot write " + path + ": " + errno_text());
  return file;
}

/// Our environment with the worker's variables over it, as execvpe wants it.
std::vector<std::string> environment_of(const WorkerSpec& spec) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  for (const auto& [name, value] : spec.environment) variables[name] = value;
  std::vector<std::string> entries;
  entries.reserve(variables.size());
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// The two ends of a stream: what the worker gets as its fd (-1 = inherits ours), and what we read from (if piped).
struct StreamEnds {
  sys::Fd worker;
  sys::Fd pipe;
  sys::Fd file;
};

Result<StreamEnds> prepare(const StreamTarget& target) {
  StreamEnds ends;
  if (!target.file.empty()) {
    auto file = open_log(target.file);
    if (!file) return file.error();
    ends.file = std::move(*file);
  }
  if (target.is_piped) {
    std::array<int, 2> both{};
    if (::pipe2(both.data(), O_CLOEXEC) != 0) return logic::retry_error("cannot make a pipe: " + errno_text());
    ends.pipe = sys::Fd(both[0]);
    ends.worker = sys::Fd(both[1]);
    ::fcntl(ends.pipe.get(), F_SETFL, O_NONBLOCK);  // our end only: the worker's has a description of its own
  } else if (ends.file) {
    ends.worker = std::move(ends.file);
  } else if (!target.is_shown) {
    ends.worker = sys::Fd(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    if (!ends.worker) return logic::retry_error("cannot open /dev/null: " + errno_text());
  }
  return ends;
}

/// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become_worker(pid_t parent, const StreamEnds& out, const StreamEnds& err, int report,
                                char* const* arguments, char* const* environment) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(cannot_start);  // it died before prctl
  std::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (out.worker) ::dup2(out.worker.get(), STDOUT_FILENO);
  if (err.worker) ::dup2(err.worker.get(), STDERR_FILENO);
  ::execvpe(arguments[0], arguments, environment);
  const int why = errno;
  if (::write(report, &why, sizeof why) < 0) ::_exit(cannot_start);
  ::_exit(cannot_start);
}

/// Forks and executes; an errno of exec comes back through a pipe that a successful exec closes.
Result<pid_t> launch(WorkerSpec& spec, const StreamEnds& out, const StreamEnds& err) {
  std::array<int, 2> both{};
  if (::pipe2(both.data(), O_CLOEXEC) != 0) return logic::retry_error("cannot make a pipe: " + errno_text());
  const sys::Fd read_end(both[0]);
  sys::Fd write_end(both[1]);
  std::vector<std::string> environment = environment_of(spec);
  const std::vector<char*> environment_pointers = pointers(environment);
  const std::vector<char*> arguments = pointers(spec.command);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return logic::retry_error("cannot start a process: " + errno_text());
  if (child == 0) become_worker(parent, out, err, write_end.get(), arguments.data(), environment_pointers.data());
  write_end.reset();
  int why = 0;
  ssize_t got = 0;
  do { got = ::read(read_end.get(), &why, sizeof why); } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof why)) {
    ::waitpid(child, nullptr, 0);
    return logic::reject_error("cannot start " + spec.command.front() + ": " + std::strerror(why));
  }
  return child;
}

}  // namespace

Result<std::unique_ptr<TeedStream>> TeedStream::begin(sys::EventLoop& loop, sys::Fd pipe, int console, sys::Fd file,
                                                      const std::string& prefix) {
  const int fd = pipe.get();
  std::unique_ptr<TeedStream> stream(new TeedStream(std::move(pipe), console, std::move(file), prefix));
  auto source = loop.watch(fd, EPOLLIN, [self = stream.get()](std::uint32_t) { self->read_some(); });
  if (!source) return source.error();
  stream->source_ = std::move(*source);
  return stream;
}

void TeedStream::read_some() {
  std::array<char, 65536> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by read
  const ssize_t got = ::read(pipe_.get(), bytes.data(), bytes.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) {
    end();
    return;
  }
  const std::string_view piece(bytes.data(), static_cast<std::size_t>(got));
  if (file_) write_all(file_.get(), piece);
  if (console_ >= 0) write_all(console_, lines_.take(piece));
}

void TeedStream::end() {
  if (console_ >= 0) write_all(console_, lines_.finish());
  source_.reset();
  file_.reset();
  pipe_.reset();
}

Result<std::unique_ptr<Worker>> Worker::start(sys::EventLoop& loop, WorkerSpec spec) {
  auto out = prepare(spec.out);
  if (!out) return out.error();
  auto err = prepare(spec.err);
  if (!err) return err.error();
  const auto pid = launch(spec, *out, *err);
  if (!pid) return pid.error();
  std::unique_ptr<Worker> worker(new Worker(std::move(spec), *pid));
  const auto tee = [&](StreamEnds& ends, const StreamTarget& target, int console) -> logic::Status {
    if (!target.is_piped) return logic::Done{};
    ends.worker.reset();
    auto stream = TeedStream::begin(loop, std::move(ends.pipe), target.is_shown ? console : -1, std::move(ends.file),
                                    worker->spec_.prefix);
    if (!stream) return stream.error();
    worker->streams_.push_back(std::move(*stream));
    return logic::Done{};
  };
  for (const auto& status :
       {tee(*out, worker->spec_.out, STDOUT_FILENO), tee(*err, worker->spec_.err, STDERR_FILENO)}) {
    if (status) continue;
    worker->kill_all();
    ::waitpid(worker->pid_, nullptr, 0);
    return status.error();
  }
  return worker;
}

bool Worker::streams_have_ended() const {
  for (const auto& stream : streams_) {
    if (!stream->has_ended()) return false;
  }
  return true;
}

void Worker::send(int signal_number) const {
  if (!has_ended_) ::kill(pid_, signal_number);
}

void Worker::kill_all() const {
  if (!has_ended_) ::kill(-pid_, SIGKILL);
}

bool Worker::reap() {
  if (has_ended_) return false;
  // Looked at before it is reaped: until then nobody else gets its number, so the group that is killed is its own.
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid_)
    return false;
  ::kill(-pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  has_ended_ = true;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

}  // namespace muster::runner
