// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/render_release.hpp"

#include <utility>

#include "logic/release.hpp"
#include "logic/slurm_messages.hpp"
#include "logic/text_layout.hpp"

namespace muster::cli {

using logic::Value;

namespace {

constexpr const char* released_comment = "muster: released by hand (muster release --all)";

}  // namespace

logic::Result<Value::List> jobs_to_release(const Value& jobs_answer) {
  const auto seen = logic::read_seen_jobs(jobs_answer);
  if (!seen) return seen.error();
  Value::List jobs;
  for (const logic::SeenJob& job : *seen) {
    if (!logic::carries_our_hold(job)) continue;
    jobs.push_back(Value::map({{"id", std::int64_t{job.id}}, {"admin_comment", released_comment}}));
  }
  return jobs;
}

Value release_outcome(const Value& release_answer) {
  Value released = Value::list();
  Value failed = Value::list();
  for (const Value& result : release_answer.list_or_empty("results")) {
    const std::int64_t job = result.integer_or("id");
    if (result.boolean_or("ok")) {
      released.push(job);
    } else {
      failed.push(Value::map({{"JobId", job}, {"Message", result.text_or("error", "no reason given")}}));
    }
  }
  return Value::map({{"Released", std::move(released)}, {"Failed", std::move(failed)}});
}

std::string render_release(const Value& outcome) {
  const Value::List& released = outcome.list_or_empty("Released");
  if (released.empty() && outcome.list_or_empty("Failed").empty()) return "no job is held by muster\n";
  std::string text = "released " + logic::counted(static_cast<std::int64_t>(released.size()), "job", "jobs");
  bool first = true;
  for (const Value& job : released) {
    text += first ? ": " : ", ";
    text += std::to_string(job.as_integer() ? *job.as_integer() : 0);
    first = false;
  }
  return text + "\n";
}

}  // namespace muster::cli
