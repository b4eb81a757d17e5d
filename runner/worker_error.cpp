// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/worker_error.hpp"

#include "logic/text_layout.hpp"
#include "sys/files.hpp"
#include "sys/json.hpp"

namespace muster::runner {

namespace {

constexpr std::size_t longest_message = 300;

}  // namespace

std::string worker_error(const std::string& error_file) {
  if (error_file.empty()) return {};
  const auto text = sys::read_file(error_file);
  if (!text) return {};
  const auto document = sys::parse_json(*text);
  if (!document) return {};
  // {"message": {"message": "...", "extraInfo": {...}}}, or {"message": "...", "timestamp": ...}
  std::string message = document->text_or("message");
  if (const logic::Value* inner = document->find("message"); inner && inner->is_map())
    message = inner->text_or("message");
  return logic::clip(logic::safe_text(message.substr(0, message.find('\n')), {}), longest_message);
}

}  // namespace muster::runner
