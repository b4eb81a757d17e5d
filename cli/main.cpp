// SPDX-License-Identifier: GPL-2.0-or-later
//
// muster, the operator's command: reads its arguments and calls the subcommand.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <functional>
#include <string>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"

namespace {

using namespace muster::cli;

constexpr const char* default_server = "unix:" MUSTER_RUNDIR "/musterd.sock";
constexpr const char* default_helper = MUSTER_LIBEXECDIR "/muster-slurm";

/// All options of all subcommands, and which of them was chosen.
struct CommandLine {
  CommonOptions common{default_server, false};
  ApplyOptions apply;
  StatusOptions status;
  NodesOptions nodes;
  EventsOptions events;
  WhyOptions why;
  OpenOptions open;
  ScaleOptions scale;
  AddOptions add;
  NodeNamesOptions remove, replace, reboot;
  DeleteOptions erase;
  WaitOptions wait;
  PlanOptions plan;
  ResyncOptions resync;
  ReleaseOptions release{false, default_helper, {}};
  DoctorOptions doctor;
  SimulateOptions simulate;
  SlurmConfOptions slurm_conf;
  std::function<int()> chosen;
};

std::string check_server(const std::string& url) {
  for (const char* scheme : {"unix:/", "http://", "https://"}) {
    if (url.rfind(scheme, 0) == 0) return {};
  }
  return "\"" + url + "\" is no address of musterd: expected unix:/PATH, http://HOST:PORT or https://HOST:PORT";
}

/// A subcommand that calls run when chosen.
template <typename Options>
CLI::App* subcommand(CLI::App& app, CommandLine& line, const char* name, const char* help, const Options& options,
                     int (*run)(const CommonOptions&, const Options&)) {
  CLI::App* command = app.add_subcommand(name, help);
  command->fallthrough();
  command->callback(
      [&line, &options, run] { line.chosen = [&line, &options, run] { return run(line.common, options); }; });
  return command;
}

void describe_changes(CLI::App& app, CommandLine& line) {
  CLI::App* open =
      subcommand(app, line, "open", "Open a group to jobs before its minimum is ready", line.open, run_open);
  open->add_option("GROUP", line.open.group, "The group")->required();
  open->add_flag("-y,--yes", line.open.yes, "Do not ask");

  CLI::App* scale = subcommand(app, line, "scale", "Change how many nodes a group has", line.scale, run_scale);
  scale->add_option("GROUP", line.scale.group, "The group")->required();
  scale->add_option("TARGET", line.scale.target, "How many nodes are wanted");
  scale->add_option("--min", line.scale.min, "Its MinCount");

  CLI::App* add = subcommand(app, line, "add", "Raise a group's target", line.add, run_add);
  add->add_option("GROUP", line.add.group, "The group")->required();
  add->add_option("COUNT", line.add.count, "By how many nodes")->required();

  const auto of_nodes = [&](const char* name, const char* help, NodeNamesOptions& options,
                            int (*run)(const CommonOptions&, const NodeNamesOptions&)) {
    CLI::App* command = subcommand(app, line, name, help, options, run);
    command->add_option("NODE", options.nodes, "Names or host lists, as in gpu-[1-4]")->required();
    return command;
  };
  of_nodes("remove", "Take these nodes out, and lower the target", line.remove, run_remove)
      ->add_flag("-y,--yes", line.remove.yes, "Do not ask");
  of_nodes("replace", "Other machines for these nodes", line.replace, run_replace)
      ->add_flag("-y,--yes", line.replace.yes, "Do not ask");
  of_nodes("reboot", "Restart these nodes' machines", line.reboot, run_reboot);

  CLI::App* erase = subcommand(app, line, "delete", "Delete a group or the cluster", line.erase, run_delete);
  erase->add_option("GROUP", line.erase.group, "The group");
  erase->add_option("--cluster", line.erase.cluster, "The cluster with all its groups; its name, to be sure");
  erase->add_flag("-y,--yes", line.erase.yes, "Do not ask");

  CLI::App* resync =
      subcommand(app, line, "resync", "Look at everything afresh, and try again what waits", line.resync, run_resync);
  resync->add_flag("--dry-run", line.resync.dry_run, "Only look, and show what would be done");
}

void describe(CLI::App& app, CommandLine& line) {
  app.require_subcommand(1);
  app.set_version_flag("--version", "muster " PACKAGE_VERSION);
  app.add_option("--server", line.common.server, "Where musterd listens: unix:/PATH, http://HOST:PORT")
      ->envname("MUSTER_SERVER")
      ->check(CLI::Validator(check_server, ""))
      ->capture_default_str();
  app.add_flag("--json", line.common.json, "Print the answer as JSON");

  CLI::App* apply = subcommand(app, line, "apply", "Tell musterd what the cluster should be", line.apply, run_apply);
  apply->add_option("-f,--file", line.apply.file, "The cluster file")->required();
  apply->add_flag("--dry-run", line.apply.dry_run, "Check it and show what would be done; change nothing");

  CLI::App* status =
      subcommand(app, line, "status", "Show the groups, how far they are, and held jobs", line.status, run_status);
  status->add_flag("-w,--watch", line.status.watch, "Keep showing it until Ctrl-C");

  CLI::App* nodes = subcommand(app, line, "nodes", "Show the nodes and what each waits for", line.nodes, run_nodes);
  nodes->add_option("GROUP", line.nodes.group, "Only this group's nodes");

  CLI::App* events = subcommand(app, line, "events", "Show what happened", line.events, run_events);
  events->add_option("GROUP", line.events.group, "Only this group's events");
  events->add_option("-n,--number", line.events.count, "How many of the newest")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  events->add_flag("-f,--follow", line.events.follow, "Go on as they happen, until Ctrl-C");

  CLI::App* why = subcommand(app, line, "why", "Say what a job, node or group waits for", line.why, run_why);
  why->add_option("SUBJECT", line.why.subject, "A job id, a node's name or a group's name")->required();

  CLI::App* wait = subcommand(app, line, "wait", "Wait until a group is as it should be", line.wait, run_wait);
  wait->add_option("GROUP", line.wait.group, "The group")->required();
  wait->add_option("--for", line.wait.what, "inservice, target or deleted")
      ->required()
      ->check(CLI::IsMember({"inservice", "target", "deleted"}));
  wait->add_option("--timeout", line.wait.timeout, "How long: 30m, 90s, 2h")->capture_default_str();

  subcommand(app, line, "plan", "Show what musterd does next", line.plan, run_plan);

  describe_changes(app, line);

  CLI::App* release = subcommand(app, line, "release", "Release the jobs that muster holds; works without musterd",
                                 line.release, run_release);
  release->add_flag("--all", line.release.all, "All of them (required)");
  release->add_option("--slurm-helper", line.release.slurm_helper, "The program that speaks to Slurm")
      ->capture_default_str();
  release->add_option("--slurm-conf", line.release.slurm_conf, "The slurm.conf to use, instead of Slurm's default");

  CLI::App* doctor =
      subcommand(app, line, "doctor", "Say what is wrong in the set-up and how to mend it", line.doctor, run_doctor);
  doctor->add_option("--slurm-helper", line.doctor.slurm_helper, "The program that speaks to Slurm if musterd is away");
  doctor->add_option("--slurm-conf", line.doctor.slurm_conf, "The slurm.conf to use then, instead of Slurm's default");

  CLI::App* simulate = subcommand(app, line, "simulate", "Play a scenario in virtual time, and show what muster does",
                                  line.simulate, run_simulate);
  simulate->add_option("SCENARIO", line.simulate.file, "The scenario file")->required();
  simulate->add_option("--seed", line.simulate.seed, "Of chance, instead of the file's");

  CLI::App* slurm_conf = subcommand(app, line, "slurm-conf", "Print the lines that slurm.conf needs for a cluster file",
                                    line.slurm_conf, run_slurm_conf);
  slurm_conf->add_option("-f,--file,FILE", line.slurm_conf.file, "The cluster file")->required();
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that went away (muster nodes | head) shows as a failed write, not as a death.
  std::signal(SIGPIPE, SIG_IGN);
  CommandLine line;
  CLI::App app{"muster - instance groups of a Slurm cluster", "muster"};
  describe(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) { return app.exit(problem) == 0 ? exit_fine : exit_usage; }
  return line.chosen();
}
