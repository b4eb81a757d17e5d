// SPDX-License-Identifier: GPL-2.0-or-later
//
// What muster doctor found, the worst first: what it is, and below it what to do.
#pragma once

#include <string>

#include "cli/view.hpp"
#include "logic/doctor.hpp"

namespace muster::cli {

/// The findings of all hosts as one document, sorted. host is this one.
logic::Value doctor_report(logic::Findings findings, const std::string& host);
bool has_problem(const logic::Value& report);
std::string render_doctor(const logic::Value& report, const View& view);

}  // namespace muster::cli
