// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/http_server.hpp"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "sys/digest.hpp"
#include "sys/fd.hpp"
#include "sys/json.hpp"
#include "sys/munge_credential.hpp"
#include "sys/request_digest.hpp"

namespace muster::sys {
namespace {

using logic::Done;
using logic::Error;
using logic::Result;
using logic::Status;
using logic::Value;

/// Of a connection on which nothing moves. A suspended one (a request that waits for its answer) has no time limit in
/// libmicrohttpd and does not notice that its client went; the handler's promise to answer within 60 s is the limit.
constexpr unsigned idle_timeout_s = 120;
/// Holds a request's headers and an answer's; thousands of connections may wait at a time.
constexpr std::intptr_t connection_memory_bytes = 16 << 10;
constexpr int listen_backlog = 1024;
constexpr std::chrono::milliseconds farewell_time{500};
constexpr std::string_view munge_scheme = "Munge ";

struct ResponseDestroy {
  void operator()(MHD_Response* response) const { MHD_destroy_response(response); }
};
using ResponseHandle = std::unique_ptr<MHD_Response, ResponseDestroy>;

/// One request on one connection. Its HTTP thread owns it but while it waits; then the loop and the server's end may
/// answer it, the first of them only.
class Exchange {
 public:
  // Of the HTTP thread alone:
  std::string body;
  bool too_large = false;
  std::string credential;  ///< as presented by the client

  /// Suspends the connection; false where the server is ending.
  bool begin_waiting(MHD_Connection* connection) {
    const std::lock_guard<std::mutex> lock(mutex_);
    connection_ = connection;
    state_ = State::waiting;
    MHD_suspend_connection(connection);
    return true;
  }
  /// From any thread. Without effect unless the request waits.
  void answer(HttpReply reply) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (state_ != State::waiting) return;
    reply_ = std::move(reply);
    state_ = State::answered;
    MHD_resume_connection(connection_);
  }
  std::optional<HttpReply> take_reply() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (state_ != State::answered) return std::nullopt;
    state_ = State::sent;
    return std::move(reply_);
  }
  bool is_waiting() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return state_ == State::waiting;
  }

 private:
  enum class State { reading, waiting, answered, sent };

  std::mutex mutex_;
  State state_ = State::reading;
  MHD_Connection* connection_ = nullptr;
  HttpReply reply_;
};

/// What a Responder's copies share: the last of them to go answers 500 if none was called.
class Ticket {
 public:
  explicit Ticket(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  ~Ticket() {
    exchange_->answer(HttpReply::failure(500, "InternalFailure", "The request was dropped without an answer."));
  }
  void answer(HttpReply reply) { exchange_->answer(std::move(reply)); }

 private:
  std::shared_ptr<Exchange> exchange_;
};

/// The exchanges under way, and whether new ones may still begin.
class Exchanges {
 public:
  std::shared_ptr<Exchange> add() {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto exchange = std::make_shared<Exchange>();
    open_.emplace(exchange.get(), exchange);
    return exchange;
  }
  std::shared_ptr<Exchange> find(void* key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = open_.find(key);
    return found == open_.end() ? nullptr : found->second;
  }
  void remove(void* key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_.erase(key);
    if (open_.empty()) emptied_.notify_all();
  }
  /// Under the lock, so that no request begins to wait after end() has answered those that wait.
  bool begin_waiting(Exchange& exchange, MHD_Connection* connection) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return !ending_ && exchange.begin_waiting(connection);
  }
  void end() {
    std::vector<std::shared_ptr<Exchange>> all;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ending_ = true;
      for (const auto& [key, exchange] : open_) all.push_back(exchange);
    }
    for (const auto& exchange : all) exchange->answer(ending_reply());
  }
  /// Gives the answers of end() time to leave.
  void wait_until_empty() {
    std::unique_lock<std::mutex> lock(mutex_);
    emptied_.wait_for(lock, farewell_time, [this] { return open_.empty(); });
  }
  static HttpReply ending_reply() {
    return HttpReply::failure(503, "ServiceUnavailable", "The server is ending; try again.");
  }

 private:
  std::mutex mutex_;
  std::condition_variable emptied_;
  bool ending_ = false;
  std::map<void*, std::shared_ptr<Exchange>> open_;
};

/// The loop's side of the handler; the server's destructor takes it away, so that a request which was posted to the
/// loop but not yet run there finds nobody.
struct Gate {
  std::function<void(HttpRequest, Responder)> handler;
  bool open = true;
};

