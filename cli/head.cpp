// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/head.hpp"

#include <unistd.h>

#include "cli/reach.hpp"
#include "cli/render_message.hpp"
#include "cli/terminal.hpp"
#include "sys/clock.hpp"
#include "sys/json.hpp"
#include "sys/users.hpp"

namespace muster::cli {

Head::Head(const CommonOptions& options) {
  endpoint_.url = options.server;
  // musterd runs as SlurmUser, which is slurm nearly everywhere.
  endpoint_.trusted_uids = sys::known_uids({"root", "slurm"});
  endpoint_.trusted_uids.push_back(::geteuid());
}

logic::Result<sys::HttpAnswer> Head::ask(const std::string& target, const logic::Value& body,
                                         logic::Duration deadline) const {
  auto answer = sys::call_and_wait(endpoint_, target, body, deadline);
  if (answer) return answer;
  return explained(endpoint_.url, answer.error());
}

logic::Time head_time(const sys::HttpAnswer& answer) {
  if (const auto time = time_member(answer.body, "Time")) return *time;
  return answer.date != logic::no_time ? answer.date : sys::now();
}

int report_unreachable(const logic::Error& error) {
  complain(error.message);
  // reject: it was not even asked, since the address makes no sense.
  return error.kind == logic::ErrorKind::reject ? exit_usage : exit_unreachable;
}

int report_unknown_outcome(const logic::Error& error) {
  const int code = report_unreachable(error);
  if (code == exit_unreachable)
    complain("if musterd has got the request, it may be done all the same: muster status and muster events tell");
  return code;
}

int report_refusal(const sys::HttpAnswer& answer) {
  std::string text = answer.message;
  if (text.empty()) text = "musterd answered with HTTP status " + std::to_string(answer.status) + " and no reason";
  complain(text);
  return exit_failed;
}

int change_and_show(const CommonOptions& options, const std::string& target, const logic::Value& body) {
  const auto answer = Head(options).ask(target, body);
  if (!answer) return report_unknown_outcome(answer.error());
  if (options.json) show_json(answer->body);
  if (!is_fine(*answer)) return report_refusal(*answer);
  if (!options.json) show(render_message(answer->body, view_of(*answer)));
  return exit_fine;
}

bool is_fine(const sys::HttpAnswer& answer) { return answer.status >= 200 && answer.status < 300; }

void show_json(const logic::Value& body) { write_out(sys::to_json(body, true) + "\n"); }

void show(const std::string& text) { write_out(text); }

View view_of(const sys::HttpAnswer& answer) {
  View view = stdout_view();
  view.now = head_time(answer);
  return view;
}

}  // namespace muster::cli
