// SPDX-License-Identifier: GPL-2.0-or-later
#include <filesystem>
#include <string>
#include <system_error>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "logic/cluster_spec.hpp"
#include "sys/files.hpp"
#include "sys/yaml.hpp"

namespace muster::cli {

namespace {

logic::Result<logic::ClusterSpec> read_cluster_file(const std::string& file) {
  const auto text = sys::read_file(file);
  if (!text) return text.error();
  const auto document = sys::parse_yaml(*text, file);
  if (!document) return document.error();
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::absolute(file, failed);
  if (failed) return logic::reject_error(file + ": " + failed.message());
  return logic::parse_cluster_spec(*document, file, path.parent_path().string());
}

logic::Value as_lines(const std::string& text) {
  logic::Value lines = logic::Value::list();
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    lines.push(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

}  // namespace

int run_slurm_conf(const CommonOptions& common, const SlurmConfOptions& options) {
  const auto spec = read_cluster_file(options.file);
  if (!spec) {
    complain(spec.error().message);
    return exit_failed;
  }
  const std::string lines = logic::slurm_conf_lines(*spec);
  if (common.json) {
    show_json(logic::Value::map({{"Lines", as_lines(lines)}}));
  } else {
    show(lines);
  }
  return exit_fine;
}

}  // namespace muster::cli