std::string header_of(MHD_Connection* connection, const char* name) {
  const char* value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string numeric_address(MHD_Connection* connection) {
  const MHD_ConnectionInfo* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  if (info == nullptr || info->client_addr == nullptr) return {};
  const sockaddr* address = info->client_addr;
  const socklen_t size = address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  std::array<char, NI_MAXHOST> text{};
  if (::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) return {};
  // An IPv4 client of a socket that listens on both is shown as "::ffff:192.0.2.1".
  const std::string plain = text.data();
  const std::string mapped = "::ffff:";
  return plain.rfind(mapped, 0) == 0 && plain.find('.') != std::string::npos ? plain.substr(mapped.size()) : plain;
}

std::optional<uid_t> peer_uid(MHD_Connection* connection) {
  const MHD_ConnectionInfo* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  ucred peer{};
  socklen_t size = sizeof peer;
  if (info == nullptr || ::getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
    return std::nullopt;
  return peer.uid;
}

Error socket_error(const std::string& what, int code) {
  std::string sentence = what + ": " + std::strerror(code);
  const bool wrong = code == EACCES || code == ENOENT || code == EADDRNOTAVAIL || code == ENOTDIR || code == EPERM;
  return wrong ? logic::reject_error(std::move(sentence)) : logic::retry_error(std::move(sentence));
}

Result<Fd> listen_on_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return logic::reject_error("listen on " + path + ": the path is longer than " +
                               std::to_string(sizeof address.sun_path - 1) + " bytes");
  path.copy(address.sun_path, path.size());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return socket_error("listen on " + path, errno);
  if (::bind(fd.get(), generic, sizeof address) != 0) {
    if (errno != EADDRINUSE) return socket_error("listen on " + path, errno);
    // A socket that a killed server left behind answers nobody and is replaced.
    const Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(probe.get(), generic, sizeof address) == 0)
      return logic::reject_error("listen on " + path + ": another server answers there");
    if (errno != ECONNREFUSED) return socket_error("listen on " + path, errno);
    ::unlink(path.c_str());
    if (::bind(fd.get(), generic, sizeof address) != 0) return socket_error("listen on " + path, errno);
  }
  if (::chmod(path.c_str(), 0666) != 0) return socket_error("set the mode of " + path, errno);
  if (::listen(fd.get(), listen_backlog) != 0) return socket_error("listen on " + path, errno);
  return fd;
}

Result<Fd> listen_on_port(const std::string& listen_address, std::uint16_t port) {
  const std::string where = "listen on " + listen_address + " port " + std::to_string(port);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(listen_address.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) return logic::reject_error(where + ": a numeric address is needed: " + ::gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  Fd fd(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return socket_error(where, errno);
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Inherited by what is accepted: the kernel finds clients that vanished.
  ::setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  if (::bind(fd.get(), found->ai_addr, found->ai_addrlen) != 0) return socket_error(where, errno);
  if (::listen(fd.get(), listen_backlog) != 0) return socket_error(where, errno);
  return fd;
}

std::uint16_t bound_port(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port);
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
  return 0;
}

class Server;

/// One listening socket and libmicrohttpd's threads behind it.
class Listener {
 public:
  Listener(Server& server, bool local) : server_(server), local_(local) {}
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    quiesce();  // else the daemon closes the socket, which is ours
    if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
  }
  Status start(Fd fd, const HttpServerSettings& settings);
  /// Accepts nobody any more.
  void quiesce() {
    if (daemon_ != nullptr) MHD_quiesce_daemon(daemon_);
  }
  bool is_local() const { return local_; }
  Server& server() { return server_; }
  std::uint16_t port() const { return bound_port(fd_.get()); }

 private:
  Server& server_;
  bool local_;
  Fd fd_;  ///< ours to close, after the daemon has stopped
  MHD_Daemon* daemon_ = nullptr;
};

class Server final : public HttpServer {
 public:
  Server(EventLoop& loop, HttpServerSettings settings, std::function<void(HttpRequest, Responder)> handler)
      : loop_(loop), settings_(std::move(settings)), gate_(std::make_shared<Gate>()) {
    gate_->handler = std::move(handler);
  }

  ~Server() override {
    gate_->open = false;
    for (auto& listener : listeners_) listener->quiesce();
    exchanges_.end();
    exchanges_.wait_until_empty();
    listeners_.clear();
    if (has_socket_file_) ::unlink(settings_.socket_path.c_str());
  }

