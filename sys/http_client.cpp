// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/http_client.hpp"

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

#include "sys/json.hpp"
#include "sys/munge_credential.hpp"
#include "sys/request_digest.hpp"

namespace muster::sys {
namespace {

using logic::Duration;
using logic::Error;
using logic::Result;
using logic::Value;

constexpr std::size_t max_answer_bytes = 64u << 20;
constexpr std::size_t max_header_bytes = 8192;
constexpr long longest_connect_ms = 10000;
constexpr long unauthorized = 401;
constexpr std::string_view unix_prefix = "unix:";

struct EasyCleanup {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
using Easy = std::unique_ptr<CURL, EasyCleanup>;
struct MultiCleanup {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
using Multi = std::unique_ptr<CURLM, MultiCleanup>;
struct ListFree {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, ListFree>;

/// curl's global set-up, once for the process.
void set_up_curl() {
  static const CURLcode done = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(done);
}

using Done = std::function<void(Result<HttpAnswer>)>;

/// One call's data; curl's callbacks point into it, so it does not move.
struct Call {
  Easy easy;
  HeaderList headers;
  std::string target;
  std::string body;
  std::string credential;  ///< ours, empty over a local socket
  std::string answer;
  std::string answer_credential;  ///< X-Muster-Credential
  Duration deadline{0};
  bool too_large = false;
  std::array<char, CURL_ERROR_SIZE> error{};
  Done done;
  EventLoop::Handle failure;  ///< a call that could not be begun fails from the loop
};

void add_header(HeaderList& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) return;
  static_cast<void>(list.release());
  list.reset(longer);
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto* call = static_cast<Call*>(user);
  const std::size_t bytes = size * count;
  if (call->answer.size() + bytes > max_answer_bytes) {
    call->too_large = true;
    return 0;
  }
  call->answer.append(data, bytes);
  return bytes;
}

/// The value of a header line, if it is the one of that name (in any case).
std::optional<std::string> header_value(std::string_view line, std::string_view name) {
  if (line.size() <= name.size() || line[name.size()] != ':') return std::nullopt;
  for (std::size_t index = 0; index < name.size(); ++index) {
    if (std::tolower(static_cast<unsigned char>(line[index])) != std::tolower(static_cast<unsigned char>(name[index])))
      return std::nullopt;
  }
  line.remove_prefix(name.size() + 1);
  const auto is_blank = [](char letter) { return std::isspace(static_cast<unsigned char>(letter)) != 0; };
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return std::string(line);
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user);

int open_socket(void* /*user*/, curlsocktype /*purpose*/, curl_sockaddr* address) {
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/// What the answers' Date and credential headers said.
struct HeaderSink {
  Call* call = nullptr;
  logic::Time date = logic::no_time;
};

/// The type of an error answer without its prefix: "com.example#ResourceNotFound" is ResourceNotFound.
std::string plain_type(const std::string& type) {
  const auto hash = type.rfind('#');
  return hash == std::string::npos ? type : type.substr(hash + 1);
}

class Core;

class CallHandle final : public HttpCall {
 public:
  CallHandle(std::weak_ptr<Core> core, CURL* key) : core_(std::move(core)), key_(key) {}
  ~CallHandle() override;

 private:
  std::weak_ptr<Core> core_;
  CURL* key_;
};

struct OpenCall {
  Call call;
  HeaderSink sink;
};

/// Owns the multi handle and the calls. Kept alive by itself while it runs callbacks, since those may destroy the
/// client.
class Core final : public std::enable_shared_from_this<Core> {
 public:
  Core(EventLoop& loop, Endpoint endpoint) : loop_(loop), endpoint_(std::move(endpoint)) {}
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core() { close(); }

  logic::Status open() {
    set_up_curl();
    multi_.reset(curl_multi_init());
    if (!multi_) return logic::retry_error("HTTP client: no memory");
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
    is_local_ = endpoint_.url.rfind(unix_prefix, 0) == 0;
    if (is_local_ && endpoint_.url.size() == unix_prefix.size())
      return logic::reject_error("HTTP client: \"" + endpoint_.url + "\" names no socket");
    if (!is_local_ && endpoint_.url.rfind("http://", 0) != 0 && endpoint_.url.rfind("https://", 0) != 0)
      return logic::reject_error("HTTP client: \"" + endpoint_.url +
                                 "\" is neither unix:PATH, http://HOST:PORT nor https://HOST:PORT");
    return logic::Done{};
  }

  /// No callback comes after this.
  void close() {
    closed_ = true;
    for (auto& [easy, open] : calls_) curl_multi_remove_handle(multi_.get(), easy);
    calls_.clear();
    multi_.reset();
    watches_.clear();
    timer_.reset();
  }

  std::unique_ptr<HttpCall> call(const std::string& target, const Value& body, Duration deadline, Done done) {
    Easy easy(curl_easy_init());
    CURL* key = easy.get();
    auto open = std::make_unique<OpenCall>();
    Call& call = open->call;
    call.easy = std::move(easy);
    call.target = target;
    call.body = to_json(body);
    call.deadline = deadline;
    call.done = std::move(done);
    open->sink.call = &call;
    OpenCall& placed = *calls_.insert_or_assign(key, std::move(open)).first->second;
    if (auto begun = begin(placed); !begun) {
      call.failure = loop_.after(Duration{0}, [this, key, error = begun.error()] {
        const auto keep = shared_from_this();
        deliver(key, error);
      });
    }
    return std::make_unique<CallHandle>(weak_from_this(), key);
  }

  void cancel(CURL* key) {
    const auto found = calls_.find(key);
    if (found == calls_.end()) return;
    curl_multi_remove_handle(multi_.get(), key);
    calls_.erase(found);
  }

 private:
  logic::Status begin(OpenCall& open) {
    Call& call = open.call;
    CURL* easy = call.easy.get();
    if (easy == nullptr) return error_of(call, "no memory");
    add_header(call.headers, "Content-Type: application/x-amz-json-1.1");
    add_header(call.headers, "X-Amz-Target: " + call.target);
    add_header(call.headers, "Expect:");
    if (!is_local_) {
      auto credential = munge_encode(request_payload(call.target, call.body), endpoint_.munge_socket);
      if (!credential) return logic::retry_error(subject(call) + ": " + credential.error().message);
      call.credential = std::move(*credential);
      add_header(call.headers, "Authorization: Munge " + call.credential);
    }
    const long deadline_ms = std::max<long>(static_cast<long>(call.deadline.count()), 1);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call.error.data());
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    limit_protocols(easy);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call.body.c_str());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, call.headers.get());
    curl_easy_setopt(easy, CURLOPT_USERAGENT, endpoint_.user_agent.c_str());
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, deadline_ms);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, std::min(deadline_ms, longest_connect_ms));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &call);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, &open.sink);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, this);
    if (is_local_) {
      curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, endpoint_.url.c_str() + unix_prefix.size());
      curl_easy_setopt(easy, CURLOPT_URL, "http://localhost/");
    } else {
      curl_easy_setopt(easy, CURLOPT_URL, endpoint_.url.c_str());
      curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
      if (!endpoint_.ca_file.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, endpoint_.ca_file.c_str());
    }
    const CURLMcode added = curl_multi_add_handle(multi_.get(), easy);
    if (added != CURLM_OK) return error_of(call, curl_multi_strerror(added));
    return logic::Done{};
  }

  static void limit_protocols(CURL* easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
  }

  static int on_socket(CURL* /*easy*/, curl_socket_t fd, int what, void* user, void* /*socket_user*/) {
    auto* core = static_cast<Core*>(user);
    core->watches_.erase(fd);
    if (what == CURL_POLL_REMOVE || core->closed_) return 0;
    std::uint32_t events = 0;
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT) events |= EPOLLIN;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) events |= EPOLLOUT;
    auto watch = core->loop_.watch(fd, events, [core, fd](std::uint32_t ready) { core->socket_ready(fd, ready); });
    if (watch) core->watches_.emplace(fd, std::move(*watch));
    return 0;
  }

  static int on_timer(CURLM* /*multi*/, long wait_ms, void* user) {
    auto* core = static_cast<Core*>(user);
    core->timer_.reset();
    if (wait_ms >= 0 && !core->closed_)
      core->timer_ = core->loop_.after(Duration{wait_ms}, [core] { core->drive(CURL_SOCKET_TIMEOUT, 0); });
    return 0;
  }

  /// A watch may not outlive its descriptor: the number comes back for another one.
  static int close_socket(void* user, curl_socket_t fd) {
    static_cast<Core*>(user)->watches_.erase(fd);
    return ::close(fd);
  }

  void socket_ready(curl_socket_t fd, std::uint32_t ready) {
    int what = 0;
    if ((ready & EPOLLIN) != 0) what |= CURL_CSELECT_IN;
    if ((ready & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
    if ((ready & (EPOLLERR | EPOLLHUP)) != 0) what |= CURL_CSELECT_ERR;
    drive(fd, what);
  }

  void drive(curl_socket_t fd, int what) {
    const auto keep = shared_from_this();
    int running = 0;
    curl_multi_socket_action(multi_.get(), fd, what, &running);
    // One at a time: each callback may end other calls, or all.
    while (!closed_) {
      int left = 0;
      const CURLMsg* message = curl_multi_info_read(multi_.get(), &left);
      if (message == nullptr) break;
      if (message->msg != CURLMSG_DONE) continue;
      CURL* key = message->easy_handle;
      const CURLcode code = message->data.result;
      const auto found = calls_.find(key);
      if (found != calls_.end()) deliver(key, outcome(*found->second, code));
    }
  }

  void deliver(CURL* key, Result<HttpAnswer> result) {
    const auto found = calls_.find(key);
    if (found == calls_.end()) return;
    const Done done = std::move(found->second->call.done);
    cancel(key);
    done(std::move(result));
  }

  Result<HttpAnswer> outcome(OpenCall& open, CURLcode code) {
    Call& call = open.call;
    if (call.too_large) return error_of(call, "the answer is larger than 64 MiB");
    if (code != CURLE_OK) return error_of(call, call.error[0] != '\0' ? call.error.data() : curl_easy_strerror(code));
    HttpAnswer answer;
    answer.date = open.sink.date;
    long status = 0;
    curl_off_t total_us = 0;
    curl_easy_getinfo(call.easy.get(), CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(call.easy.get(), CURLINFO_TOTAL_TIME_T, &total_us);
    answer.status = static_cast<int>(status);
    answer.round_trip = Duration{total_us / 1000};
    if (auto proven = check_credential(call); !proven) {
      if (status != unauthorized) return proven.error();
      // Where clocks or keys differ, neither side can take the other's credential. Its words and its clock tell the
      // cause.
      const auto words = parse_json(call.answer);
      answer.message = (words ? words->text_or("Message") : std::string{}) + " (not proven to be the head's words)";
      return answer;
    }
    if (call.answer.empty()) return answer;
    auto body = parse_json(call.answer);
    if (!body)
      return error_of(call, "HTTP " + std::to_string(status) + " with a body that is no JSON: " + body.error().message);
    answer.error_type = status == 200 ? "" : plain_type(body->text_or("__type"));
    answer.message = status == 200 ? "" : body->text_or("Message", body->text_or("message"));
    answer.body = std::move(*body);
    return answer;
  }

  /// Over TCP the head proves itself as we did.
  logic::Status check_credential(Call& call) const {
    if (is_local_) return logic::Done{};
    long status = 0;
    curl_easy_getinfo(call.easy.get(), CURLINFO_RESPONSE_CODE, &status);
    if (call.answer_credential.empty()) {
      std::string words;
      if (auto body = parse_json(call.answer); body && status != 200)
        words = " (it says: " + body->text_or("Message") + ")";
      return unproven(call, "HTTP " + std::to_string(status) +
                                " without a credential: whoever answers does not prove to be the head" + words);
    }
    auto identity = munge_decode(call.answer_credential, endpoint_.munge_socket);
    if (!identity) return unproven(call, "the head's answer is not proven: " + identity.error().message);
    if (identity->payload != answer_payload(call.credential, call.answer))
      return unproven(call, "the head's answer is not proven: its credential belongs to another answer");
    if (!is_trusted(identity->uid))
      return unproven(call, "the head's answer is not proven: it comes from uid " + std::to_string(identity->uid));
    return logic::Done{};
  }

  bool is_trusted(uid_t uid) const {
    const auto& trusted = endpoint_.trusted_uids;
    if (trusted.empty()) return uid == 0 || uid == geteuid();
    return std::find(trusted.begin(), trusted.end(), uid) != trusted.end();
  }

  std::string subject(const Call& call) const { return "POST " + call.target + " to " + endpoint_.url; }
  Error error_of(const Call& call, const std::string& words) const {
    return logic::retry_error(subject(call) + ": " + words);
  }
  Error unproven(const Call& call, const std::string& words) const {
    return logic::reject_error(subject(call) + ": " + words);
  }

  EventLoop& loop_;
  Endpoint endpoint_;
  bool is_local_ = false;
  bool closed_ = false;
  std::map<curl_socket_t, EventLoop::Handle> watches_;
  EventLoop::Handle timer_;
  Multi multi_;
  std::map<CURL*, std::unique_ptr<OpenCall>> calls_;
};

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user) {
  auto* sink = static_cast<HeaderSink*>(user);
  const std::string_view line(data, size * count);
  if (line.size() > max_header_bytes) return line.size();
  if (auto date = header_value(line, "Date")) {
    const std::time_t seconds = curl_getdate(date->c_str(), nullptr);
    if (seconds > 0) sink->date = logic::time_from_milliseconds(std::int64_t{seconds} * 1000);
  }
  if (auto credential = header_value(line, "X-Muster-Credential"))
    sink->call->answer_credential = std::move(*credential);
  return line.size();
}

CallHandle::~CallHandle() {
  if (const auto core = core_.lock()) core->cancel(key_);
}

class Client final : public HttpClient {
 public:
  explicit Client(std::shared_ptr<Core> core) : core_(std::move(core)) {}
  ~Client() override { core_->close(); }
  std::unique_ptr<HttpCall> call(const std::string& target, const Value& body, Duration deadline, Done done) override {
    return core_->call(target, body, deadline, std::move(done));
  }

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::create(EventLoop& loop, Endpoint endpoint) {
  auto core = std::make_shared<Core>(loop, std::move(endpoint));
  if (auto opened = core->open(); !opened) return opened.error();
  return std::unique_ptr<HttpClient>(std::make_unique<Client>(std::move(core)));
}

Result<HttpAnswer> call_and_wait(const Endpoint& endpoint, const std::string& target, const Value& body,
                                 Duration deadline) {
  auto loop = EventLoop::create();
  if (!loop) return loop.error();
  auto client = HttpClient::create(**loop, endpoint);
  if (!client) return client.error();
  std::optional<Result<HttpAnswer>> answer;
  const auto call = (*client)->call(target, body, deadline, [&](Result<HttpAnswer> result) {
    answer = std::move(result);
    (*loop)->stop();
  });
  if (auto ran = (*loop)->run(); !ran) return ran.error();
  return std::move(*answer);
}

}  // namespace muster::sys
