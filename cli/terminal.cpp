// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/terminal.hpp"

#include <langinfo.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <vector>

namespace muster::cli {

namespace {

constexpr std::size_t least_width = 40;  // a terminal that says less is not believed

winsize terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) size = {};
  return size;
}

bool has_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour && *no_colour != '\0') return false;
  const char* kind = std::getenv("TERM");
  return kind && *kind != '\0' && std::strcmp(kind, "dumb") != 0;
}

std::string login_name(std::int64_t uid) {
  // Asking the directory service for each job again would be slow where it is remote.
  static std::map<std::int64_t, std::string> known;
  if (const auto found = known.find(uid); found != known.end()) return found->second;
  std::string name = std::to_string(uid);
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (uid >= 0 && ::getpwuid_r(static_cast<uid_t>(uid), &entry, buffer.data(), buffer.size(), &found) == 0 && found) {
    name = logic::safe_text(entry.pw_name, {});
  }
  known.emplace(uid, name);
  return name;
}

std::string local_clock(logic::Time time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  if (!::localtime_r(&seconds, &parts)) return "?";
  std::array<char, 32> text{};
  const std::size_t used = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return {text.data(), used};
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

View stdout_view() {
  View view;
  view.user_name = login_name;
  view.clock_text = local_clock;
  if (stdout_is_terminal()) {
    std::setlocale(LC_CTYPE, "");
    view.style.colour = has_colour();
    view.style.unicode = std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0;
    const std::size_t columns = terminal_size().ws_col;
    view.style.width = columns == 0 ? 0 : std::max(columns, least_width);
  }
  return view;
}

bool stdout_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

std::size_t terminal_rows() { return terminal_size().ws_row; }

bool write_out(std::string_view text) { return write_all(STDOUT_FILENO, text); }

void complain(std::string_view text) {
  std::string out;
  for (bool first = true; first || !text.empty(); first = false) {
    const std::size_t end = text.find('\n');
    out += (first ? "muster: " : "        ") + logic::safe_text(text.substr(0, end), {}) + "\n";
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  write_all(STDERR_FILENO, out);
}

}  // namespace muster::cli
