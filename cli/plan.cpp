// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/commands.hpp"
#include "cli/render_plan.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {

int run_plan(const CommonOptions& common, const PlanOptions&) {
  return ask_and_show(common, "Muster.Plan", logic::Value::map(), render_plan);
}

int run_resync(const CommonOptions& common, const ResyncOptions& options) {
  const auto answer =
      Head(common).ask("Muster.Resync", logic::Value::map({{"DryRun", options.dry_run}}), slow_answer_deadline);
  if (!answer) return options.dry_run ? report_unreachable(answer.error()) : report_unknown_outcome(answer.error());
  if (common.json) show_json(answer->body);
  if (!is_fine(*answer)) return report_refusal(*answer);
  if (!common.json) show(render_resync(answer->body, view_of(*answer)));
  return answer->body.list_or_empty("Failed").empty() ? exit_fine : exit_failed;
}

}  // namespace muster::cli
