// SPDX-License-Identifier: GPL-2.0-or-later
#include "musterd/doctor.hpp"

#include <unistd.h>

#include <utility>

#include "sys/clock.hpp"
#include "sys/host.hpp"
#include "sys/slurm_files.hpp"

namespace muster::musterd {

using logic::Finding;
using logic::Findings;
using logic::Result;
using logic::SlurmFacts;
using logic::SlurmVersion;
using logic::Value;
using logic::Verdict;

namespace {

constexpr std::chrono::seconds version_deadline{5};

Value texts(const std::vector<std::string>& items) {
  Value list = Value::list();
  for (const std::string& item : items) list.push(item);
  return list;
}

}  // namespace

void Doctor::examine(std::function<void(Value)> done) {
  waiting_.push_back(std::move(done));
  if (waiting_.size() > 1) return;
  const logic::HeadState& state = head_.state();
  // What is known not to answer is not waited for.
  if (state.slurm_is_up) return head_.read_facts([this](Result<SlurmFacts> facts) { ask_version(std::move(facts)); });
  ask_version(logic::retry_error(state.slurm_trouble.empty() ? "it was not asked yet" : state.slurm_trouble));
}

void Doctor::ask_version(Result<SlurmFacts> facts) {
  // The run may be over only after this has returned, and must not be destroyed by its own callback.
  auto run = sys::run_command(loop_, {{sys::slurmctld_program(), "-V"}, {}}, "", version_deadline,
                              [this, facts](const sys::Finished& finished) {
                                loop_.post([this, facts, version = logic::find_slurm_version(finished.output)] {
                                  version_run_.reset();
                                  conclude(facts, version);
                                });
                              });
  if (!run) return conclude(facts, std::nullopt);
  version_run_ = *std::move(run);
}

logic::HeadFacts Doctor::head_facts(const SlurmFacts* slurm) const {
  const logic::HeadState& state = head_.state();
  const Settings& settings = head_.settings();
  logic::HeadFacts facts;
  facts.host = sys::host_name();
  if (slurm != nullptr) facts.controller_hosts = slurm->controller_hosts;
  facts.has_cluster = state.spec.has_value();
  facts.ledger_trouble = state.store_trouble;
  facts.state_directory = sys::look_at_file(settings.state_directory);
  facts.state_file_system = sys::look_at_file_system(settings.state_directory);
  facts.write_trouble = sys::try_writing(settings.state_directory);
  facts.gate_table = sys::look_at_file(settings.gate_table);
  facts.gate_table_age = sys::file_age(settings.gate_table, sys::now());
  facts.plugins_gate_table = MUSTER_RUNDIR "/gate-table";
  facts.socket = sys::look_at_file(settings.socket);
  if (!state.spec) return facts;
  for (const auto& [name, provider] : state.spec->providers) {
    logic::HeadFacts::Provider fact{name, provider.program, sys::program_trouble(provider.program), {}};
    for (const logic::GroupSpec& group : state.spec->groups) {
      const auto trouble = state.list_trouble.find(group.name);
      if (group.provider == name && trouble != state.list_trouble.end()) fact.list_trouble = trouble->second;
    }
    facts.providers.push_back(std::move(fact));
  }
  return facts;
}

void Doctor::conclude(const Result<SlurmFacts>& running, std::optional<SlurmVersion> installed) {
  const logic::HeadState& state = head_.state();
  Findings findings;

  logic::ConfigurationFacts facts;
  if (running) facts.running = *running;
  facts.installed = installed;
  if (state.spec) facts.spec = &*state.spec;
  facts.ledger = &state.ledger;
  facts.nodes = state.nodes.get();
  facts.conf_server = head_.settings().conf_server;
  facts.musterd_uid = ::geteuid();

  std::string conf = running ? running->slurm_conf : head_.settings().slurm_conf;
  if (conf.empty()) conf = sys::find_slurm_conf();
  auto file = sys::load_slurm_conf(conf);
  if (file) {
    facts.file = *std::move(file);
    facts.topology_nodes = sys::load_topology(conf);
  }
  const SlurmFacts* slurm = running ? &*facts.running : facts.file ? &facts.file->facts : nullptr;

  findings.push_back(logic::check_slurmctld(running));
  if (!facts.file) {
    findings.push_back({"slurm.conf", Verdict::unknown,
                        "it cannot be read, so what the next start of slurmctld will find is not known: " +
                            (conf.empty() ? "no such file in the usual places" : file.error().message),
                        "make it readable for musterd, or set slurm_conf in musterd.yaml", sys::host_name()});
  }
  for (Finding& finding : logic::check_configuration(facts)) findings.push_back(std::move(finding));
  if (slurm != nullptr) {
    const std::string folders = slurm->plugin_dir.empty() && state.facts ? state.facts->plugin_dir : slurm->plugin_dir;
    findings.push_back(logic::check_job_submit(sys::find_job_submit(*slurm, folders, installed)));
    findings.back().host = sys::host_name();
  }
  for (Finding& finding : logic::check_head(head_facts(slurm))) findings.push_back(std::move(finding));

  Value answer = Value::map({{"Time", logic::to_seconds(sys::now())},
                             {"Host", sys::host_name()},
                             {"Version", PACKAGE_VERSION},
                             {"Findings", logic::findings_value(findings)}});
  if (slurm != nullptr) {
    answer.set("Slurm", Value::map({{"Version", slurm->version},
                                    {"ControllerHosts", texts(slurm->controller_hosts)},
                                    {"PluginDir", slurm->plugin_dir},
                                    {"Plugstack", slurm->plugstack}}));
  }
  for (const auto& done : std::exchange(waiting_, {})) done(answer);
}

}  // namespace muster::musterd
