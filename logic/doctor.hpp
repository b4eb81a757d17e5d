// SPDX-License-Identifier: GPL-2.0-or-later
//
// What has to be so for muster to work, rule by rule: facts in, findings out. musterd gathers what it knows and what
// its host shows, the muster command what its own host shows; a fact that could not be had is told as such, never taken
// for a good one.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "logic/cluster_spec.hpp"
#include "logic/ledger.hpp"
#include "logic/seen.hpp"
#include "logic/slurm_conf_file.hpp"
#include "logic/slurm_messages.hpp"
#include "logic/time.hpp"
#include "logic/value.hpp"

namespace muster::logic {

/// The worst last.
enum class Verdict { ok, unknown, warning, problem };
std::string_view verdict_name(Verdict verdict);  ///< "OK", "Unknown", "Warning", "Problem"

struct Finding {
  std::string check;  ///< what was looked at, in few words; a key of slurm.conf where there is one
  Verdict verdict = Verdict::ok;
  std::string found;  ///< one sentence, without its full stop
  std::string mend;   ///< what to do; empty where nothing has to be done
  std::string host;   ///< whose files or sockets were looked at; empty: Slurm's and muster's configuration
};
using Findings = std::vector<Finding>;

Value findings_value(const Findings& findings);
Findings read_findings(const Value& list);
/// The worst first; otherwise as they were.
void sort_findings(Findings& findings);

// ---- Versions of Slurm ----

struct SlurmVersion {
  int major = 0;  ///< 22 of 22.05.8
  int minor = 0;
  int micro = 0;
  /// The release that plugins and daemons share: 2205.
  int release() const { return major * 100 + minor; }
  std::string text() const;  ///< "22.05.8"
  friend bool operator==(const SlurmVersion& a, const SlurmVersion& b) {
    return a.major == b.major && a.minor == b.minor && a.micro == b.micro;
  }
};
/// The first version number in "slurm-wlm 22.05.8"; nothing where there is none.
std::optional<SlurmVersion> find_slurm_version(std::string_view text);
/// SLURM_VERSION_NUMBER, as a plugin exports it.
SlurmVersion slurm_version_of(std::uint32_t number);

// ---- Slurm's configuration ----

struct ConfigurationFacts {
  /// Of the running slurmctld; absent where it does not answer.
  std::optional<SlurmFacts> running;
  /// What slurm.conf says now; absent where it was not read.
  std::optional<SlurmConfFile> file;
  /// Of the slurmctld program, for what its next start needs; absent where it was not found.
  std::optional<SlurmVersion> installed;
  const ClusterSpec* spec = nullptr;                 ///< null: none was applied, or musterd is away
  const Ledger* ledger = nullptr;                    ///< null as above
  const SeenNodes* nodes = nullptr;                  ///< null: Slurm could not be read
  std::optional<std::set<NodeName>> topology_nodes;  ///< listed in topology.conf; absent where it was not read
  std::string conf_server = "auto";                  ///< musterd.yaml's
  std::int64_t musterd_uid = -1;                     ///< -1: not known
};
/// Rules over what runs, and over what the next start would find; of the two the worse is told.
Findings check_configuration(const ConfigurationFacts& facts);

/// Whether slurmctld could be asked.
Finding check_slurmctld(const Result<SlurmFacts>& running);

// ---- Slurm's plugins on one host ----

struct PluginFile {
  std::string path;                     ///< where it is; empty: in none of the folders
  std::optional<std::uint32_t> number;  ///< its plugin_version
  std::string trouble;                  ///< why it could not be read
};

struct JobSubmitFacts {
  std::string job_submit_plugins;         ///< slurm.conf's list
  std::string plugin_dir;                 ///< slurm.conf's colon list
  PluginFile file;                        ///< job_submit_muster.so
  std::optional<SlurmVersion> running;    ///< slurmctld's
  std::optional<SlurmVersion> installed;  ///< as above
};
Finding check_job_submit(const JobSubmitFacts& facts);

struct SpankFacts {
  std::string plugstack;  ///< path of plugstack.conf
  std::string trouble;    ///< why it could not be read
  bool is_listed = false;
  bool is_required = false;
  std::string listed_as;
  PluginFile file;
  std::optional<SlurmVersion> slurm;  ///< of the cluster
};
Finding check_spank(const SpankFacts& facts);

// ---- The host of musterd ----

/// What stands at a path.
struct FileState {
  enum class Kind { absent, file, directory, socket, other };
  std::string path;
  Kind kind = Kind::absent;
  std::string trouble;     ///< why it could not be looked at, other than that it is not there
  unsigned mode = 0;       ///< permission bits
  bool is_public = false;  ///< everybody may read it, and pass all folders above it
};
struct FileSystemState {
  bool is_known = false;
  bool is_read_only = false;
  std::int64_t free_bytes = 0;
  std::int64_t free_files = 0;
};

struct HeadFacts {
  std::string host;
  std::vector<std::string> controller_hosts;  ///< slurm.conf's; empty: not known
  bool has_cluster = false;                   ///< a cluster file was applied
  std::string ledger_trouble;                 ///< why it cannot be written; empty when it can
  FileState state_directory;
  FileSystemState state_file_system;
  std::string write_trouble;  ///< what came of writing a file there; empty: it went well
  FileState gate_table;
  std::string plugins_gate_table;  ///< where the plugins look unless they are told otherwise
  Duration gate_table_age{0};
  FileState socket;
  struct Provider {
    std::string name;
    std::string program;
    std::string trouble;       ///< why the program cannot be run
    std::string list_trouble;  ///< what the last list answered, where it failed
  };
  std::vector<Provider> providers;
};
Findings check_head(const HeadFacts& facts);
/// The two of them that can be looked at without musterd.
Finding check_state_directory(const HeadFacts& facts);
Finding check_gate_table(const HeadFacts& facts);

// ---- Any host ----

struct HostFacts {
  std::string host;
  std::string munge_trouble;  ///< why a credential that was made here could not be read here; empty: it was
  /// Ours ahead of musterd's; absent where both are one, or musterd gave no time.
  std::optional<Duration> clock_lead;
  struct Name {
    std::string name;
    std::vector<std::string> addresses;
    std::string trouble;
  };
  std::vector<Name> controllers;
};
Findings check_host(const HostFacts& facts);

}  // namespace muster::logic