  Status start() {
    if (!settings_.socket_path.empty()) {
      auto fd = listen_on_path(settings_.socket_path);
      if (!fd) return fd.error();
      has_socket_file_ = true;
      if (auto started = add_listener(std::move(*fd), true); !started) return started;
    }
    if (!settings_.listen_address.empty()) {
      auto fd = listen_on_port(settings_.listen_address, settings_.port);
      if (!fd) return fd.error();
      if (auto started = add_listener(std::move(*fd), false); !started) return started;
      port_ = listeners_.back()->port();
    }
    return Done{};
  }

  std::uint16_t port() const override { return port_; }

  /// libmicrohttpd calls this several times a request: with the headers, with each piece of the body, with its end, and
  /// again after the answer came.
  MHD_Result handle(Listener& listener, MHD_Connection* connection, const char* url, const char* method,
                    const char* piece, std::size_t* piece_size, void** key) {
    if (*key == nullptr) return begin(connection, key);
    const auto exchange = exchanges_.find(*key);
    if (!exchange) return MHD_NO;
    if (*piece_size > 0) return take_piece(*exchange, piece, piece_size);
    if (auto reply = exchange->take_reply()) return send(connection, *exchange, *reply);
    if (auto refusal = accept(listener, connection, url, method, exchange))
      return send(connection, *exchange, *refusal);
    return MHD_YES;
  }

  void completed(void* key) { exchanges_.remove(key); }

 private:
  Status add_listener(Fd fd, bool local) {
    listeners_.push_back(std::make_unique<Listener>(*this, local));
    return listeners_.back()->start(std::move(fd), settings_);
  }

  MHD_Result begin(MHD_Connection* connection, void** key) {
    const auto exchange = exchanges_.add();
    *key = exchange.get();
    // Refused before the body is read, where its length is announced.
    const std::string length = header_of(connection, "Content-Length");
    if (length.size() > 18 || std::strtoull(length.c_str(), nullptr, 10) > settings_.max_body_bytes)
      return send(connection, *exchange, too_large_reply());
    return MHD_YES;
  }

  MHD_Result take_piece(Exchange& exchange, const char* piece, std::size_t* piece_size) const {
    if (exchange.body.size() + *piece_size > settings_.max_body_bytes) {
      // A chunked body that goes on and on: the connection is cut at its second limit's worth.
      if (exchange.too_large) return MHD_NO;
      exchange.too_large = true;
      exchange.body.clear();
    }
    exchange.body.append(piece, *piece_size);
    *piece_size = 0;
    return MHD_YES;
  }

  HttpReply too_large_reply() const {
    return HttpReply::failure(413, "RequestTooLarge",
                              "The request is larger than " + std::to_string(settings_.max_body_bytes) + " bytes.");
  }

  /// The whole request is there. Either it now waits for the loop, or the refusal is returned.
  std::optional<HttpReply> accept(Listener& listener, MHD_Connection* connection, const std::string& url,
                                  const std::string& method, const std::shared_ptr<Exchange>& exchange) {
    exchange->credential = munge_credential_of(connection);
    if (exchange->too_large) return too_large_reply();
    if (method != "POST") return HttpReply::failure(405, "InvalidAction", "Only POST is understood.");
    if (url != "/") return HttpReply::failure(404, "InvalidAction", "Only the path / is served.");
    HttpRequest request;
    request.target = header_of(connection, "X-Amz-Target");
    request.local = listener.is_local();
    if (auto refusal = identify(connection, *exchange, request)) return refusal;
    auto body = parse_json(exchange->body.empty() ? "{}" : exchange->body, settings_.max_body_bytes);
    if (!body) return HttpReply::failure(400, "SerializationException", body.error().message);
    if (!body->is_map()) return HttpReply::failure(400, "SerializationException", "The body has to be a JSON object.");
    request.body = std::move(*body);
    if (!exchanges_.begin_waiting(*exchange, connection)) return Exchanges::ending_reply();
    hand_over(std::move(request), exchange);
    return std::nullopt;
  }

  static std::string munge_credential_of(MHD_Connection* connection) {
    const std::string header = header_of(connection, "Authorization");
    return header.rfind(munge_scheme, 0) == 0 ? header.substr(munge_scheme.size()) : std::string();
  }

