// SPDX-License-Identifier: GPL-2.0-or-later
#include <filesystem>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/render_apply.hpp"
#include "cli/terminal.hpp"
#include "sys/files.hpp"

namespace muster::cli {

int run_apply(const CommonOptions& common, const ApplyOptions& options) {
  const auto text = sys::read_file(options.file);
  if (!text) {
    complain(text.error().message);
    return exit_failed;
  }
  std::error_code failed;
  const std::filesystem::path file = std::filesystem::absolute(options.file, failed);
  if (failed) {
    complain(options.file + ": " + failed.message());
    return exit_failed;
  }
  const auto answer = Head(common).ask("Muster.Apply",
                                       logic::Value::map({{"FileName", options.file},
                                                          {"Text", *text},
                                                          {"BaseDirectory", file.parent_path().string()},
                                                          {"DryRun", options.dry_run}}),
                                       slow_answer_deadline);
  if (!answer) return options.dry_run ? report_unreachable(answer.error()) : report_unknown_outcome(answer.error());
  if (common.json) show_json(answer->body);
  if (!is_fine(*answer)) {
    report_refusal(*answer);
    if (answer->status < 500) complain("nothing was changed");
    return exit_failed;
  }
  if (!common.json) show(render_apply(answer->body, view_of(*answer)));
  return exit_fine;
}

}  // namespace muster::cli
