// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/slurm_link.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sys/files.hpp"
#include "tests/unit/sys/loop_test.hpp"
#include "tests/unit/sys/temporary_directory.hpp"

namespace muster::sys {
namespace {

using logic::Value;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Speaks to a stand-in for muster-slurm: a shell script whose answers depend on the operation.
class SlurmLinkTest : public LoopTest {
 protected:
  void SetUp() override {
    LoopTest::SetUp();
    use_helper(R"(echo '{"hello":"muster-slurm","slurm_version":"22.05.8","protocol":1}'
while read -r line; do
  id=$(echo "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case $line in
    *'"op":"hang"'*) sleep 100 ;;
    *'"op":"die"'*) echo 'slurm_init: fatal: no such thing' >&2; exit 1 ;;
    *'"op":"rubbish"'*) echo 'Segmentation fault' ;;
    *'"op":"refused"'*) echo '{"id":'$id',"ok":false,"errno":2018,"error":"Invalid node name","class":"refused","rpcs":1}' ;;
    *'"op":"away"'*) echo '{"id":'$id',"ok":false,"errno":1800,"error":"Unable to contact","class":"unreachable","rpcs":1}' ;;
    *) echo '{"id":'$id',"ok":true,"pid":'$$',"rpcs":2}' ;;
  esac
done)");
  }
  void use_helper(const std::string& script) {
    const std::string path = directory_.file("helper");
    ASSERT_TRUE(replace_file(path, "#!/bin/sh\n" + script + "\n", 0755));
    link_ = SlurmLink::create(*loop_, {path, ""});
  }
  void ask(const std::string& operation, logic::Duration deadline = seconds{10}) {
    ++open_;
    link_->request(Value::map({{"op", operation}}), deadline, [this, operation](logic::Result<Value> answer) {
      order_.push_back(operation);
      answers_.push_back(std::move(answer));
      if (--open_ == 0) loop_->stop();
    });
  }
  void run() { ASSERT_TRUE(loop_->run()); }

  TemporaryDirectory directory_;
  std::unique_ptr<SlurmLink> link_;
  std::vector<logic::Result<Value>> answers_;
  std::vector<std::string> order_;
  int open_ = 0;
};

TEST_F(SlurmLinkTest, AnswersInOrderFromOneHelperAndCountsRpcs) {
  ask("nodes");
  ask("jobs");
  run();
  ASSERT_EQ(order_, (std::vector<std::string>{"nodes", "jobs"}));
  ASSERT_TRUE(answers_[0] && answers_[1]);
  EXPECT_EQ(answers_[0]->integer_or("pid"), answers_[1]->integer_or("pid"));
  EXPECT_EQ(link_->rpcs(), 4u);
}

TEST_F(SlurmLinkTest, GivesSlurmsWordsWhereItRefuses) {
  ask("refused");
  run();
  ASSERT_FALSE(answers_[0]);
  EXPECT_EQ(answers_[0].error().kind, logic::ErrorKind::reject);
  EXPECT_EQ(answers_[0].error().message, "slurm refused: Invalid node name");
}

TEST_F(SlurmLinkTest, StartsANewHelperAfterSlurmWasAway) {
  ask("nodes");
  ask("away");
  ask("nodes");
  run();
  ASSERT_FALSE(answers_[1]);
  EXPECT_EQ(answers_[1].error().kind, logic::ErrorKind::retry);
  ASSERT_TRUE(answers_[2]);
  EXPECT_NE(answers_[0]->integer_or("pid"), answers_[2]->integer_or("pid"));
}

TEST_F(SlurmLinkTest, KillsAHelperThatIsLateAndGoesOnWithANewOne) {
  ask("hang", milliseconds{300});
  ask("nodes");
  run();
  ASSERT_FALSE(answers_[0]);
  EXPECT_EQ(answers_[0].error().kind, logic::ErrorKind::retry);
  EXPECT_NE(answers_[0].error().message.find("may have taken effect"), std::string::npos);
  EXPECT_TRUE(answers_[1]);
}

TEST_F(SlurmLinkTest, TellsARequestThatWasNeverAskedFromOneThatWas) {
  ask("hang", seconds{1});
  ask("nodes", milliseconds{200});
  run();
  ASSERT_EQ(order_[0], "nodes");
  ASSERT_FALSE(answers_[0]);
  EXPECT_NE(answers_[0].error().message.find("not asked within"), std::string::npos) << answers_[0].error().message;
}

TEST_F(SlurmLinkTest, SaysWhyAHelperEndedAndWaitsBeforeTheNextStart) {
  ask("die");
  ask("nodes");
  run();
  ASSERT_FALSE(answers_[0]);
  EXPECT_NE(answers_[0].error().message.find("ended with exit status 1: slurm_init: fatal: no such thing"),
            std::string::npos)
      << answers_[0].error().message;
  ASSERT_FALSE(answers_[1]);
  EXPECT_NE(answers_[1].error().message.find("next start in 1 s"), std::string::npos) << answers_[1].error().message;
}

TEST_F(SlurmLinkTest, RestartsAtOnceAHelperThatHadWorked) {
  ask("nodes");
  ask("die");
  ask("nodes");
  run();
  EXPECT_TRUE(answers_[0]);
  EXPECT_FALSE(answers_[1]);
  EXPECT_TRUE(answers_[2]);
}

TEST_F(SlurmLinkTest, TakesRubbishForAFailure) {
  ask("rubbish");
  run();
  ASSERT_FALSE(answers_[0]);
  EXPECT_NE(answers_[0].error().message.find("answered rubbish"), std::string::npos);
}

TEST_F(SlurmLinkTest, RefusesAnotherProtocol) {
  use_helper("echo '{\"hello\":\"muster-slurm\",\"protocol\":2}'; sleep 100");
  ask("nodes");
  run();
  ASSERT_FALSE(answers_[0]);
  EXPECT_NE(answers_[0].error().message.find("no greeting of protocol 1"), std::string::npos);
}

TEST_F(SlurmLinkTest, DoesNotWaitForAHelperThatNeverGreets) {
  use_helper("sleep 100");
  ask("nodes", milliseconds{200});
  run();
  ASSERT_FALSE(answers_[0]);
  EXPECT_NE(answers_[0].error().message.find("has not come up"), std::string::npos);
}

TEST_F(SlurmLinkTest, SaysThatTheHelperIsMissing) {
  link_ = SlurmLink::create(*loop_, {"/nonexistent/muster-slurm", ""});
  ask("nodes");
  run();
  ASSERT_FALSE(answers_[0]);
  EXPECT_EQ(answers_[0].error().message,
            "slurm nodes: cannot start /nonexistent/muster-slurm: No such file or directory");
}

TEST_F(SlurmLinkTest, MayBeDestroyedWithRequestsUnderWay) {
  ask("hang");
  ask("nodes");
  const auto later = loop_->after(milliseconds{300}, [this] {
    link_.reset();
    loop_->stop();
  });
  run();
  EXPECT_TRUE(answers_.empty());
}

TEST(SlurmRequest, WaitsForItsAnswer) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(replace_file(directory.file("helper"),
                           "#!/bin/sh\necho '{\"hello\":\"muster-slurm\",\"protocol\":1}'; read -r line; "
                           "echo '{\"id\":1,\"ok\":true,\"conf\":\"'$SLURM_CONF'\"}'; cat\n",
                           0755));
  const auto answer = slurm_request_and_wait({directory.file("helper"), "/some/slurm.conf"},
                                             Value::map({{"op", "config"}}), seconds{10});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->text_or("conf"), "/some/slurm.conf");
}

}  // namespace
}  // namespace muster::sys
