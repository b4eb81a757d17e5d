// SPDX-License-Identifier: GPL-2.0-or-later
//
// The HTTP client against the HTTP server, over a local socket and over loopback TCP with a munged of the test's own.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <thread>

#include "sys/clock.hpp"
#include "sys/http_client.hpp"
#include "sys/http_server.hpp"
#include "tests/unit/sys/loop_test.hpp"
#include "tests/unit/sys/private_munged.hpp"
#include "tests/unit/sys/temporary_directory.hpp"

namespace muster::sys {
namespace {

using logic::Value;
using std::chrono::milliseconds;
using std::chrono::seconds;

using Answer = logic::Result<HttpAnswer>;

class HttpTest : public LoopTest {
 protected:
  void SetUp() override {
    LoopTest::SetUp();
    settings_.socket_path = directory_.file("musterd.sock");
  }
  void start_server() {
    auto started = HttpServer::start(*loop_, settings_, [this](HttpRequest request, const Responder& respond) {
      request_ = request;
      handle(std::move(request), respond);
    });
    ASSERT_TRUE(started) << started.error().message;
    server_ = std::move(*started);
  }
  void handle(HttpRequest request, const Responder& respond) {
    if (request.target == "Muster.Echo") return respond(HttpReply::ok(std::move(request.body)));
    if (request.target == "Muster.Fail")
      return respond(HttpReply::failure(404, "com.example#ResourceNotFound", "There is no group \"x\"."));
    if (request.target == "Muster.Drop") return;
    if (request.target == "Muster.Wait") {
      waiting_.push_back(respond);
      if (on_waiting_) on_waiting_();
      return;
    }
    respond(HttpReply::failure(400, "InvalidAction", "Unknown."));
  }
  void make_client(Endpoint endpoint) {
    auto made = HttpClient::create(*loop_, std::move(endpoint));
    ASSERT_TRUE(made) << made.error().message;
    client_ = std::move(*made);
  }
  void make_local_client() { make_client({"unix:" + settings_.socket_path, "", "", "test", {}}); }
  /// Calls and runs the loop until the answer is there.
  Answer ask(const std::string& target, const Value& body = Value::map(), logic::Duration deadline = seconds{10}) {
    std::optional<Answer> answer;
    const auto call = client_->call(target, body, deadline, [&](Answer result) {
      answer = std::move(result);
      loop_->stop();
    });
    EXPECT_TRUE(loop_->run());
    return answer ? std::move(*answer) : Answer(logic::bug_error("no answer"));
  }

  TemporaryDirectory directory_;
  HttpServerSettings settings_;
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<HttpClient> client_;
  HttpRequest request_;
  std::vector<Responder> waiting_;
  std::function<void()> on_waiting_;
};

TEST_F(HttpTest, CarriesARequestAndItsAnswerOverALocalSocket) {
  start_server();
  make_local_client();
  const auto answer = ask("Muster.Echo", Value::map({{"Text", "täxt"}, {"Number", 7}}));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body.text_or("Text"), "täxt");
  EXPECT_EQ(answer->body.integer_or("Number"), 7);
  EXPECT_EQ(request_.target, "Muster.Echo");
  EXPECT_EQ(request_.uid, getuid());
  EXPECT_TRUE(request_.local);
  EXPECT_TRUE(request_.peer_address.empty());
  EXPECT_LT(std::abs(logic::to_seconds(answer->date) - logic::to_seconds(now())), 5.0);
}

TEST_F(HttpTest, GivesTypeAndMessageOfAnErrorAnswer) {
  start_server();
  make_local_client();
  const auto answer = ask("Muster.Fail");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->error_type, "ResourceNotFound");
  EXPECT_EQ(answer->message, "There is no group \"x\".");
}

TEST_F(HttpTest, Answers500WhereTheHandlerDropsARequest) {
  start_server();
  make_local_client();
  const auto answer = ask("Muster.Drop");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 500);
}

TEST_F(HttpTest, HoldsARequestUntilTheLoopAnswersIt) {
  start_server();
  make_local_client();
  EventLoop::Handle later;
  on_waiting_ = [&] {
    later = loop_->after(milliseconds{100}, [&] { waiting_.at(0)(HttpReply::ok(Value::map({{"Late", true}}))); });
  };
  const auto answer = ask("Muster.Wait");
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->body.boolean_or("Late"));
  EXPECT_GE(answer->round_trip, milliseconds{100});
}

