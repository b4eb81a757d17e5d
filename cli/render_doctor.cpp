// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/render_doctor.hpp"

#include <algorithm>
#include <array>

namespace muster::cli {

using logic::Finding;
using logic::Tone;
using logic::Value;
using logic::Verdict;

namespace {

struct Word {
  const char* text;
  Tone tone;
};

Word word_of(const std::string& verdict) {
  if (verdict == "Problem") return {"PROBLEM", Tone::bad};
  if (verdict == "Warning") return {"WARNING", Tone::warning};
  if (verdict == "OK") return {"ok", Tone::good};
  return {"unknown", Tone::warning};
}

constexpr std::size_t word_width = 9;  // with two blanks

/// "munge", or "munge on login1" where it was looked at elsewhere.
std::string check_of(const Value& finding, const std::string& here, const View& view) {
  const std::string host = shown(finding, "Host", view);
  const std::string check = shown(finding, "Check", view);
  return host.empty() || host == here ? check : check + " on " + host;
}

std::string summary(const Value& report, const View& view) {
  const auto problems = report.integer_or("Problems");
  const auto warnings = report.integer_or("Warnings");
  const auto unknown = report.integer_or("Unknown");
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (problems > 0) add(logic::counted(problems, "problem", "problems"));
  if (warnings > 0) add(logic::counted(warnings, "warning", "warnings"));
  if (unknown > 0) add(std::to_string(unknown) + " could not be checked");
  const bool is_well = text.empty();
  add(is_well ? "all is well" : std::to_string(report.integer_or("Fine")) + " fine");
  std::string out;
  for (const std::string& line : logic::wrap(text, view.style.width)) {
    const Tone tone = problems > 0 ? Tone::bad : is_well ? Tone::good : Tone::warning;
    out += logic::paint(line, tone, view.style) + "\n";
  }
  return out;
}

}  // namespace

Value doctor_report(logic::Findings findings, const std::string& host) {
  logic::sort_findings(findings);
  const auto count = [&](Verdict verdict) {
    return Value(static_cast<std::int64_t>(std::count_if(
        findings.begin(), findings.end(), [&](const Finding& finding) { return finding.verdict == verdict; })));
  };
  return Value::map({{"Host", host},
                     {"Problems", count(Verdict::problem)},
                     {"Warnings", count(Verdict::warning)},
                     {"Unknown", count(Verdict::unknown)},
                     {"Fine", count(Verdict::ok)},
                     {"Findings", logic::findings_value(findings)}});
}

bool has_problem(const Value& report) { return report.integer_or("Problems") > 0; }

std::string render_doctor(const Value& report, const View& view) {
  const std::string here = shown(report, "Host", view);
  const Value::List& findings = report.list_or_empty("Findings");
  std::size_t width = 0;
  for (const Value& finding : findings) width = std::max(width, logic::text_width(check_of(finding, here, view)));
  width += word_width;
  // Colour has no width, so it is put in when all is laid out.
  logic::TextStyle plain = view.style;
  plain.colour = false;
  std::string out;
  for (const Value& finding : findings) {
    const Word word = word_of(finding.text_or("Verdict"));
    std::string label = word.text;
    label.resize(word_width, ' ');
    label += check_of(finding, here, view);
    std::string text = logic::labelled(label, width, shown(finding, "Found", view), plain);
    text.replace(0, std::string_view(word.text).size(), logic::paint(word.text, word.tone, view.style));
    out += text;
    if (const std::string mend = shown(finding, "Mend", view); !mend.empty()) {
      std::string below = logic::labelled("", width, "mend: " + mend, plain);
      // Where there is no room beside it, the label has a line of its own: an empty one here.
      below.erase(0, below.front() == '\n' ? 1 : 0);
      out += below;
    }
  }
  return out + "\n" + summary(report, view);
}

}  // namespace muster::cli
