// SPDX-License-Identifier: GPL-2.0-or-later
#include "spank_plugin/gate_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace muster::spank_plugin {
namespace {

class Fd {
 public:
  explicit Fd(int number) : number_(number) {}
  ~Fd() {
    if (number_ >= 0) { ::close(number_); }
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

logic::Error trouble(const std::string& path, const std::string& what) {
  return logic::retry_error("gate table " + path + ": " + what);
}

}  // namespace

GateFile::Stamp GateFile::stamp_of(const struct ::stat& status) {
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

const logic::Result<logic::GateTable>& GateFile::read() {
  struct ::stat status {};
  if (::stat(path_.c_str(), &status) != 0) {
    const int code = errno;
    stamp_.reset();
    if (code == ENOENT) {
      table_ = logic::GateTable{};
    } else {
      table_ = trouble(path_, std::strerror(code));
    }
    return table_;
  }
  if (stamp_ == stamp_of(status)) { return table_; }
  // Not known until it has been read whole: an exception on the way must not leave an old table with a new stamp.
  stamp_.reset();
  auto text = load();
  if (!text) {
    table_ = text.error();
    return table_;
  }
  table_ = logic::read_gate_table(*text);
  return table_;
}

/// Takes the stamp from the file that was opened, which may be newer than the one that stat saw.
logic::Result<std::string> GateFile::load() {
  // O_NONBLOCK: whatever stands there, opening it does not wait.
  const Fd file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct ::stat status {};
  if (!file.is_open() || ::fstat(file.number(), &status) != 0) { return trouble(path_, std::strerror(errno)); }
  if (!S_ISREG(status.st_mode)) { return trouble(path_, "is not a regular file"); }
  stamp_ = stamp_of(status);
  if (status.st_size > static_cast<off_t>(logic::gate_table_size_limit)) { return trouble(path_, "is too large"); }
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const auto count = ::read(file.number(), text.data() + filled, text.size() - filled);
    if (count < 0 && errno == EINTR) { continue; }
    if (count < 0) { return trouble(path_, std::strerror(errno)); }
    if (count == 0) { break; }
    filled += static_cast<std::size_t>(count);
  }
  text.resize(filled);
  return text;
}

}  // namespace muster::spank_plugin
