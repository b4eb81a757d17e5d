// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/render_doctor.hpp"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using logic::Finding;
using logic::Findings;
using logic::Verdict;

View plain_view(std::size_t width = 0) {
  View view;
  view.style.width = width;
  return view;
}

Findings some_findings() {
  return {{"ReturnToService", Verdict::ok, "2", "", ""},
          {"TopologyPlugin", Verdict::unknown, "topology.conf could not be read", "see that it lists gpu-1", ""},
          {"munge", Verdict::ok, "a credential made here is read here", "", "login1"},
          {"MaxNodeCount", Verdict::problem, "5 is too small for 6 nodes: the rest of the records cannot be made",
           "set MaxNodeCount=14 or more in slurm.conf and restart slurmctld once", ""},
          {"gate table", Verdict::warning, "is old", "look", "head"}};
}

TEST(RenderDoctor, ShowsTheWorstFirstAndHowToMendIt) {
  const auto report = doctor_report(some_findings(), "login1");
  EXPECT_TRUE(has_problem(report));
  EXPECT_EQ(render_doctor(report, plain_view()),
            "PROBLEM  MaxNodeCount        5 is too small for 6 nodes: the rest of the records cannot be made\n"
            "                             mend: set MaxNodeCount=14 or more in slurm.conf and restart slurmctld once\n"
            "WARNING  gate table on head  is old\n"
            "                             mend: look\n"
            "unknown  TopologyPlugin      topology.conf could not be read\n"
            "                             mend: see that it lists gpu-1\n"
            "ok       ReturnToService     2\n"
            "ok       munge               a credential made here is read here\n"
            "\n"
            "1 problem, 1 warning, 1 could not be checked, 2 fine\n");
}

TEST(RenderDoctor, StaysWithinTheTerminal) {
  for (const std::size_t width : {30, 40, 60, 80}) {
    const std::string text = render_doctor(doctor_report(some_findings(), "login1"), plain_view(width));
    for (std::size_t start = 0; start < text.size();) {
      const std::size_t end = text.find('\n', start);
      EXPECT_LE(end - start, width) << text.substr(start, end - start);
      start = end + 1;
    }
  }
  EXPECT_EQ(render_doctor(doctor_report({some_findings()[3]}, ""), plain_view(40)),
            "PROBLEM  MaxNodeCount\n"
            "  5 is too small for 6 nodes: the rest\n"
            "  of the records cannot be made\n"
            "  mend: set MaxNodeCount=14 or more in\n"
            "  slurm.conf and restart slurmctld once\n"
            "\n"
            "1 problem, 0 fine\n");
}

TEST(RenderDoctor, ColoursTheVerdictAlone) {
  View view = plain_view();
  view.style.colour = true;
  const std::string text = render_doctor(doctor_report({{"munge", Verdict::problem, "away", "", ""}}, ""), view);
  EXPECT_EQ(text.rfind(logic::paint("PROBLEM", logic::Tone::bad, view.style) + "  munge  away\n", 0), 0u) << text;
}

TEST(RenderDoctor, SaysThatAllIsWell) {
  const auto report = doctor_report({{"munge", Verdict::ok, "works", "", ""}}, "head");
  EXPECT_FALSE(has_problem(report));
  EXPECT_EQ(render_doctor(report, plain_view()), "ok       munge  works\n\nall is well\n");
}

TEST(RenderDoctor, LetsNoEscapeOfAProvidersMessagePass) {
  const std::string text = render_doctor(
      doctor_report({{"provider x", Verdict::warning, "list: \033[2J gone", "try \007 it", ""}}, ""), plain_view());
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_EQ(text.find('\007'), std::string::npos);
}

TEST(DoctorReport, CountsWhatItFound) {
  const auto report = doctor_report(some_findings(), "login1");
  EXPECT_EQ(report.text_or("Host"), "login1");
  EXPECT_EQ(report.integer_or("Problems"), 1);
  EXPECT_EQ(report.integer_or("Warnings"), 1);
  EXPECT_EQ(report.integer_or("Unknown"), 1);
  EXPECT_EQ(report.integer_or("Fine"), 2);
  EXPECT_EQ(report.list_or_empty("Findings").size(), 5u);
}

}  // namespace
}  // namespace muster::cli