TEST_F(HttpTest, TakesTheFirstOfTwoAnswersOnly) {
  start_server();
  make_local_client();
  on_waiting_ = [&] {
    waiting_[0](HttpReply::ok(Value::map({{"Which", 1}})));
    waiting_[0](HttpReply::ok(Value::map({{"Which", 2}})));
  };
  const auto answer = ask("Muster.Wait");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body.integer_or("Which"), 1);
}

TEST_F(HttpTest, AnswersWhatWaitsWith503WhenItEnds) {
  start_server();
  make_local_client();
  on_waiting_ = [&] { loop_->post([&] { server_.reset(); }); };
  const auto answer = ask("Muster.Wait");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 503);
  waiting_[0](HttpReply::ok(Value::map()));  // too late, and harmless
  EXPECT_NE(access(settings_.socket_path.c_str(), F_OK), 0);
}

TEST_F(HttpTest, GivesUpACallAtItsDeadline) {
  start_server();
  make_local_client();
  const auto answer = ask("Muster.Wait", Value::map(), milliseconds{200});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message.rfind("POST Muster.Wait to unix:" + settings_.socket_path + ": ", 0), 0u);
}

TEST_F(HttpTest, SaysThatNobodyListens) {
  make_local_client();
  const auto answer = ask("Muster.Echo");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, logic::ErrorKind::retry);
}

TEST_F(HttpTest, ForgetsACallWhoseHandleIsGone) {
  start_server();
  make_local_client();
  bool called = false;
  auto call = client_->call("Muster.Echo", Value::map(), seconds{5}, [&](const Answer&) { called = true; });
  call.reset();
  const auto end = loop_->after(milliseconds{200}, [&] { loop_->stop(); });
  ASSERT_TRUE(loop_->run());
  EXPECT_FALSE(called);
}

TEST_F(HttpTest, LetsACallbackDestroyTheClient) {
  start_server();
  make_local_client();
  bool other_called = false;
  const auto one = client_->call("Muster.Echo", Value::map(), seconds{5}, [&](const Answer&) {
    client_.reset();
    loop_->stop();
  });
  const auto other =
      client_->call("Muster.Wait", Value::map(), seconds{5}, [&](const Answer&) { other_called = true; });
  ASSERT_TRUE(loop_->run());
  EXPECT_FALSE(other_called);
}

TEST_F(HttpTest, ServesManyCallsAtATime) {
  start_server();
  make_local_client();
  constexpr int calls = 200;
  int answered = 0;
  std::vector<std::unique_ptr<HttpCall>> handles;
  for (int index = 0; index < calls; ++index) {
    handles.push_back(client_->call(index % 2 == 0 ? "Muster.Wait" : "Muster.Echo", Value::map({{"I", index}}),
                                    seconds{15}, [&](const Answer& answer) {
                                      EXPECT_TRUE(answer && answer->status == 200);
                                      if (++answered == calls) loop_->stop();
                                    }));
  }
  on_waiting_ = [&] {
    if (waiting_.size() < calls / 2) return;
    for (const auto& respond : waiting_) respond(HttpReply::ok(Value::map()));
  };
  ASSERT_TRUE(loop_->run());
  EXPECT_EQ(answered, calls);
}

TEST_F(HttpTest, RefusesABodyThatIsTooLarge) {
  settings_.max_body_bytes = 1000;
  start_server();
  make_local_client();
  const auto answer = ask("Muster.Echo", Value::map({{"Text", std::string(2000, 'x')}}));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 413);
}

TEST_F(HttpTest, CarriesALargeBodyBothWays) {
  start_server();
  make_local_client();
  const std::string large(3u << 20, 'x');
  const auto answer = ask("Muster.Echo", Value::map({{"Text", large}}));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body.text_or("Text"), large);
}

TEST_F(HttpTest, ReplacesASocketThatAKilledServerLeftButNotALiveOne) {
  start_server();
  const auto second = HttpServer::start(*loop_, settings_, [](const HttpRequest&, const Responder&) {});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another server answers there"), std::string::npos);
  server_.reset();
  {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    settings_.socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    close(fd);
  }
  start_server();
}

/// What a client that is not ours sends; the status line of the answer.
class RawRequest : public HttpTest,
                   public testing::WithParamInterface<std::tuple<const char*, const char*, const char*>> {};

