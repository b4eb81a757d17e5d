// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/service_link.hpp"

#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// The journal's source location fields would name this file for every line.
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>

#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <mutex>
#include <vector>

#include "sys/clock.hpp"

namespace muster::sys {
namespace {

constexpr std::chrono::minutes throttle_interval{5};
constexpr std::size_t max_throttled_keys = 1000;
std::atomic<LogLevel> log_limit{LogLevel::info};

/// Whether stderr is the stream that the service manager connected to the journal (systemd.exec(5), JOURNAL_STREAM).
bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat info {};
  if (stream == nullptr || fstat(STDERR_FILENO, &info) != 0) return false;
  return std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino) == stream;
}

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::err: return "err";
    case LogLevel::warning: return "warning";
    case LogLevel::notice: return "notice";
    case LogLevel::info: return "info";
    case LogLevel::debug: return "debug";
  }
  return "err";
}

bool needs_quotes(std::string_view text) {
  if (text.empty()) return true;
  for (char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte <= ' ' || byte == 0x7f || letter == '"' || letter == '\\' || letter == '=') return true;
  }
  return false;
}

/// One line whatever the text: outside text may hold newlines, terminal escapes and quotes.
void append_value(std::string& line, std::string_view text) {
  if (!needs_quotes(text)) {
    line += text;
    return;
  }
  line.push_back('"');
  for (char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      line.push_back('\\');
      line.push_back(letter);
    } else if (letter == '\n') {
      line += "\\n";
    } else if (byte < ' ' || byte == 0x7f) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned>(byte));
      line += escape.data();
    } else {
      line.push_back(letter);
    }
  }
  line.push_back('"');
}

std::string message_text(std::string_view event, const std::vector<LogField>& fields) {
  std::string text = "event=";
  append_value(text, event);
  for (const auto& [name, value] : fields) {
    text.push_back(' ');
    text += name;
    text.push_back('=');
    append_value(text, value);
  }
  return text;
}

std::string iso_time() {
  const auto time = now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  const auto milliseconds = static_cast<int>(logic::to_milliseconds(time) % 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text.data() + length, text.size() - length, ".%03dZ", milliseconds);
  return text.data();
}

/// MUSTER_NODE=n17; journal field names are upper case letters, digits and underscores.
std::string journal_field(std::string_view name, std::string_view value) {
  std::string text = "MUSTER_";
  for (char letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    text.push_back(std::isalnum(byte) != 0 ? static_cast<char>(std::toupper(byte)) : '_');
  }
  text.push_back('=');
  text += value;
  return text;
}

void log_to_journal(LogLevel level, std::string_view event, const std::vector<LogField>& fields) {
  std::vector<std::string> entries;
  entries.reserve(fields.size() + 4);
  entries.push_back("MESSAGE=" + message_text(event, fields));
  entries.push_back("PRIORITY=" + std::to_string(static_cast<int>(level)));
  entries.push_back(std::string("SYSLOG_IDENTIFIER=") + program_invocation_short_name);
  entries.push_back(journal_field("event", event));
  for (const auto& [name, value] : fields) entries.push_back(journal_field(name, value));
  std::vector<iovec> parts;
  parts.reserve(entries.size());
  for (std::string& entry : entries) parts.push_back({entry.data(), entry.size()});
  sd_journal_sendv(parts.data(), static_cast<int>(parts.size()));
}

void log_to_stderr(LogLevel level, std::string_view event, const std::vector<LogField>& fields) {
  std::string line = iso_time() + " " + std::string(level_name(level)) + ": " + message_text(event, fields) + "\n";
  // One write, so that lines of several threads do not mix. Where stderr is gone there is nobody left to tell.
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

void log_fields(LogLevel level, std::string_view event, const std::vector<LogField>& fields) {
  if (level > log_limit.load()) return;
  static const bool journal = stderr_is_journal();
  if (journal) {
    log_to_journal(level, event, fields);
  } else {
    log_to_stderr(level, event, fields);
  }
}

struct Throttled {
  std::string text;
  std::chrono::steady_clock::time_point logged;
  unsigned suppressed = 0;
};

struct ThrottleTable {
  std::mutex mutex;
  std::map<std::string, Throttled> entries;
};

ThrottleTable& throttle_table() {
  static ThrottleTable table;
  return table;
}

/// How many were left out before this one, or -1 where this one is to be left out too.
int throttle(const std::string& key, const std::string& text) {
  ThrottleTable& table = throttle_table();
  const std::lock_guard<std::mutex> lock(table.mutex);
  if (table.entries.size() >= max_throttled_keys && table.entries.count(key) == 0) table.entries.clear();
  const auto now_steady = std::chrono::steady_clock::now();
  const auto [found, is_new] = table.entries.try_emplace(key);
  Throttled& entry = found->second;
  if (!is_new && entry.text == text && now_steady - entry.logged < throttle_interval) {
    ++entry.suppressed;
    return -1;
  }
  const int left_out = entry.text == text ? static_cast<int>(entry.suppressed) : 0;
  entry = {text, now_steady, 0};
  return left_out;
}

void notify(const char* first_line, const std::string& status) {
  std::string one_line = status;
  for (char& letter : one_line) {
    if (letter == '\n') letter = ' ';
  }
  sd_notify(0, (std::string(first_line) + "STATUS=" + one_line).c_str());
}

}  // namespace

void notify_ready(const std::string& status) { notify("READY=1\n", status); }
void notify_status(const std::string& status) { notify("", status); }
void notify_stopping(const std::string& status) { notify("STOPPING=1\n", status); }

void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  log_fields(level, event, fields);
}

void set_log_level(LogLevel level) { log_limit.store(level); }

void log_throttled(LogLevel level, std::string_view event, const std::string& key, const std::string& text) {
  const int left_out = throttle(key, text);
  if (left_out < 0) return;
  std::vector<LogField> fields{{"about", key}, {"text", text}};
  if (left_out > 0) fields.emplace_back("repeated", std::to_string(left_out));
  log_fields(level, event, fields);
}

}  // namespace muster::sys
