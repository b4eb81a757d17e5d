// SPDX-License-Identifier: GPL-2.0-or-later
//
// The server side of our HTTP interface (libmicrohttpd inside). Its threads read a request, check who sends it and hand
// it to the loop; the connection is suspended until the loop answers. Long-polls are requests answered later.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "logic/result.hpp"
#include "logic/time.hpp"
#include "logic/value.hpp"
#include "sys/event_loop.hpp"

namespace muster::sys {

struct HttpServerSettings {
  std::string socket_path;     ///< local socket, made with mode 0666 (the peer's uid decides); empty = none
  std::string listen_address;  ///< numeric address for TCP; empty = no TCP
  std::uint16_t port = 0;
  std::string munge_socket;  ///< empty = munge's default
  std::size_t max_body_bytes = 4u << 20;
  unsigned max_connections = 4096;
  unsigned threads = 2;  ///< each may wait for munged
};

struct HttpRequest {
  std::string target;        ///< X-Amz-Target
  logic::Value body;         ///< parsed JSON
  uid_t uid = 0;             ///< proven: by the socket's peer or by MUNGE
  bool local = false;        ///< came over the local socket
  std::string peer_address;  ///< numeric; empty for the local socket
};

struct HttpReply {
  int status = 200;
  logic::Value body;

  static HttpReply ok(logic::Value body) { return {200, std::move(body)}; }
  /// An error answer: {"__type": type, "Message": message}.
  static HttpReply failure(int status, std::string type, std::string message) {
    return {status, logic::Value::map({{"__type", std::move(type)}, {"Message", std::move(message)}})};
  }
};

/// Answers one request; call exactly once, from the loop's thread, at most 60 s after the request came. Destroying it
/// without a call answers 500.
using Responder = std::function<void(HttpReply)>;

class HttpServer {
 public:
  /// The handler runs on the loop's thread. Requests that do not prove who sends them, are too large, or are no JSON
  /// are answered without it (401, 413, 400), each with a sentence.
  static logic::Result<std::unique_ptr<HttpServer>> start(EventLoop& loop, const HttpServerSettings& settings,
                                                          std::function<void(HttpRequest, Responder)> handler);
  /// Answers what is still open with 503 and stops.
  virtual ~HttpServer() = default;
  /// The TCP port; where the settings said 0, the one that the kernel chose.
  virtual std::uint16_t port() const = 0;
};

}  // namespace muster::sys
