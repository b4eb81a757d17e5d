// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "sys/fd.hpp"

namespace muster::sys {
namespace {

using logic::Done;
using logic::Error;
using logic::Status;

Error file_error(std::string_view what, const std::string& path, int code) {
  std::string sentence = std::string(what) + " " + path + ": " + std::strerror(code);
  switch (code) {
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
    case ENAMETOOLONG: return logic::reject_error(std::move(sentence));
    default: return logic::retry_error(std::move(sentence));
  }
}

std::string directory_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Status sync_directory(const std::string& directory) {
  const Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return file_error("cannot open the directory", directory, errno);
  // Some file systems know no fsync of a directory; the rename is then as durable as they make it.
  if (::fsync(fd.get()) != 0 && errno != EINVAL) return file_error("cannot fsync the directory", directory, errno);
  return Done{};
}

}  // namespace

logic::Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return file_error("cannot open", path, errno);
  std::string content;
  std::array<char, 65536> chunk{};
  for (;;) {
    const ssize_t got = ::read(fd.get(), chunk.data(), chunk.size());
    if (got < 0) {
      if (errno == EINTR) continue;
      return file_error("cannot read", path, errno);
    }
    if (got == 0) return content;
    if (content.size() + static_cast<std::size_t>(got) > max_bytes)
      return logic::reject_error("cannot read " + path + ": larger than " + std::to_string(max_bytes) + " bytes");
    content.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

Status replace_file(const std::string& path, const std::string& content, unsigned mode, bool durable) {
  std::string temporary = path + ".XXXXXX";
  Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return file_error("cannot make a temporary file beside", path, errno);
  const auto failed = [&](std::string_view what) {
    const Error error = file_error(what, path, errno);
    ::unlink(temporary.c_str());
    return error;
  };
  if (!write_all(fd.get(), content)) return failed("cannot write");
  if (::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0) return failed("cannot set the mode of");
  if (durable && ::fsync(fd.get()) != 0) return failed("cannot fsync");
  if (!(::close(fd.release()) == 0)) return failed("cannot close");
  if (::rename(temporary.c_str(), path.c_str()) != 0) return failed("cannot replace");
  return durable ? sync_directory(directory_of(path)) : Status{Done{}};
}

Status make_directories(const std::string& path, unsigned mode) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (!part.empty() && ::mkdir(part.c_str(), static_cast<mode_t>(mode)) != 0 && errno != EEXIST)
      return file_error("cannot make the directory", part, errno);
    if (slash == std::string::npos) break;
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return file_error("cannot make the directory", path, errno);
  if (!S_ISDIR(info.st_mode)) return file_error("cannot make the directory", path, ENOTDIR);
  return Done{};
}

logic::Result<Fd> lock_file(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  // A lock needs no writing, and whoever works in a read-only directory has to be alone, too.
  if (!fd && errno == EROFS) fd = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return file_error("cannot open", path, errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno == EWOULDBLOCK) return logic::retry_error(path + " is locked: another process works in this directory");
  return file_error("cannot lock", path, errno);
}

}  // namespace muster::sys
