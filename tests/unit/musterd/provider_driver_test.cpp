// SPDX-License-Identifier: GPL-2.0-or-later
#include "musterd/provider_driver.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "sys/clock.hpp"
#include "tests/unit/sys/loop_test.hpp"
#include "tests/unit/sys/temporary_directory.hpp"

namespace muster::musterd {
namespace {

using logic::GroupName;
using logic::LaunchMachine;
using logic::LaunchResult;
using logic::LaunchToken;
using logic::NodeName;

class ProviderDriverTest : public sys::LoopTest {
 protected:
  ProviderDriverTest() { spec_.name = "lab"; }
  void add_group(const std::string& name, const std::string& script,
                 logic::Duration timeout = std::chrono::seconds{10}) {
    const std::string path = directory_.path() + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    ::chmod(path.c_str(), 0755);
    logic::ProviderSpec provider;
    provider.name = name;
    provider.program = path;
    provider.call_timeout = timeout;
    spec_.providers[name] = provider;
    logic::GroupSpec group;
    group.name = GroupName{name};
    group.provider = name;
    spec_.groups.push_back(group);
  }
  void start(int at_once = 2) {
    for (auto& [name, provider] : spec_.providers) provider.max_launches = at_once;
    driver_ = std::make_unique<ProviderDriver>(
        *loop_, ProviderDriver::Events{
                    [this](LaunchResult result) {
                      results_.push_back(std::move(result));
                      if (results_.size() == wanted_) loop_->stop();
                    },
                    [this](logic::TerminateResult) { loop_->stop(); }, [](logic::RebootResult) {},
                    [this](const GroupName&, logic::Time, logic::Result<std::vector<logic::SeenMachine>> list) {
                      list_.emplace(std::move(list));
                      loop_->stop();
                    },
                    [this] { return may_begin_; }});
    driver_->configure(spec_);
  }
  void launch(const std::string& group, int number) {
    driver_->launch(LaunchMachine{GroupName{group}, NodeName{group + "-1"},
                                  LaunchToken{group + "." + std::to_string(number)}, number, ""});
  }
  void run_for(std::size_t results) {
    wanted_ = results;
    ASSERT_TRUE(loop_->run());
  }

  sys::TemporaryDirectory directory_;
  logic::ClusterSpec spec_;
  std::unique_ptr<ProviderDriver> driver_;
  std::vector<LaunchResult> results_;
  std::optional<logic::Result<std::vector<logic::SeenMachine>>> list_;
  std::size_t wanted_ = 1;
  bool may_begin_ = true;
};

TEST_F(ProviderDriverTest, GivesTheProgramItsRequestAndTakesItsAnswer) {
  add_group(
      "good",
      R"(read line; case "$1 $line" in "launch "*'"token":"good.1"'*) echo '{"instance_id":"i-1"}';; *) exit 9;; esac)");
  start();
  launch("good", 1);
  run_for(1);
  ASSERT_EQ(results_.size(), 1u);
  EXPECT_EQ(results_[0].message, "");
  EXPECT_EQ(results_[0].instance, logic::InstanceId{"i-1"});
}

TEST_F(ProviderDriverTest, CallsThatHangInOneGroupDelayNoOther) {
  add_group("hangs", "sleep 60", std::chrono::minutes{1});
  add_group("good", R"(echo '{"instance_id":"i-1"}')");
  start();
  for (int i = 1; i <= 10; ++i) launch("hangs", i);
  launch("good", 1);
  run_for(1);
  ASSERT_EQ(results_.size(), 1u);
  EXPECT_EQ(results_[0].token, LaunchToken{"good.1"});
  EXPECT_EQ(driver_->launches_in_flight().size(), 10u) << "queued or running: not to be begun again";
}

TEST_F(ProviderDriverTest, AQueuedCallIsDroppedWhereItMayNotBeginAnyMore) {
  add_group("good", R"(echo begun >>"$0.log"; echo '{"instance_id":"i-1"}')");
  start(1);
  launch("good", 1);
  launch("good", 2);
  may_begin_ = false;
  run_for(1);
  EXPECT_TRUE(driver_->launches_in_flight().empty());
  std::ifstream log(directory_.path() + "/good.log");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(log), {}), "begun\n");
}

TEST_F(ProviderDriverTest, WhenItStopsRunningCallsEndUnheard) {
  add_group("hangs", "sleep 60", std::chrono::minutes{1});
  add_group("good", R"(echo '{"instance_id":"i-1"}')");
  start(1);
  for (int i = 1; i <= 3; ++i) launch("hangs", i);
  driver_->stop();
  EXPECT_TRUE(driver_->launches_in_flight().empty());
  launch("good", 1);
  run_for(1);
  ASSERT_EQ(results_.size(), 1u);
  EXPECT_EQ(results_[0].token, LaunchToken{"good.1"}) << "and it goes on with what is new";
}

TEST_F(ProviderDriverTest, EndsACallThatPassesItsDeadlineAndLeavesItsOutcomeOpen) {
  add_group("hangs", "sleep 60", std::chrono::milliseconds{300});
  start();
  launch("hangs", 1);
  run_for(1);
  ASSERT_EQ(results_.size(), 1u);
  EXPECT_TRUE(results_[0].outcome_unknown);
  EXPECT_NE(results_[0].message.find("did not answer within 300 ms"), std::string::npos) << results_[0].message;
  EXPECT_TRUE(driver_->launches_in_flight().empty());
}

TEST_F(ProviderDriverTest, NamesHowAProgramFailedWithItsLastWords) {
  add_group("dies", "echo first >&2; echo 'no credentials' >&2; exit 3");
  add_group("rubbish", "echo hello");
  add_group("killed", "kill -9 $$");
  start();
  for (const char* group : {"dies", "rubbish", "killed"}) launch(group, 1);
  run_for(3);
  ASSERT_EQ(results_.size(), 3u);
  for (const LaunchResult& result : results_) {
    EXPECT_TRUE(result.outcome_unknown);
    const std::string wanted = result.token.str() == "dies.1"      ? "ended with status 3: no credentials"
                               : result.token.str() == "rubbish.1" ? "expected one JSON object"
                                                                   : "ended by signal 9";
    EXPECT_NE(result.message.find(wanted), std::string::npos) << result.message;
  }
}

TEST_F(ProviderDriverTest, AProgramThatIsGoneIsAFailureLikeAnyOther) {
  add_group("gone", "true");
  spec_.providers["gone"].program = directory_.path() + "/nothing";
  start();
  launch("gone", 1);
  run_for(1);
  ASSERT_EQ(results_.size(), 1u);
  EXPECT_TRUE(results_[0].outcome_unknown);
}

TEST_F(ProviderDriverTest, AListThatFailsIsUnknown) {
  add_group("dies", "exit 1");
  start();
  driver_->list(GroupName{"dies"}, sys::now());
  run_for(1);
  ASSERT_TRUE(list_.has_value());
  EXPECT_FALSE(*list_);
}

}  // namespace
}  // namespace muster::musterd
