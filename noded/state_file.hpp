// SPDX-License-Identifier: GPL-2.0-or-later
//
// What must survive a restart of noded: which slurmd runs, under which name and for which start number. One noded at a
// time holds the directory.
#pragma once

#include <optional>
#include <string>

#include "logic/names.hpp"
#include "logic/result.hpp"
#include "logic/time.hpp"
#include "sys/detached_process.hpp"

namespace muster::noded {

struct SlurmdRecord {
  logic::NodeName node;
  std::int64_t start = 0;
  logic::Time since = logic::no_time;
  bool by_systemd = false;
  sys::ProcessIdentity process;  ///< pid 0: being started
  std::string boot_id;
};

class StateFile {
 public:
  /// Makes the directory and locks it until destruction; an error where another noded holds it.
  static logic::Result<StateFile> open(const std::string& directory);
  StateFile(StateFile&& other) noexcept;
  StateFile& operator=(StateFile&&) = delete;
  ~StateFile();

  /// None where nothing was ever saved; an error where the file is there and cannot be understood.
  logic::Result<std::optional<SlurmdRecord>> load() const;
  logic::Status save(const SlurmdRecord& record) const;
  /// Where a slurmd that is our child writes what it has to say.
  std::string output_path() const { return directory_ + "/slurmd.out"; }

 private:
  StateFile(std::string directory, int lock_fd) : directory_(std::move(directory)), lock_fd_(lock_fd) {}
  std::string directory_;
  int lock_fd_;
};

}  // namespace muster::noded
