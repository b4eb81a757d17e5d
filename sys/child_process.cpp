// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>

#include "sys/fd.hpp"

extern char** environ;

namespace muster::sys {
namespace {

using logic::Done;
using logic::Error;
using logic::Result;
using logic::Status;

constexpr std::size_t max_output_bytes = 4u << 20;
constexpr std::size_t max_diagnostics_bytes = 4096;
constexpr std::size_t max_line_bytes = 64u << 20;
/// How much is read before other events of the loop get their turn.
constexpr std::size_t read_turn_bytes = 4u << 20;
constexpr std::size_t read_chunk_bytes = 256u << 10;
constexpr int reap_wait_ms = 200;

struct Pipe {
  Fd read_end;
  Fd write_end;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return logic::retry_error(std::string("pipe: ") + std::strerror(errno));
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

/// Killed children that were not gone when their owner was destroyed (stuck in the kernel); reaped at the next start.
class Lingering {
 public:
  void add(pid_t pid) {
    const std::lock_guard<std::mutex> lock(mutex_);
    pids_.push_back(pid);
  }
  void reap() {
    const std::lock_guard<std::mutex> lock(mutex_);
    pids_.erase(
        std::remove_if(pids_.begin(), pids_.end(), [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; }),
        pids_.end());
  }

 private:
  std::mutex mutex_;
  std::vector<pid_t> pids_;
};

Lingering& lingering() {
  static Lingering children;
  return children;
}

/// Kills the group and reaps its leader without waiting long.
void kill_and_reap(pid_t pid) {
  ::kill(-pid, SIGKILL);
  for (int waited = 0; waited < reap_wait_ms; ++waited) {
    if (::waitpid(pid, nullptr, WNOHANG) != 0) return;
    ::poll(nullptr, 0, 1);
  }
  lingering().add(pid);
}

class SpawnSettings {
 public:
  SpawnSettings() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_init(&actions_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  /// A process group of its own, no blocked or ignored signals of ours, no file descriptors but these three.
  void prepare(int in, int out, int err) {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    ::posix_spawn_file_actions_adddup2(&actions_, in, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, err, STDERR_FILENO);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    // Ours are all O_CLOEXEC; this is for what libraries opened.
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
#endif
  }
  const posix_spawnattr_t* attributes() const { return &attributes_; }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawnattr_t attributes_{};
  posix_spawn_file_actions_t actions_{};
};

std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> entries;
  const auto is_replaced = [&](std::string_view entry) {
    return std::any_of(command.environment.begin(), command.environment.end(), [&](const auto& addition) {
      const std::string& name = addition.first;
      return entry.size() > name.size() && entry.compare(0, name.size(), name) == 0 && entry[name.size()] == '=';
    });
  };
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (!is_replaced(*entry)) entries.emplace_back(*entry);
  }
  for (const auto& [name, value] : command.environment) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// A started child and our ends of its pipes, all non-blocking.
struct Child {
  pid_t pid = -1;
  Fd in;
  Fd out;
  Fd err;
};

/// posix_spawn does no more than what is safe in a program with threads, and reports a failed exec to the caller.
Result<Child> spawn(const Command& command) {
  lingering().reap();
  if (command.arguments.empty() || command.arguments[0].empty()) return logic::reject_error("no program is named");
  auto in = make_pipe();
  auto out = make_pipe();
  auto err = make_pipe();
  if (!in) return in.error();
  if (!out) return out.error();
  if (!err) return err.error();
  SpawnSettings settings;
  settings.prepare(in->read_end.get(), out->write_end.get(), err->write_end.get());
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = environment_of(command);
  const auto argument_pointers = pointers_to(arguments);
  const auto environment_pointers = pointers_to(environment);
  Child child;
  const int error = ::posix_spawnp(&child.pid, arguments[0].c_str(), settings.actions(), settings.attributes(),
                                   argument_pointers.data(), environment_pointers.data());
  if (error != 0) {
    std::string sentence = "cannot start " + arguments[0] + ": " + std::strerror(error);
    const bool passing = error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
    return passing ? logic::retry_error(std::move(sentence)) : logic::reject_error(std::move(sentence));
  }
  child.in = std::move(in->write_end);
  child.out = std::move(out->read_end);
  child.err = std::move(err->read_end);
  for (int fd : {child.in.get(), child.out.get(), child.err.get()}) set_nonblocking(fd);
  return child;
}

enum class ReadEnd { more, drained, closed };

/// Reads what is there, up to one turn's worth. more: there may be more now; drained: wait for the next event.
template <typename Take>
ReadEnd read_available(int fd, Take take) {
  static thread_local std::vector<char> chunk(read_chunk_bytes);
  for (std::size_t total = 0; total < read_turn_bytes;) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got == 0) return ReadEnd::closed;
    if (got < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN ? ReadEnd::drained : ReadEnd::closed;
    }
    total += static_cast<std::size_t>(got);
    if (!take(std::string_view(chunk.data(), static_cast<std::size_t>(got)))) return ReadEnd::closed;
  }
  return ReadEnd::more;
}

/// Keeps the end of what was added.
class Tail {
 public:
  void add(std::string_view text) {
    text_ += text;
    if (text_.size() > max_diagnostics_bytes) text_.erase(0, text_.size() - max_diagnostics_bytes);
  }
  std::string take() { return std::move(text_); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Bytes on their way into a pipe that may be full.
class PipeWriter {
 public:
  PipeWriter(EventLoop& loop, Fd fd) : loop_(loop), fd_(std::move(fd)) {}
  ~PipeWriter() { watch_.reset(); }
  PipeWriter(const PipeWriter&) = delete;
  PipeWriter& operator=(const PipeWriter&) = delete;

  void send(std::string bytes) {
    if (!fd_ || bytes.empty()) return;
    queue_.push_back(std::move(bytes));
    flush();
  }
  void close_after_last() {
    closing_ = true;
    flush();
  }

 private:
  void flush() {
    while (fd_ && !queue_.empty()) {
      const std::string& front = queue_.front();
      const ssize_t written = ::write(fd_.get(), front.data() + sent_, front.size() - sent_);
      if (written < 0) {
        if (errno == EINTR) continue;
        if (errno == EAGAIN) return wait_until_writable();
        return give_up();  // the reader has gone; its end is noticed elsewhere
      }
      sent_ += static_cast<std::size_t>(written);
      if (sent_ == front.size()) {
        queue_.pop_front();
        sent_ = 0;
      }
    }
    watch_.reset();
    if (closing_) fd_.reset();
  }
  void wait_until_writable() {
    if (watch_) return;
    auto watch = loop_.watch(fd_.get(), EPOLLOUT, [this](std::uint32_t) { flush(); });
    if (!watch) return give_up();
    watch_ = std::move(*watch);
  }
  void give_up() {
    watch_.reset();
    queue_.clear();
    fd_.reset();
  }

  EventLoop& loop_;
  Fd fd_;
  EventLoop::Handle watch_;
  std::deque<std::string> queue_;
  std::size_t sent_ = 0;
  bool closing_ = false;
};

/// What a Run and a LineProcess have in common: the child, its stderr, its end.
class Watched {
 public:
  explicit Watched(EventLoop& loop) : loop_(loop) {}
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  virtual ~Watched() {
    *alive_ = false;
    stop_watching();
    exit_.reset();
    if (child_.pid > 0) kill_and_reap(child_.pid);
  }

 protected:
  Status begin(Child child) {
    child_ = std::move(child);
    in_ = std::make_unique<PipeWriter>(loop_, std::move(child_.in));
    auto out = loop_.watch(child_.out.get(), EPOLLIN, [this](std::uint32_t) { read_out(); });
    if (!out) return out.error();
    out_watch_ = std::move(*out);
    auto err = loop_.watch(child_.err.get(), EPOLLIN, [this](std::uint32_t) { read_err(); });
    if (!err) return err.error();
    err_watch_ = std::move(*err);
    auto exit = loop_.on_exit(child_.pid, [this](int status) { exited(status); });
    if (!exit) return exit.error();
    exit_ = std::move(*exit);
    return Done{};
  }
  void kill_group() {
    if (child_.pid > 0) ::kill(-child_.pid, SIGKILL);
  }
  /// A piece of stdout; false where no more of it is wanted.
  virtual bool take(std::string_view piece) = 0;
  /// The child has ended and all it wrote was taken; may destroy this object.
  virtual void finished(int wait_status) = 0;

  EventLoop& loop() { return loop_; }
  PipeWriter& in() { return *in_; }
  Tail& diagnostics() { return diagnostics_; }
  pid_t child_pid() const { return child_.pid; }
  /// Turns false when this object is destroyed, which a callback may do.
  std::shared_ptr<const bool> alive() const { return alive_; }

 private:
  ReadEnd take_available() {
    const auto still_here = alive();
    const ReadEnd end = read_available(child_.out.get(), [this](std::string_view piece) { return take(piece); });
    if (*still_here && end == ReadEnd::closed) out_watch_.reset();
    return end;
  }
  void read_out() { take_available(); }
  void read_err() {
    const auto add = [this](std::string_view piece) {
      diagnostics_.add(piece);
      return true;
    };
    if (read_available(child_.err.get(), add) == ReadEnd::closed) err_watch_.reset();
  }
  void exited(int status) {
    // The leader is not reaped before this callback returns, so the group's id is still ours. What it left behind in
    // the group ends with it; what left the group is its own affair and is not waited for, even if it holds our pipes.
    kill_group();
    child_.pid = -1;
    const auto still_here = alive();
    while (out_watch_) {
      const ReadEnd end = take_available();
      if (!*still_here) return;
      if (end != ReadEnd::more) break;
    }
    if (err_watch_) read_err();
    stop_watching();
    finished(status);
  }
  void stop_watching() {
    out_watch_.reset();
    err_watch_.reset();
    in_.reset();
  }

  EventLoop& loop_;
  Child child_;
  std::unique_ptr<PipeWriter> in_;
  EventLoop::Handle out_watch_;
  EventLoop::Handle err_watch_;
  EventLoop::Handle exit_;
  Tail diagnostics_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class BackgroundRun final : public Run, private Watched {
 public:
  BackgroundRun(EventLoop& loop, std::function<void(Finished)> done) : Watched(loop), done_(std::move(done)) {}

  Status start(const Command& command, std::string input, logic::Duration deadline) {
    auto child = spawn(command);
    if (!child) return child.error();
    if (auto begun = begin(std::move(*child)); !begun) return begun;
    in().send(std::move(input));
    in().close_after_last();
    timer_ = loop().after(deadline, [this] {
      result_.timed_out = true;
      kill_group();
    });
    return Done{};
  }

 private:
  bool take(std::string_view piece) override {
    if (result_.output.size() + piece.size() > max_output_bytes) {
      result_.output_too_large = true;
      kill_group();
      return false;
    }
    result_.output += piece;
    return true;
  }
  void finished(int wait_status) override {
    timer_.reset();
    if (WIFEXITED(wait_status)) result_.exit_code = WEXITSTATUS(wait_status);
    if (WIFSIGNALED(wait_status)) result_.signal = WTERMSIG(wait_status);
    result_.diagnostics = diagnostics().take();
    const auto done = std::move(done_);
    done(std::move(result_));
  }

  std::function<void(Finished)> done_;
  Finished result_;
  EventLoop::Handle timer_;
};

std::string end_words(int wait_status, const std::string& diagnostics) {
  std::string words = WIFSIGNALED(wait_status) ? "ended by signal " + std::to_string(WTERMSIG(wait_status))
                                               : "ended with exit status " + std::to_string(WEXITSTATUS(wait_status));
  std::string_view last = diagnostics;
  while (!last.empty() && (last.back() == '\n' || last.back() == ' ')) last.remove_suffix(1);
  if (const auto newline = last.rfind('\n'); newline != std::string_view::npos) last.remove_prefix(newline + 1);
  if (!last.empty()) words += ": " + std::string(last);
  return words;
}

class BackgroundLines final : public LineProcess, private Watched {
 public:
  BackgroundLines(EventLoop& loop, Events events) : Watched(loop), events_(std::move(events)) {}

  Status start(const Command& command) {
    auto child = spawn(command);
    if (!child) return child.error();
    return begin(std::move(*child));
  }
  void send(std::string line) override {
    if (ended_) return;
    line.push_back('\n');
    in().send(std::move(line));
  }
  pid_t pid() const override { return child_pid(); }

 private:
  bool take(std::string_view piece) override {
    const auto still_here = alive();
    while (!piece.empty()) {
      const auto newline = piece.find('\n');
      partial_ += piece.substr(0, newline);
      if (newline == std::string_view::npos) break;
      piece.remove_prefix(newline + 1);
      const auto on_line = events_.line;
      on_line(std::exchange(partial_, {}));
      if (!*still_here) return false;
    }
    if (partial_.size() <= max_line_bytes) return true;
    too_long_ = true;
    partial_.clear();
    kill_group();
    return false;
  }
  void finished(int wait_status) override {
    ended_ = true;
    const auto on_end = std::move(events_.ended);
    on_end(too_long_ ? "killed since it wrote a line of more than 64 MiB"
                     : end_words(wait_status, diagnostics().text()));
  }

  Events events_;
  std::string partial_;
  bool too_long_ = false;
  bool ended_ = false;
};

}  // namespace

Result<std::unique_ptr<Run>> run_command(EventLoop& loop, const Command& command, std::string input,
                                         logic::Duration deadline, std::function<void(Finished)> done) {
  auto run = std::make_unique<BackgroundRun>(loop, std::move(done));
  if (auto started = run->start(command, std::move(input), deadline); !started) return started.error();
  return std::unique_ptr<Run>(std::move(run));
}

Result<Finished> run_command_and_wait(const Command& command, const std::string& input, logic::Duration deadline) {
  auto loop = EventLoop::create();
  if (!loop) return loop.error();
  std::optional<Finished> result;
  auto run = run_command(**loop, command, input, deadline, [&](Finished finished) {
    result = std::move(finished);
    (*loop)->stop();
  });
  if (!run) return run.error();
  if (auto ran = (*loop)->run(); !ran) return ran.error();
  return std::move(*result);
}

Result<std::unique_ptr<LineProcess>> LineProcess::start(EventLoop& loop, const Command& command, Events events) {
  auto process = std::make_unique<BackgroundLines>(loop, std::move(events));
  if (auto started = process->start(command); !started) return started.error();
  return std::unique_ptr<LineProcess>(std::move(process));
}

}  // namespace muster::sys
