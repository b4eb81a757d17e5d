// SPDX-License-Identifier: GPL-2.0-or-later
#include <chrono>
#include <string>
#include <utility>

#include "cli/commands.hpp"
#include "cli/render_release.hpp"
#include "cli/terminal.hpp"
#include "sys/slurm_link.hpp"

namespace muster::cli {

namespace {

constexpr std::chrono::seconds slurm_deadline{60};

}  // namespace

int run_release(const CommonOptions& common, const ReleaseOptions& options) {
  if (!options.all) {
    complain("release needs --all; for one job use scontrol release JOB");
    return exit_usage;
  }
  const sys::SlurmLinkSettings settings{options.slurm_helper, options.slurm_conf};
  const auto jobs =
      sys::slurm_request_and_wait(settings, logic::Value::map({{"op", "jobs"}, {"since", 0}}), slurm_deadline);
  if (!jobs) {
    complain("cannot read the jobs: " + jobs.error().message);
    return exit_failed;
  }
  auto held = jobs_to_release(*jobs);
  if (!held) {
    complain("cannot read the jobs: " + held.error().message);
    return exit_failed;
  }
  logic::Value outcome = release_outcome({});
  if (!held->empty()) {
    const auto answer = sys::slurm_request_and_wait(
        settings, logic::Value::map({{"op", "release"}, {"jobs", *std::move(held)}}), slurm_deadline);
    if (!answer) {
      complain("cannot release the held jobs: " + answer.error().message);
      return exit_failed;
    }
    outcome = release_outcome(*answer);
  }
  if (common.json) {
    show_json(outcome);
  } else {
    show(render_release(outcome));
  }
  for (const logic::Value& failure : outcome.list_or_empty("Failed")) {
    complain("job " + std::to_string(failure.integer_or("JobId")) + " stays held: " + failure.text_or("Message"));
  }
  return outcome.list_or_empty("Failed").empty() ? exit_fine : exit_failed;
}

}  // namespace muster::cli
