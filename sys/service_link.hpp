// SPDX-License-Identifier: GPL-2.0-or-later
//
// The link to the service manager and the journal: sd_notify states, and log lines with fields. Where there is no
// systemd, notifications go nowhere and log lines go to stderr as "TIME level: event=... key=value".
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace muster::sys {

/// READY=1 with a status line; STATUS=; STOPPING=1; each a no-op without NOTIFY_SOCKET.
void notify_ready(const std::string& status);
void notify_status(const std::string& status);
void notify_stopping(const std::string& status);

/// err: an operator must act. warning: we went on, and say how. notice: state changed. info: life cycle. debug: the
/// rest.
enum class LogLevel { err = 3, warning = 4, notice = 5, info = 6, debug = 7 };
using LogField = std::pair<std::string_view, std::string>;

/// One line = one fact. Values with blanks or quotes are quoted. Safe to call from any thread.
/// log(LogLevel::notice, "node_register", {{"node", "n17"}, {"result", "retry"}});
void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});
/// Lines above this level are dropped; default info.
void set_log_level(LogLevel level);

/// Like log, but the same key with the same text is repeated at most every 5 minutes (with a count), and at once when
/// the text changes. key names the trouble ("slurm_read"), text is its cause.
void log_throttled(LogLevel level, std::string_view event, const std::string& key, const std::string& text);

}  // namespace muster::sys
