// SPDX-License-Identifier: GPL-2.0-or-later
//
// The rules over what a host shows: Slurm's plugins, musterd's files, munge, the clock, names.
#include <algorithm>
#include <cstdlib>

#include "logic/doctor.hpp"
#include "logic/text_layout.hpp"
#include "logic/text_parts.hpp"

namespace muster::logic {

namespace {

Finding made(std::string check, Verdict verdict, std::string found, std::string mend = {}, std::string host = {}) {
  return {std::move(check), verdict, std::move(found), std::move(mend), std::move(host)};
}

bool has_item(std::string_view list, std::string_view wanted) {
  for (std::string_view item : split_text(list, ", ")) {
    if (starts_with(item, "job_submit/")) item.remove_prefix(std::string_view("job_submit/").size());
    if (item == wanted) return true;
  }
  return false;
}

std::string rebuild(const SlurmVersion& version) {
  return "build muster against Slurm " + version.text() +
         " (./configure finds its headers) and install it, before slurmctld is started again";
}

std::string mode_text(unsigned mode) {
  std::string digits;
  for (const unsigned shift : {9U, 6U, 3U, 0U}) digits.push_back(static_cast<char>('0' + ((mode >> shift) & 7U)));
  return digits;
}

std::string size_text(std::int64_t bytes) {
  constexpr std::int64_t mib = 1 << 20;
  constexpr std::int64_t gib = mib << 10;
  return bytes >= 10 * gib ? std::to_string(bytes / gib) + " GiB" : std::to_string(bytes / mib) + " MiB";
}

}  // namespace

Finding check_slurmctld(const Result<SlurmFacts>& running) {
  if (running) return made("slurmctld", Verdict::ok, "Slurm " + running->version + " answers");
  return made(
      "slurmctld", Verdict::problem,
      "it does not answer: " + running.error().message +
          "; running jobs go on, and nothing is opened or released meanwhile",
      "systemctl status slurmctld; journalctl -u slurmctld -n 30. What is said of its configuration here was read "
      "from slurm.conf");
}

// ---- Plugins ----

Finding check_job_submit(const JobSubmitFacts& facts) {
  const std::string check = "job_submit/muster";
  const auto& next = facts.installed ? facts.installed : facts.running;
  if (!has_item(facts.job_submit_plugins, "muster")) {
    return made(
        check, Verdict::warning,
        "JobSubmitPlugins has no muster: no job is held at submission, and one for more nodes than there are is "
        "refused",
        "set JobSubmitPlugins=" + facts.job_submit_plugins + (facts.job_submit_plugins.empty() ? "" : ",") +
            "muster in slurm.conf and restart slurmctld");
  }
  const std::string without = ", or take muster out of JobSubmitPlugins";
  if (facts.file.path.empty()) {
    return made(check, Verdict::problem,
                "JobSubmitPlugins has muster, but there is no job_submit_muster.so in " + facts.plugin_dir +
                    ": slurmctld does not start again",
                (next ? rebuild(*next) : std::string("install muster's plugins")) + without);
  }
  if (!facts.file.number) {
    return made(check, Verdict::problem,
                facts.file.path + " cannot be used: " + facts.file.trouble + "; slurmctld does not start with it",
                (next ? rebuild(*next) : std::string("install muster's plugins again")) + without);
  }
  const SlurmVersion built = slurm_version_of(*facts.file.number);
  if (!next) {
    return made(check, Verdict::unknown,
                facts.file.path + " was built for Slurm " + built.text() + "; slurmctld's version is not known",
                "compare with 'slurmctld -V': they have to agree to the last digit");
  }
  if (!(built == *next)) {
    return made(check, Verdict::problem,
                facts.file.path + " was built for Slurm " + built.text() + " and slurmctld" +
                    (facts.installed && facts.running && !(*facts.installed == *facts.running) ? " on disk" : "") +
                    " is " + next->text() + ": it does not start again with this module",
                rebuild(*next) + without);
  }
  return made(check, Verdict::ok, "built for Slurm " + built.text() + ": " + facts.file.path);
}

Finding check_spank(const SpankFacts& facts) {
  const std::string check = "spank/muster";
  const std::string install = "put the line of muster's share folder (plugstack.conf) into " + facts.plugstack;
  if (!facts.trouble.empty() || !facts.is_listed) {
    return made(check, Verdict::warning,
                (facts.trouble.empty() ? facts.plugstack + " does not name spank_muster.so" : facts.trouble) +
                    ": sbatch, salloc and srun do not know --min-count here",
                install);
  }
  const Verdict bad = facts.is_required ? Verdict::problem : Verdict::warning;
  const std::string effect = facts.is_required ? "; as it is required, no sbatch, salloc or srun works here"
                                               : "; sbatch, salloc and srun do not know --min-count here";
  const std::string again = "install muster's plugins again, built against the Slurm of this host";
  if (facts.file.path.empty())
    return made(check, bad, facts.plugstack + " names " + facts.listed_as + ", which is not there" + effect, again);
  if (!facts.file.number)
    return made(check, bad, facts.file.path + " cannot be used: " + facts.file.trouble + effect, again);
  const SlurmVersion built = slurm_version_of(*facts.file.number);
  if (facts.slurm && built.release() != facts.slurm->release()) {
    return made(
        check, bad,
        facts.file.path + " was built for Slurm " + built.text() + " and Slurm is " + facts.slurm->text() + effect,
        again);
  }
  return made(check, Verdict::ok, "built for Slurm " + built.text() + ": " + facts.file.path);
}

// ---- musterd's host ----

Finding check_state_directory(const HeadFacts& facts) {
  const std::string check = "state directory";
  const FileState& directory = facts.state_directory;
  const FileSystemState& disk = facts.state_file_system;
  constexpr std::int64_t too_little = std::int64_t{64} << 20;
  if (!facts.write_trouble.empty()) {
    std::string cause;
    if (disk.is_known && disk.is_read_only) cause = " (its file system is read-only)";
    if (disk.is_known && (disk.free_bytes == 0 || disk.free_files == 0)) cause = " (its file system is full)";
    return made(check, Verdict::problem,
                "nothing can be written there" + cause + ": " + facts.write_trouble +
                    "; musterd decides nothing new until it can",
                "make room, or mount it for writing; musterd goes on by itself. It has to belong to SlurmUser");
  }
  if ((directory.mode & 022U) != 0) {
    return made(check, Verdict::problem,
                directory.path + " may be written by others (mode " + mode_text(directory.mode) +
                    "): they could change what musterd has decided",
                "chmod go-w " + directory.path);
  }
  if (disk.is_known && (disk.free_bytes < too_little || disk.free_files < 100)) {
    return made(check, Verdict::warning,
                directory.path + " has " + size_text(disk.free_bytes) + " and " + std::to_string(disk.free_files) +
                    " files left on its file system",
                "make room: when it is full, musterd decides nothing new");
  }
  return made(check, Verdict::ok,
              directory.path + (disk.is_known ? ", " + size_text(disk.free_bytes) + " free" : std::string()));
}

Finding check_gate_table(const HeadFacts& facts) {
  const std::string check = "gate table";
  const FileState& table = facts.gate_table;
  constexpr Duration lifetime = std::chrono::minutes{5};
  if (table.kind == FileState::Kind::absent) {
    if (!facts.has_cluster) return made(check, Verdict::ok, table.path + " is made with the first muster apply");
    return made(check, Verdict::problem,
                (table.trouble.empty() ? table.path + " is not there" : table.trouble) +
                    ": new jobs are admitted without a hold",
                "see why in musterd's log: journalctl -u musterd");
  }
  if (facts.gate_table_age > lifetime) {
    return made(check, Verdict::problem,
                table.path + " was last written " + rough_duration(facts.gate_table_age) +
                    " ago: new jobs are admitted without a hold",
                "see why in musterd's log: journalctl -u musterd. It is written while Slurm answers");
  }
  if (!table.is_public) {
    return made(check, Verdict::problem,
                table.path + " cannot be read by everybody (mode " + mode_text(table.mode) +
                    ", or a folder above it): slurmctld may not see it, and then admits jobs without a hold",
                "chmod a+r " + table.path + ", and a+x on the folders above it");
  }
  if (table.path != facts.plugins_gate_table) {
    return made(check, Verdict::warning,
                table.path + " is not where job_submit/muster looks (" + facts.plugins_gate_table +
                    ") unless slurmctld's environment says so",
                "set MUSTER_GATE_TABLE=" + table.path +
                    " for slurmctld (systemctl edit slurmctld), or leave gate_table "
                    "out of musterd.yaml");
  }
  return made(check, Verdict::ok, table.path);
}

namespace {

Finding check_socket(const HeadFacts& facts) {
  const std::string check = "socket";
  if (facts.socket.kind != FileState::Kind::socket) {
    return made(check, Verdict::problem, facts.socket.path + " is gone: muster on this host does not find musterd",
                "systemctl restart musterd");
  }
  if ((facts.socket.mode & 02U) == 0) {
    return made(check, Verdict::warning,
                facts.socket.path + " has mode " + mode_text(facts.socket.mode) +
                    ": only some users can ask musterd, and muster why is for everybody",
                "systemctl restart musterd, which makes it anew");
  }
  return made(check, Verdict::ok, facts.socket.path);
}

/// Host names agree up to the first dot.
bool same_host(std::string_view a, std::string_view b) { return a.substr(0, a.find('.')) == b.substr(0, b.find('.')); }

Finding check_head_name(const HeadFacts& facts) {
  const std::string check = "SlurmctldHost";
  std::string all;
  for (const std::string& name : facts.controller_hosts) all += (all.empty() ? "" : ", ") + name;
  if (facts.controller_hosts.empty())
    return made(check, Verdict::unknown, "not known while slurmctld does not answer", "");
  const bool is_here = std::any_of(facts.controller_hosts.begin(), facts.controller_hosts.end(),
                                   [&](const std::string& name) { return same_host(name, facts.host); });
  if (is_here) return made(check, Verdict::ok, all);
  return made(check, Verdict::problem,
              "slurm.conf has " + all + ", and musterd's host is named " + facts.host +
                  ": slurmctld reads the gate table on its own host, where musterd does not write it",
              "run musterd on the host of slurmctld, or make SlurmctldHost and 'hostname' there agree");
}

Finding check_provider(const HeadFacts::Provider& provider) {
  const std::string check = "provider " + provider.name;
  if (!provider.trouble.empty()) {
    return made(check, Verdict::problem, "its program: " + provider.trouble + "; no machine is launched or ended",
                "put it there and chmod +x it; muster-provider(7) says what it has to do");
  }
  if (!provider.list_trouble.empty()) {
    return made(check, Verdict::warning, "its last list failed: " + provider.list_trouble,
                "try it by hand: " + provider.program + " list (muster-provider(7))");
  }
  return made(check, Verdict::ok, provider.program);
}

}  // namespace

Findings check_head(const HeadFacts& facts) {
  Findings findings;
  findings.push_back(facts.has_cluster
                         ? made("cluster file", Verdict::ok, "applied")
                         : made("cluster file", Verdict::warning, "none was applied yet: there are no groups",
                                "muster apply -f FILE; muster-cluster.yaml(5) has an example"));
  if (!facts.ledger_trouble.empty()) {
    findings.push_back(made("ledger", Verdict::problem,
                            "it cannot be written, so nothing new is done: " + facts.ledger_trouble,
                            "mend the state directory (below or above); musterd tries again with every pass"));
  }
  findings.push_back(check_state_directory(facts));
  findings.push_back(check_gate_table(facts));
  findings.push_back(check_socket(facts));
  findings.push_back(check_head_name(facts));
  for (const HeadFacts::Provider& provider : facts.providers) findings.push_back(check_provider(provider));
  for (Finding& finding : findings) finding.host = facts.host;
  return findings;
}

// ---- Any host ----

namespace {

Finding check_clock(Duration lead) {
  const std::string check = "clock";
  constexpr Duration munge_lifetime = std::chrono::minutes{5};
  constexpr Duration noticeable = std::chrono::seconds{3};
  const Duration apart = std::chrono::abs(lead);
  if (apart < noticeable) return made(check, Verdict::ok, "agrees with musterd's");
  const std::string found = rough_duration(apart) + (lead > Duration{0} ? " ahead of musterd's" : " behind musterd's");
  const std::string mend = "set the clock and keep it right with chrony or systemd-timesyncd, here and on the head";
  if (apart >= munge_lifetime)
    return made(check, Verdict::problem, found + ": MUNGE credentials are refused from 5 min on", mend);
  return made(check, Verdict::warning, found + ": MUNGE credentials are refused from 5 min on", mend);
}

Finding check_names(const std::vector<HostFacts::Name>& names) {
  const std::string check = "head's name";
  std::string all;
  for (const HostFacts::Name& name : names) {
    if (!name.trouble.empty()) {
      return made(check, Verdict::problem,
                  name.name + " (SlurmctldHost) does not resolve here: " + name.trouble +
                      "; Slurm's commands wait for seconds, and slurmd does not find slurmctld",
                  "add it to the name server or to /etc/hosts, here and on the nodes");
    }
    std::string addresses;
    for (const std::string& address : name.addresses) addresses += (addresses.empty() ? "" : ", ") + address;
    all += (all.empty() ? "" : "; ") + name.name + " is " + addresses;
  }
  return made(check, Verdict::ok, all);
}

}  // namespace

Findings check_host(const HostFacts& facts) {
  Findings findings;
  if (facts.munge_trouble.empty())
    findings.push_back(made("munge", Verdict::ok, "a credential made here is read here"));
  else
    findings.push_back(
        made("munge", Verdict::problem,
             "no credential can be made and read: " + facts.munge_trouble + "; no Slurm command works without it",
             "systemctl restart munge, and see journalctl -u munge; /etc/munge/munge.key has to be the "
             "same on all hosts"));
  if (facts.clock_lead) findings.push_back(check_clock(*facts.clock_lead));
  if (!facts.controllers.empty()) findings.push_back(check_names(facts.controllers));
  for (Finding& finding : findings) finding.host = facts.host;
  return findings;
}

}  // namespace muster::logic
