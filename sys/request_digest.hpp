// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a MUNGE credential of our HTTP interface is bound to: the payloads that both sides compute.
#pragma once

#include <string>
#include <string_view>

#include "sys/digest.hpp"

namespace muster::sys {

/// The payload of a request's credential: it is worth nothing for another request.
inline std::string request_payload(std::string_view target, std::string_view body) {
  std::string text(target);
  text += '\n';
  text += body;
  return sha256_hex(text);
}

/// The payload of an answer's credential. It holds the credential of the request too, so that an answer that was once
/// overheard is worth nothing for another request or another machine.
inline std::string answer_payload(std::string_view request_credential, std::string_view body) {
  std::string text = "response\n";
  text += request_credential;
  text += '\n';
  text += body;
  return sha256_hex(text);
}

}  // namespace muster::sys