TEST_P(RawRequest, IsRefusedWithTheRightStatus) {
  start_server();
  const auto [name, text, status] = GetParam();
  std::string answer;
  std::thread client([&, request = std::string(text)] {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    settings_.socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
        write(fd, request.data(), request.size()) == static_cast<ssize_t>(request.size())) {
      std::array<char, 4096> buffer{};
      const ssize_t got = read(fd, buffer.data(), buffer.size());
      if (got > 0) answer.assign(buffer.data(), static_cast<std::size_t>(got));
    }
    close(fd);
    loop_->post([this] { loop_->stop(); });
  });
  EXPECT_TRUE(loop_->run());
  client.join();
  EXPECT_EQ(answer.substr(0, 12), std::string("HTTP/1.1 ") + status) << answer;
}

INSTANTIATE_TEST_SUITE_P(
    Table, RawRequest,
    testing::Values(std::tuple{"a_get", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "405"},
                    std::tuple{"another_path", "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", "404"},
                    std::tuple{"no_json", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n{x}", "400"},
                    std::tuple{"no_object", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n[]", "400"},
                    std::tuple{"a_huge_length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n",
                               "413"}),
    [](const auto& row) { return std::string(std::get<0>(row.param)); });

class HttpOverTcp : public HttpTest {
 protected:
  void SetUp() override {
    HttpTest::SetUp();
    munged_ = std::make_unique<PrivateMunged>(*loop_);
    if (!munged_->is_up()) GTEST_SKIP() << "no munged could be started";
    settings_.listen_address = "127.0.0.1";
    settings_.munge_socket = munged_->socket();
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }
  std::unique_ptr<PrivateMunged> munged_;
};

TEST_F(HttpOverTcp, ProvesBothSidesByMunge) {
  start_server();
  make_client({url(), munged_->socket(), "", "test", {}});
  const auto answer = ask("Muster.Echo", Value::map({{"Text", "hello"}}));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body.text_or("Text"), "hello");
  EXPECT_EQ(request_.uid, getuid());
  EXPECT_FALSE(request_.local);
  EXPECT_EQ(request_.peer_address, "127.0.0.1");
}

TEST_F(HttpOverTcp, RefusesAHeadThatIsNotTrusted) {
  start_server();
  make_client({url(), munged_->socket(), "", "test", {12345}});
  const auto answer = ask("Muster.Echo");
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("it comes from uid " + std::to_string(getuid())), std::string::npos);
}

TEST_F(HttpOverTcp, RefusesACredentialOfAnotherKey) {
  start_server();
  PrivateMunged other(*loop_, std::string(64, 'z'));
  ASSERT_TRUE(other.is_up());
  make_client({url(), other.socket(), "", "test", {}});
  const auto answer = ask("Muster.Echo");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 401);
  EXPECT_NE(answer->message.find("not proven"), std::string::npos) << answer->message;
  EXPECT_TRUE(answer->body.is_null());
}

TEST_F(HttpOverTcp, GivesUpWhereNoMungedIs) {
  start_server();
  make_client({url(), directory_.file("no-munged"), "", "test", {}});
  const auto answer = ask("Muster.Echo");
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("munge at "), std::string::npos) << answer.error().message;
}

TEST_F(HttpOverTcp, RefusesARequestWithoutACredential) {
  start_server();
  const std::uint16_t port = server_->port();
  std::string answer;
  std::thread client([&] {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string request = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
        write(fd, request.data(), request.size()) == static_cast<ssize_t>(request.size())) {
      std::array<char, 4096> buffer{};
      const ssize_t got = read(fd, buffer.data(), buffer.size());
      if (got > 0) answer.assign(buffer.data(), static_cast<std::size_t>(got));
    }
    close(fd);
    loop_->post([this] { loop_->stop(); });
  });
  EXPECT_TRUE(loop_->run());
  client.join();
  EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 401") << answer;
}

TEST(HttpClientSettings, RefuseAnAddressOfAnotherKind) {
  auto loop = EventLoop::create();
  ASSERT_TRUE(loop);
  EXPECT_FALSE(HttpClient::create(**loop, {"ftp://head", "", "", "test", {}}));
  EXPECT_FALSE(HttpClient::create(**loop, {"unix:", "", "", "test", {}}));
}

}  // namespace
}  // namespace muster::sys
