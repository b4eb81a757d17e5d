// SPDX-License-Identifier: GPL-2.0-or-later
//
// Events as text, a line each: when, how grave, whom it concerns, what happened.
#pragma once

#include <cstddef>
#include <string>

#include "cli/view.hpp"

namespace muster::cli {

/// Lays out batches of events one below the other: a column that had to grow stays as wide for the next batch.
class EventLines {
 public:
  std::string text(const logic::Value& answer, const View& view);

 private:
  std::size_t subject_width_ = 8;
};

}  // namespace muster::cli
