// SPDX-License-Identifier: GPL-2.0-or-later
//
// The client side of our HTTP interface (libcurl inside): one operation, one answer, JSON 1.1. Every call has a
// deadline. Proves who it is by MUNGE over TCP; over a local socket the peer's uid is enough.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "logic/result.hpp"
#include "logic/time.hpp"
#include "logic/value.hpp"
#include "sys/event_loop.hpp"

namespace muster::sys {

struct Endpoint {
  /// "unix:/run/muster/musterd.sock" or "http://head:6820" (https:// too).
  std::string url;
  std::string munge_socket;  ///< empty = munge's default
  std::string ca_file;       ///< for https; empty = the system's
  std::string user_agent = "muster";
  /// The uids that a head's answer may be proven with (where MUNGE is used); empty = root's and our own.
  std::vector<uid_t> trusted_uids;
};

/// What came back. An HTTP error answer is an answer too: status tells. Only a 401 may come from somebody who did not
/// prove to be the head: nothing but its words, marked so, and its date is given then.
struct HttpAnswer {
  int status = 0;                     ///< HTTP status
  logic::Value body;                  ///< parsed JSON; null where the answer was empty
  std::string error_type;             ///< __type of an error answer, without its prefix
  std::string message;                ///< Message of an error answer
  logic::Time date = logic::no_time;  ///< the Date header: the server's clock, to the second
  logic::Duration round_trip{0};
};

/// A call under way; destroying it cancels the call and no callback comes.
class HttpCall {
 public:
  virtual ~HttpCall() = default;
};

class HttpClient {
 public:
  static logic::Result<std::unique_ptr<HttpClient>> create(EventLoop& loop, Endpoint endpoint);
  virtual ~HttpClient() = default;
  /// target: "Muster.SyncNode". The callback comes once, on the loop. Its error means that no answer came (refused,
  /// resolved to nothing, timed out, the head could not prove itself): the sentence names the address and the cause.
  /// Its kind is reject where somebody answered and did not prove to be the head.
  virtual std::unique_ptr<HttpCall> call(const std::string& target, const logic::Value& body, logic::Duration deadline,
                                         std::function<void(logic::Result<HttpAnswer>)> done) = 0;
};

/// The same, waiting: for command-line programs only.
logic::Result<HttpAnswer> call_and_wait(const Endpoint& endpoint, const std::string& target, const logic::Value& body,
                                        logic::Duration deadline);

}  // namespace muster::sys
