// SPDX-License-Identifier: GPL-2.0-or-later
#include "noded/head_link.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "sys/clock.hpp"
#include "sys/http_server.hpp"

namespace muster::noded {
namespace {

using std::chrono::seconds;
using sys::HttpReply;

/// A real server on a local socket acts as musterd; the test answers when it likes.
class Link : public testing::Test {
 protected:
  struct Open {
    logic::Value body;
    sys::Responder respond;
  };

  Link() {
    std::string name = testing::TempDir() + "muster-link-XXXXXX";
    folder = mkdtemp(name.data());
    loop = std::move(*sys::EventLoop::create());
    config.servers = {"unix:" + folder + "/socket"};
    config.head_users = {"root"};
    config.poll_wait = seconds{50};
    config.max_clock_skew = seconds{30};
    deadline = loop->after(seconds{20}, [this] { loop->stop(); });
  }
  ~Link() override {
    link.reset();
    open.clear();
    server.reset();
    std::filesystem::remove_all(folder);
  }

  void start_server(const std::string& name = "socket") {
    sys::HttpServerSettings settings;
    settings.socket_path = folder + "/" + name;
    auto started = sys::HttpServer::start(*loop, settings, [this](sys::HttpRequest request, sys::Responder respond) {
      open.push_back({request.body, std::move(respond)});
      on_request(open.size());
    });
    ASSERT_TRUE(started) << started.error().message;
    server = std::move(*started);
  }
  void start_link() {
    HeadLink::Owner owner;
    owner.body = [](std::int64_t generation, logic::Duration wait) {
      return report_body(logic::NodeReport{}, generation, wait, sys::now());
    };
    owner.assigned = [this](const logic::Assignment& assignment) { on_assigned(assignment); };
    owner.changed = [this] { on_changed(); };
    owner.random = [] { return 0.0; };
    auto made = HeadLink::create(*loop, config, std::move(owner));
    ASSERT_TRUE(made) << made.error().message;
    link = std::move(*made);
    link->begin();
  }
  void answer(Open& request, int generation, logic::Duration skew = seconds{0}) {
    request.respond(HttpReply::ok(logic::Value::map(
        {{"Generation", generation}, {"Assigned", false}, {"HeadTime", logic::to_seconds(sys::now() + skew)}})));
  }
  /// Until a callback of the test stops the loop. Once in a test.
  void run() { ASSERT_TRUE(loop->run()); }

  std::string folder;
  std::unique_ptr<sys::EventLoop> loop;
  sys::EventLoop::Handle deadline;
  sys::EventLoop::Handle later;
  NodeConfig config;
  std::unique_ptr<sys::HttpServer> server;
  std::vector<Open> open;
  std::unique_ptr<HeadLink> link;
  std::function<void(std::size_t)> on_request = [](std::size_t) {};
  std::function<void(const logic::Assignment&)> on_assigned = [](const logic::Assignment&) {};
  std::function<void()> on_changed = [] {};
};

TEST_F(Link, AsksAtOnceFirstAndThenWaitsOnTheHead) {
  on_request = [this](std::size_t count) {
    if (count == 1) return answer(open[0], 5);
    loop->stop();
  };
  start_server();
  start_link();
  run();
  ASSERT_EQ(open.size(), 2u);
  EXPECT_EQ(open[0].body.real_or("WaitSeconds"), 0.0);
  EXPECT_EQ(open[1].body.real_or("WaitSeconds"), 50.0);
  EXPECT_EQ(open[1].body.integer_or("KnownGeneration"), 5);
  EXPECT_TRUE(link->proof().accepted);
  EXPECT_EQ(link->waiting(), "");
}

TEST_F(Link, TellsNewsWithoutWaitingForTheAnswer) {
  on_request = [this](std::size_t count) {
    if (count == 1) return answer(open[0], 5);
    if (count == 2) later = loop->after(seconds{0}, [this] { link->tell_news(); });
    if (count == 3) loop->stop();
  };
  start_server();
  start_link();
  run();
  EXPECT_EQ(open.size(), 3u);
}

TEST_F(Link, MeasuresTheClock) {
  on_request = [this](std::size_t count) {
    if (count == 1) return answer(open[0], 5, seconds{100});
    loop->stop();
  };
  start_server();
  start_link();
  run();
  ASSERT_TRUE(link->proof().skew);
  EXPECT_LT(*link->proof().skew, seconds{-99});
  EXPECT_GT(*link->proof().skew, seconds{-101});
}

TEST_F(Link, SaysWhatItWaitsForAndTriesTheNextServer) {
  config.servers = {"unix:" + folder + "/nobody", "unix:" + folder + "/socket"};
  std::string words;
  on_changed = [this, &words] {
    if (words.empty()) words = link->waiting();
  };
  on_request = [this](std::size_t) { answer(open[0], 5); };
  on_assigned = [this](const logic::Assignment&) { loop->stop(); };
  start_server();
  start_link();
  run();
  EXPECT_EQ(words.rfind("waiting for musterd at unix:" + folder + "/nobody: ", 0), 0u) << words;
  EXPECT_NE(words.find(", retry 1 in 500 ms"), std::string::npos) << words;
  EXPECT_EQ(link->waiting(), "");
}

TEST_F(Link, IsNotProvenByAHeadThatRefusesTheCredential) {
  on_request = [this](std::size_t) {
    open[0].respond(HttpReply::failure(401, "UnrecognizedClientException", "expired"));
  };
  on_changed = [this] { loop->stop(); };
  start_server();
  start_link();
  run();
  EXPECT_FALSE(link->proof().accepted);
  EXPECT_NE(link->proof().text.find("refused: expired"), std::string::npos) << link->proof().text;
  ASSERT_TRUE(link->proof().skew);
  EXPECT_LT(*link->proof().skew, seconds{2});
  EXPECT_GT(*link->proof().skew, seconds{-2});
}

TEST_F(Link, DoesNotStormAHeadThatAnswersAtOnceWithoutNews) {
  on_request = [this](std::size_t count) { answer(open[count - 1], 5); };
  deadline = loop->after(seconds{1}, [this] { loop->stop(); });
  start_server();
  start_link();
  run();
  EXPECT_LT(open.size(), 8u);
}

}  // namespace
}  // namespace muster::noded
