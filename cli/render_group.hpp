// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is to be said of a group below its line in muster status: what is wrong first, then why it waits, until when,
// and what happens then. Of a group that is as it should be nothing is said.
#pragma once

#include "cli/view.hpp"

namespace muster::cli {

void add_group_notes(logic::Table& table, const logic::Value& group, const View& view);

}  // namespace muster::cli
