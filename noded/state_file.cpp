// SPDX-License-Identifier: GPL-2.0-or-later
#include "noded/state_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "logic/value.hpp"
#include "sys/files.hpp"
#include "sys/json.hpp"

namespace muster::noded {

using logic::Result;
using logic::Status;
using logic::Value;

namespace {
constexpr std::size_t largest_state = 65536;
}

Result<StateFile> StateFile::open(const std::string& directory) {
  if (auto made = sys::make_directories(directory, 0750); !made) return made.error();
  const std::string path = directory + "/lock";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
  if (fd < 0) return logic::reject_error(path + ": " + std::strerror(errno));
  StateFile file{directory, fd};
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return logic::reject_error(
        path + ": " + (errno == EWOULDBLOCK ? "another muster-noded runs on this directory" : std::strerror(errno)));
  }
  return file;
}

StateFile::StateFile(StateFile&& other) noexcept
    : directory_(std::move(other.directory_)), lock_fd_(std::exchange(other.lock_fd_, -1)) {}

StateFile::~StateFile() {
  if (lock_fd_ >= 0) ::close(lock_fd_);
}

Result<std::optional<SlurmdRecord>> StateFile::load() const {
  const std::string path = directory_ + "/state.json";
  if (access(path.c_str(), F_OK) != 0 && errno == ENOENT) return std::optional<SlurmdRecord>{};
  const auto text = sys::read_file(path, largest_state);
  if (!text) return text.error();
  const auto document = sys::parse_json(*text, largest_state);
  if (!document) return logic::reject_error(path + ": " + document.error().message);
  if (document->integer_or("Version") != 1) return logic::reject_error(path + ": not version 1 of this file");
  SlurmdRecord record;
  record.node = logic::NodeName{document->text_or("NodeName")};
  record.start = document->integer_or("SlurmdStart");
  record.since = logic::time_from_milliseconds(document->integer_or("SinceMilliseconds"));
  record.by_systemd = document->boolean_or("BySystemd");
  record.process.pid = static_cast<pid_t>(document->integer_or("Pid"));
  record.process.start_time = static_cast<std::uint64_t>(document->integer_or("ProcessStartTime"));
  record.boot_id = document->text_or("BootId");
  return std::optional<SlurmdRecord>{record};
}

Status StateFile::save(const SlurmdRecord& record) const {
  const Value document = Value::map({
      {"Version", 1},
      {"NodeName", record.node.str()},
      {"SlurmdStart", record.start},
      {"SinceMilliseconds", logic::to_milliseconds(record.since)},
      {"BySystemd", record.by_systemd},
      {"Pid", std::int64_t{record.process.pid}},
      {"ProcessStartTime", static_cast<std::int64_t>(record.process.start_time)},
      {"BootId", record.boot_id},
  });
  return sys::replace_file(directory_ + "/state.json", sys::to_json(document) + "\n", 0640);
}

}  // namespace muster::noded
