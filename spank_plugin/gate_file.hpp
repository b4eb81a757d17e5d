// SPDX-License-Identifier: GPL-2.0-or-later
//
// The gate table as a file: read again only when it has changed. Never waits: no network, no lock, one small file.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>

#include "logic/gate_table.hpp"
#include "logic/result.hpp"

namespace muster::spank_plugin {

class GateFile {
 public:
  explicit GateFile(std::string path) : path_(std::move(path)) {}

  /// The table of now. An absent file is an empty table, which admits everybody; anything else that keeps us from
  /// reading a whole table is an Error, also on every later call until the file changes. The reference lives until the
  /// next call.
  const logic::Result<logic::GateTable>& read();

  const std::string& path() const { return path_; }

 private:
  /// What tells one state of the file from another. musterd writes a new file and renames it, so the inode alone would
  /// almost do; it may be used again, hence the rest.
  struct Stamp {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    std::time_t seconds = 0;
    long nanoseconds = 0;
    friend bool operator==(const Stamp& a, const Stamp& b) {
      return a.device == b.device && a.inode == b.inode && a.size == b.size && a.seconds == b.seconds &&
             a.nanoseconds == b.nanoseconds;
    }
  };
  static Stamp stamp_of(const struct ::stat& status);
  logic::Result<std::string> load();

  std::string path_;
  std::optional<Stamp> stamp_;
  logic::Result<logic::GateTable> table_{logic::GateTable{}};
};

}  // namespace muster::spank_plugin