  std::optional<HttpReply> identify(MHD_Connection* connection, const Exchange& exchange, HttpRequest& request) const {
    const auto refuse = [](const std::string& why) {
      return HttpReply::failure(401, "UnrecognizedClientException", why);
    };
    if (request.local) {
      const auto uid = peer_uid(connection);
      if (!uid) return refuse("The system does not tell who is at the other end of the socket.");
      request.uid = *uid;
      return std::nullopt;
    }
    request.peer_address = numeric_address(connection);
    if (exchange.credential.empty()) return refuse("A MUNGE credential is needed: Authorization: Munge CREDENTIAL.");
    auto identity = munge_decode(exchange.credential, settings_.munge_socket);
    if (!identity) return refuse(identity.error().message);
    if (identity->payload != request_payload(request.target, exchange.body))
      return refuse("The MUNGE credential belongs to another request.");
    request.uid = identity->uid;
    return std::nullopt;
  }

  void hand_over(HttpRequest request, const std::shared_ptr<Exchange>& exchange) {
    // Shared, since a std::function has to be copyable.
    auto ticket = std::make_shared<Ticket>(exchange);
    auto shared_request = std::make_shared<HttpRequest>(std::move(request));
    loop_.post([gate = gate_, ticket, shared_request] {
      if (!gate->open) return;
      gate->handler(std::move(*shared_request), [ticket](HttpReply reply) { ticket->answer(std::move(reply)); });
    });
  }

  MHD_Result send(MHD_Connection* connection, const Exchange& exchange, const HttpReply& reply) const {
    std::string body = to_json(reply.body);
    const ResponseHandle response(MHD_create_response_from_buffer(body.size(), body.data(), MHD_RESPMEM_MUST_COPY));
    if (!response) return MHD_NO;
    MHD_add_response_header(response.get(), "Content-Type", "application/x-amz-json-1.1");
    MHD_add_response_header(response.get(), "x-amzn-RequestId", random_uuid().c_str());
    if (!exchange.credential.empty()) {
      // Without it the client refuses the answer and says why; there is nobody better to tell from here.
      if (auto credential = munge_encode(answer_payload(exchange.credential, body), settings_.munge_socket))
        MHD_add_response_header(response.get(), "X-Muster-Credential", credential->c_str());
    }
    return MHD_queue_response(connection, static_cast<unsigned>(reply.status), response.get());
  }

  EventLoop& loop_;
  HttpServerSettings settings_;
  std::shared_ptr<Gate> gate_;
  Exchanges exchanges_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  bool has_socket_file_ = false;
  std::uint16_t port_ = 0;
};

MHD_Result on_access(void* user, MHD_Connection* connection, const char* url, const char* method,
                     const char* /*version*/, const char* piece, std::size_t* piece_size, void** key) noexcept {
  auto* listener = static_cast<Listener*>(user);
  return listener->server().handle(*listener, connection, url, method, piece, piece_size, key);
}

void on_completed(void* user, MHD_Connection* /*connection*/, void** key,
                  MHD_RequestTerminationCode /*code*/) noexcept {
  if (*key == nullptr) return;
  static_cast<Listener*>(user)->server().completed(*key);
  *key = nullptr;
}

/// libmicrohttpd's own words are about clients that went away.
void on_log(void* /*user*/, const char* /*format*/, va_list /*arguments*/) {}

Status Listener::start(Fd fd, const HttpServerSettings& settings) {
  fd_ = std::move(fd);
  const unsigned flags =
      MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG;
  const std::vector<MHD_OptionItem> options = {
      {MHD_OPTION_LISTEN_SOCKET, fd_.get(), nullptr},
      {MHD_OPTION_THREAD_POOL_SIZE, static_cast<std::intptr_t>(std::max(settings.threads, 1u)), nullptr},
      {MHD_OPTION_CONNECTION_LIMIT, static_cast<std::intptr_t>(settings.max_connections), nullptr},
      {MHD_OPTION_CONNECTION_TIMEOUT, static_cast<std::intptr_t>(idle_timeout_s), nullptr},
      {MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory_bytes, nullptr},
      {MHD_OPTION_NOTIFY_COMPLETED, reinterpret_cast<std::intptr_t>(&on_completed), this},
      {MHD_OPTION_END, 0, nullptr},
  };
  daemon_ = MHD_start_daemon(flags, 0, nullptr, nullptr, &on_access, this, MHD_OPTION_EXTERNAL_LOGGER, &on_log, nullptr,
                             MHD_OPTION_ARRAY, options.data(), MHD_OPTION_END);
  if (daemon_ == nullptr)
    return logic::retry_error(std::string("the HTTP server cannot be started: ") + std::strerror(errno));
  return Done{};
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(EventLoop& loop, const HttpServerSettings& settings,
                                                      std::function<void(HttpRequest, Responder)> handler) {
  auto server = std::make_unique<Server>(loop, settings, std::move(handler));
  if (auto started = server->start(); !started) return started.error();
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace muster::sys
