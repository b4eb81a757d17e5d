// SPDX-License-Identifier: GPL-2.0-or-later
#include <string>

#include "cli/commands.hpp"
#include "cli/render_simulation.hpp"
#include "cli/terminal.hpp"
#include "simulator/simulation.hpp"
#include "sys/files.hpp"
#include "sys/yaml.hpp"

namespace muster::cli {

namespace {

logic::Result<simulator::Scenario> read_scenario(const std::string& file) {
  const auto text = sys::read_file(file);
  if (!text) return text.error();
  const auto document = sys::parse_yaml(*text, file);
  if (!document) return document.error();
  return simulator::parse_scenario(*document, file);
}

}  // namespace

int run_simulate(const CommonOptions& common, const SimulateOptions& options) {
  auto scenario = read_scenario(options.file);
  if (!scenario) {
    complain(scenario.error().message);
    return exit_failed;
  }
  if (options.seed) scenario->settings.seed = *options.seed;
  const View view = stdout_view();
  logic::Value timeline = logic::Value::list();
  logic::Value summary = simulator::run_scenario(*scenario, [&](const simulator::TimelineEntry& entry) {
    if (common.json) {
      timeline.push(entry_value(entry));
    } else {
      show(timeline_line(entry, view));
    }
  });
  const bool has_kept_all = summary.list_or_empty("BrokenPromises").empty();
  if (common.json) {
    summary.set("Timeline", std::move(timeline));
    show_json(summary);
  } else {
    show(simulation_summary(summary, view));
  }
  if (!has_kept_all) complain(broken_sentence(summary, view));
  return has_kept_all ? exit_fine : exit_failed;
}

}  // namespace muster::cli
