// SPDX-License-Identifier: GPL-2.0-or-later
//
// A munged of a test's own: its key, socket and files are in a directory that goes with it.
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "sys/child_process.hpp"
#include "sys/files.hpp"
#include "sys/munge_credential.hpp"
#include "tests/unit/sys/temporary_directory.hpp"

namespace muster::sys {

class PrivateMunged {
 public:
  explicit PrivateMunged(EventLoop& loop, const std::string& key = std::string(64, 'k')) {
    // munged refuses a directory that others may write to, or may not enter.
    chmod(directory_.path().c_str(), 0755);
    if (!replace_file(directory_.file("key"), key, 0600)) return;
    auto run =
        run_command(loop,
                    {{"munged", "--foreground", "--force", "--num-threads=2", "--key-file=" + directory_.file("key"),
                      "--socket=" + socket(), "--pid-file=" + directory_.file("pid"),
                      "--log-file=" + directory_.file("log"), "--seed-file=" + directory_.file("seed")},
                     {{"PATH", "/usr/sbin:/usr/bin:/sbin:/bin"}}},
                    "", std::chrono::minutes{2}, [](const Finished&) {});
    if (!run) return;
    run_ = std::move(*run);
    for (int attempt = 0; attempt < 20 && !is_up_; ++attempt) {
      std::this_thread::sleep_for(std::chrono::milliseconds{50});
      struct stat info {};
      is_up_ = stat(socket().c_str(), &info) == 0 && munge_encode("", socket());
    }
  }
  /// False where there is no munged on this machine, or it does not start.
  bool is_up() const { return is_up_; }
  std::string socket() const { return directory_.file("socket"); }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<Run> run_;
  bool is_up_ = false;
};

}  // namespace muster::sys
