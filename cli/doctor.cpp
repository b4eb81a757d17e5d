// SPDX-License-Identifier: GPL-2.0-or-later
//
// muster doctor: musterd's findings, and those of this host. Where musterd does not answer, Slurm is asked and the
// files are read here.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/render_doctor.hpp"
#include "cli/terminal.hpp"
#include "logic/doctor.hpp"
#include "sys/child_process.hpp"
#include "sys/clock.hpp"
#include "sys/files.hpp"
#include "sys/host.hpp"
#include "sys/munge_credential.hpp"
#include "sys/slurm_files.hpp"
#include "sys/slurm_link.hpp"
#include "sys/yaml.hpp"

namespace muster::cli {

using logic::Finding;
using logic::Findings;
using logic::Value;
using logic::Verdict;

namespace {

constexpr std::chrono::seconds head_deadline{58};  // musterd answers within 60
constexpr std::chrono::seconds slurm_deadline{20};
constexpr std::chrono::seconds version_deadline{5};

/// What the checks of this host have to know of Slurm.
struct SlurmHere {
  std::optional<logic::SlurmVersion> version;
  std::vector<std::string> controllers;
  std::string plugin_dir = MUSTER_SLURM_PLUGINDIR;
  std::string plugstack;
};

void add(Findings& findings, Findings more) {
  for (Finding& finding : more) findings.push_back(std::move(finding));
}

SlurmHere told_by(const Value& answer) {
  SlurmHere slurm;
  const Value* told = answer.find("Slurm");
  if (told == nullptr) return slurm;
  slurm.version = logic::find_slurm_version(told->text_or("Version"));
  for (const Value& host : told->list_or_empty("ControllerHosts")) {
    if (host.as_text() != nullptr) slurm.controllers.push_back(*host.as_text());
  }
  if (const std::string folders = told->text_or("PluginDir"); !folders.empty()) slurm.plugin_dir = folders;
  slurm.plugstack = told->text_or("Plugstack");
  return slurm;
}

SlurmHere found_in(const logic::SlurmFacts& facts) {
  SlurmHere slurm;
  slurm.version = logic::find_slurm_version(facts.version);
  slurm.controllers = facts.controller_hosts;
  if (!facts.plugin_dir.empty()) slurm.plugin_dir = facts.plugin_dir;
  slurm.plugstack = facts.plugstack;
  return slurm;
}

Finding musterd_answers(const Value& answer, const std::string& server) {
  const std::string version = answer.text_or("Version");
  const std::string found = version + " answers at " + server;
  if (version == PACKAGE_VERSION) return {"musterd", Verdict::ok, found, "", ""};
  return {"musterd", Verdict::warning, found + ", and this is muster " PACKAGE_VERSION,
          "install one version everywhere, then restart musterd", ""};
}

Finding musterd_is_silent(std::string why) {
  // What to do stands in its own place here.
  why.resize(std::min(why.size(), why.find("; is musterd running?")));
  return {"musterd", Verdict::problem,
          why + "; running jobs go on and open nodes stay open, but nothing is launched, opened or released",
          "systemctl start musterd; if it does not stay up: journalctl -u musterd -n 30. Jobs that it holds: muster "
          "release --all",
          ""};
}

// ---- Without musterd ----

logic::Result<logic::SlurmFacts> ask_slurm(const sys::SlurmLinkSettings& settings) {
  const auto config = sys::slurm_request_and_wait(settings, Value::map({{"op", "config"}}), slurm_deadline);
  if (!config) return config.error();
  const auto partitions = sys::slurm_request_and_wait(settings, Value::map({{"op", "partitions"}}), slurm_deadline);
  if (!partitions) return partitions.error();
  return logic::read_slurm_facts(*config, *partitions);
}

logic::Result<logic::SeenNodes> ask_nodes(const sys::SlurmLinkSettings& settings) {
  const auto answer =
      sys::slurm_request_and_wait(settings, Value::map({{"op", "nodes"}, {"since", 0}}), slurm_deadline);
  if (!answer) return answer.error();
  return logic::read_seen_nodes(*answer);
}

std::optional<logic::SlurmVersion> program_version() {
  const auto run = sys::run_command_and_wait({{sys::slurmctld_program(), "-V"}, {}}, "", version_deadline);
  return run ? logic::find_slurm_version(run->output) : std::nullopt;
}

/// musterd.yaml, where this is its host; an empty map elsewhere.
Value musterd_settings() {
  const std::string path = MUSTER_SYSCONFDIR "/musterd.yaml";
  if (const auto text = sys::read_file(path)) {
    if (auto document = sys::parse_yaml(*text, path)) return *std::move(document);
  }
  return Value::map();
}

/// musterd's own files, at the places that its settings name.
Findings look_at_musterds_files(const Value& settings) {
  logic::HeadFacts facts;
  const std::string run_directory = settings.text_or("run_directory", MUSTER_RUNDIR);
  facts.state_directory = sys::look_at_file(settings.text_or("state_directory", MUSTER_STATEDIR));
  facts.gate_table = sys::look_at_file(settings.text_or("gate_table", run_directory + "/gate-table"));
  Findings findings;
  if (facts.state_directory.kind == logic::FileState::Kind::directory) {
    facts.state_file_system = sys::look_at_file_system(facts.state_directory.path);
    facts.write_trouble = sys::try_writing(facts.state_directory.path);
    findings.push_back(logic::check_state_directory(facts));
  }
  if (facts.gate_table.kind == logic::FileState::Kind::file) {
    facts.plugins_gate_table = MUSTER_RUNDIR "/gate-table";
    facts.gate_table_age = sys::file_age(facts.gate_table.path, sys::now());
    findings.push_back(logic::check_gate_table(facts));
  }
  for (Finding& finding : findings) finding.host = sys::host_name();
  return findings;
}

SlurmHere look_without_musterd(DoctorOptions options, const Value& musterd, Findings& findings) {
  if (options.slurm_helper.empty())
    options.slurm_helper = musterd.text_or("slurm_helper", MUSTER_LIBEXECDIR "/muster-slurm");
  if (options.slurm_conf.empty()) options.slurm_conf = musterd.text_or("slurm_conf", sys::find_slurm_conf());
  const std::string& conf = options.slurm_conf;
  auto file = sys::load_slurm_conf(conf);
  if (!file) {
    findings.push_back({"slurm.conf", Verdict::unknown,
                        conf.empty() ? "there is none in the usual places on this host" : file.error().message,
                        "run muster doctor on the head, or say --slurm-conf PATH", sys::host_name()});
    return {};
  }
  const sys::SlurmLinkSettings settings{options.slurm_helper, conf};
  logic::ConfigurationFacts facts;
  facts.file = *std::move(file);
  facts.installed = program_version();
  facts.topology_nodes = sys::load_topology(conf);
  logic::Result<logic::SlurmFacts> running = logic::reject_error("it was not asked");
  if (const std::string trouble = sys::program_trouble(options.slurm_helper); trouble.empty()) {
    running = ask_slurm(settings);
    findings.push_back(logic::check_slurmctld(running));
  } else {
    findings.push_back({"slurmctld", Verdict::unknown, "it cannot be asked without muster-slurm: found " + trouble,
                        "install all of muster here, or say --slurm-helper PATH", sys::host_name()});
  }
  logic::SeenNodes nodes;
  if (running) {
    facts.running = *running;
    if (auto seen = ask_nodes(settings)) {
      nodes = *std::move(seen);
      facts.nodes = &nodes;
    }
  }
  add(findings, logic::check_configuration(facts));
  const logic::SlurmFacts& slurm = running ? *facts.running : facts.file->facts;
  SlurmHere here = found_in(slurm);
  if (!here.version) here.version = facts.installed;

  // The module concerns the host of slurmctld alone.
  const auto& controllers = slurm.controller_hosts;
  if (facts.installed || std::find(controllers.begin(), controllers.end(), sys::host_name()) != controllers.end()) {
    findings.push_back(logic::check_job_submit(sys::find_job_submit(slurm, here.plugin_dir, facts.installed)));
    findings.back().host = sys::host_name();
  }
  return here;
}

// ---- This host ----

std::string munge_trouble() {
  const auto credential = sys::munge_encode("muster doctor", "");
  if (!credential) return credential.error().message;
  const auto identity = sys::munge_decode(*credential, "");
  return identity ? std::string() : identity.error().message;
}

Findings look_at_this_host(const SlurmHere& slurm, std::optional<logic::Duration> clock_lead) {
  logic::HostFacts facts;
  facts.host = sys::host_name();
  facts.munge_trouble = munge_trouble();
  facts.clock_lead = clock_lead;
  for (const std::string& name : slurm.controllers) {
    const auto addresses = sys::resolve(name);
    if (addresses)
      facts.controllers.push_back({name, *addresses, {}});
    else
      facts.controllers.push_back({name, {}, addresses.error().message});
  }
  Findings findings = logic::check_host(facts);
  if (!slurm.plugstack.empty()) {
    logic::SpankFacts spank = sys::find_spank_plugin(slurm.plugstack, slurm.plugin_dir, "spank_muster.so");
    spank.slurm = slurm.version;
    findings.push_back(logic::check_spank(spank));
    findings.back().host = facts.host;
  }
  return findings;
}

/// Ours ahead of musterd's, as far as one answer tells; nothing where both are on one machine.
std::optional<logic::Duration> clock_lead(const sys::HttpAnswer& answer, const std::string& server) {
  if (server.rfind("unix:", 0) == 0) return std::nullopt;
  const auto told = time_member(answer.body, "Time");
  if (!told && answer.date == logic::no_time) return std::nullopt;
  return sys::now() - told.value_or(answer.date);
}

}  // namespace

int run_doctor(const CommonOptions& common, const DoctorOptions& options) {
  Findings findings;
  SlurmHere slurm;
  std::optional<logic::Duration> lead;
  Findings of_head;
  const auto answer = Head(common).ask("Muster.Doctor", Value::map(), head_deadline);
  if (answer) lead = clock_lead(*answer, common.server);
  if (answer && is_fine(*answer)) {
    findings.push_back(musterd_answers(answer->body, common.server));
    if (const Value* list = answer->body.find("Findings")) of_head = logic::read_findings(*list);
    slurm = told_by(answer->body);
  } else {
    findings.push_back(musterd_is_silent(answer ? answer->message : answer.error().message));
    const Value settings = musterd_settings();
    slurm = look_without_musterd(options, settings, of_head);
    add(of_head, look_at_musterds_files(settings));
  }
  // munge, the clock and names are causes; what follows from them stands below.
  add(findings, look_at_this_host(slurm, lead));
  add(findings, std::move(of_head));

  const Value report = doctor_report(std::move(findings), sys::host_name());
  if (common.json)
    show_json(report);
  else
    show(render_doctor(report, stdout_view()));
  return has_problem(report) ? exit_failed : exit_fine;
}

}  // namespace muster::cli
