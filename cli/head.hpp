// SPDX-License-Identifier: GPL-2.0-or-later
//
// How a command asks musterd, and what becomes of the answer: an exit code, and one clear sentence on stderr where it
// did not go well.
#pragma once

#include <chrono>
#include <string>

#include "cli/view.hpp"
#include "logic/result.hpp"
#include "logic/time.hpp"
#include "logic/value.hpp"
#include "sys/http_client.hpp"

namespace muster::cli {

enum ExitCode : int {
  exit_fine = 0,
  exit_failed = 1,       ///< refused, or it did not work
  exit_usage = 2,        ///< the command line was wrong
  exit_unreachable = 3,  ///< musterd gave no answer
};

/// Options that every command has.
struct CommonOptions {
  std::string server;
  bool json = false;
};

class Head {
 public:
  explicit Head(const CommonOptions& options);

  /// One request. An error means that no answer came; its sentence says where musterd was looked for and what to do.
  logic::Result<sys::HttpAnswer> ask(const std::string& target, const logic::Value& body,
                                     logic::Duration deadline = std::chrono::seconds{20}) const;

 private:
  sys::Endpoint endpoint_;
};

/// The time by musterd's clock, so that "2 min ago" is right on a machine whose clock is not.
logic::Time head_time(const sys::HttpAnswer& answer);

/// What asks Slurm or a provider first is answered by musterd within 60 s, also when those do not answer.
inline constexpr std::chrono::seconds slow_answer_deadline{75};

/// Says what went wrong and returns the exit code.
int report_unreachable(const logic::Error& error);
/// The same where something was to be changed: it may have been done, or may still be.
int report_unknown_outcome(const logic::Error& error);
int report_refusal(const sys::HttpAnswer& answer);

/// The usual course of a command: ask, then print the answer as JSON or through render(body, view).
template <typename Render>
int ask_and_show(const CommonOptions& options, const std::string& target, const logic::Value& body, Render render);
/// The same for what changes something; the answer is a Message.
int change_and_show(const CommonOptions& options, const std::string& target, const logic::Value& body);

bool is_fine(const sys::HttpAnswer& answer);
/// Prints the answer as JSON.
void show_json(const logic::Value& body);
/// Prints text that was rendered.
void show(const std::string& text);
View view_of(const sys::HttpAnswer& answer);

template <typename Render>
int ask_and_show(const CommonOptions& options, const std::string& target, const logic::Value& body, Render render) {
  const auto answer = Head(options).ask(target, body);
  if (!answer) return report_unreachable(answer.error());
  if (options.json) show_json(answer->body);
  if (!is_fine(*answer)) return report_refusal(*answer);
  if (!options.json) show(render(answer->body, view_of(*answer)));
  return exit_fine;
}

}  // namespace muster::cli
