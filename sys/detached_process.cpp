// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/detached_process.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "sys/fd.hpp"
#include "sys/files.hpp"

namespace muster::sys {
namespace {

using logic::Done;
using logic::Result;
using logic::Status;

logic::Error failed(const std::string& what, int number) {
  return logic::retry_error(what + ": " + std::strerror(number));
}

int open_pidfd(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0u)); }

struct Pipe {
  Fd read_end;
  Fd write_end;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return failed("a pipe", errno);
  Pipe result;
  result.read_end = Fd{ends[0]};
  result.write_end = Fd{ends[1]};
  return result;
}

/// Everything that the child needs, made before the fork: after it only async-signal-safe calls are allowed, since
/// other threads (libcurl's resolver) may have held locks.
struct ChildPlan {
  std::vector<char*> argv;
  std::vector<char*> envp;
  int null_fd;
  int output_fd;
  int go_fd;
  int error_fd;
};

/// Ours, without what ties us to the service manager: the new process is not the service.
std::vector<char*> detached_environment() {
  std::vector<char*> result;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text{*entry};
    const bool is_ours = text.rfind("NOTIFY_SOCKET=", 0) == 0 || text.rfind("WATCHDOG_", 0) == 0;
    if (!is_ours) result.push_back(*entry);
  }
  result.push_back(nullptr);
  return result;
}

[[noreturn]] void become(const ChildPlan& plan) {
  setsid();
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;  // NOLINT: a C macro with a C cast
    sigaction(number, &action, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(plan.null_fd, STDIN_FILENO);
  dup2(plan.output_fd, STDOUT_FILENO);
  dup2(plan.output_fd, STDERR_FILENO);
  char go = 0;
  // End of file: whoever should have written us down is gone.
  if (read(plan.go_fd, &go, 1) != 1) _exit(127);
#ifdef SYS_close_range
  // What a library of ours opened without O_CLOEXEC. 4 is CLOSE_RANGE_CLOEXEC; older kernels refuse, which does no
  // harm.
  syscall(SYS_close_range, 3u, ~0u, 4u);
#endif
  execve(plan.argv[0], plan.argv.data(), plan.envp.data());
  const int number = errno;
  if (write(plan.error_fd, &number, sizeof number) < 0) _exit(126);
  _exit(127);
}

std::string how_it_ended(pid_t pid) {
  int status = 0;
  pid_t reaped = 0;
  do { reaped = waitpid(pid, &status, WNOHANG); } while (reaped < 0 && errno == EINTR);
  if (reaped != pid) return "it has gone";
  if (WIFEXITED(status)) return "exit status " + std::to_string(WEXITSTATUS(status));
  return "signal " + std::to_string(WTERMSIG(status));
}

class PidfdWatch final : public ProcessWatch {
 public:
  PidfdWatch(pid_t pid, Fd fd) : pid_(pid), fd_(std::move(fd)) {}

  Status start(EventLoop& loop, std::function<void(std::string)> ended) {
    auto source = loop.watch(fd_.get(), EPOLLIN, [this, ended = std::move(ended)](std::uint32_t) {
      source_.reset();
      ended(how_it_ended(pid_));
    });
    if (!source) return source.error();
    source_ = std::move(*source);
    return Done{};
  }

  Status signal(int number) override {
    if (syscall(SYS_pidfd_send_signal, fd_.get(), number, nullptr, 0u) == 0) return Done{};
    return failed("signal " + std::to_string(number) + " to process " + std::to_string(pid_), errno);
  }

 private:
  pid_t pid_;
  Fd fd_;
  EventLoop::Handle source_;
};

}  // namespace

std::optional<ProcessIdentity> find_process(pid_t pid) {
  if (pid <= 0) return std::nullopt;
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat", 8192);
  if (!stat) return std::nullopt;
  // The second field is the name in parentheses and may hold anything, so count from the last parenthesis.
  std::size_t at = stat->rfind(')');
  if (at == std::string::npos || at + 2 >= stat->size()) return std::nullopt;
  at += 2;
  if ((*stat)[at] == 'Z' || (*stat)[at] == 'X') return std::nullopt;
  constexpr int fields_between = 22 - 3;  // field 3 is the state, field 22 the start time
  for (int i = 0; i < fields_between; ++i) {
    at = stat->find(' ', at);
    if (at == std::string::npos) return std::nullopt;
    ++at;
  }
  return ProcessIdentity{pid, std::strtoull(stat->c_str() + at, nullptr, 10)};
}

bool is_alive(const ProcessIdentity& process) {
  const auto found = find_process(process.pid);
  return found && *found == process;
}

Result<ProcessIdentity> start_detached(const std::vector<std::string>& arguments, const std::string& output_file,
                                       const std::function<Status(const ProcessIdentity&)>& record) {
  const Fd null_fd{open("/dev/null", O_RDONLY | O_CLOEXEC)};
  if (null_fd.get() < 0) return failed("/dev/null", errno);
  const Fd output_fd{open(output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640)};
  if (output_fd.get() < 0) return failed(output_file, errno);
  auto go = make_pipe();
  if (!go) return go.error();
  auto error = make_pipe();
  if (!error) return error.error();

  std::vector<std::string> copies = arguments;
  ChildPlan plan{
      {}, detached_environment(), null_fd.get(), output_fd.get(), go->read_end.get(), error->write_end.get()};
  for (std::string& argument : copies) plan.argv.push_back(argument.data());
  plan.argv.push_back(nullptr);

  const pid_t pid = fork();
  if (pid < 0) return failed("fork", errno);
  if (pid == 0) {
    go->write_end.reset();  // or our own copy would keep the pipe open when the parent dies
    become(plan);
  }
  error->write_end.reset();
  const auto identity = find_process(pid);
  Status recorded = identity ? record(*identity) : Status{logic::retry_error("the new process is gone already")};
  if (recorded && write(go->write_end.get(), "g", 1) != 1) recorded = failed("the pipe to the new process", errno);
  go->write_end.reset();
  int number = 0;
  ssize_t got = 0;
  do { got = read(error->read_end.get(), &number, sizeof number); } while (got < 0 && errno == EINTR);
  if (recorded && got == 0) return *identity;
  waitpid(pid, nullptr, 0);
  if (!recorded) return recorded.error();
  return failed(arguments.front(), number);
}

Result<std::unique_ptr<ProcessWatch>> ProcessWatch::begin(EventLoop& loop, const ProcessIdentity& process,
                                                          std::function<void(std::string)> ended) {
  Fd fd{open_pidfd(process.pid)};
  if (fd.get() < 0) return failed("process " + std::to_string(process.pid), errno);
  // Opened first, compared then: now the descriptor is that very process, or the comparison fails.
  if (!is_alive(process)) return logic::retry_error(how_it_ended(process.pid));
  auto watch = std::make_unique<PidfdWatch>(process.pid, std::move(fd));
  if (auto started = watch->start(loop, std::move(ended)); !started) return started.error();
  return std::unique_ptr<ProcessWatch>(std::move(watch));
}

}  // namespace muster::sys
