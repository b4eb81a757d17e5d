// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/head_role.hpp"

#include <gtest/gtest.h>

namespace muster::logic {
namespace {

const Controller first_up{"head", "10.0.0.1", true};
const Controller first_down{"head", "10.0.0.1", false};
const Controller second_up{"head2", "10.0.0.2", true};
const Controller second_down{"head2", "10.0.0.2", false};
// The helper asks no further than to the first that answers.
const Controller second_not_asked = second_down;

RoleFacts facts_of(std::vector<Controller> controllers, const std::string& host, bool slurm_was_read = true) {
  RoleFacts facts;
  facts.controllers = std::move(controllers);
  facts.self.name = host;
  facts.slurm_was_read = slurm_was_read;
  facts.now = time_from_milliseconds(1'000'000);
  return facts;
}

Duty duty_of(const RoleFacts& facts) { return decide_duty(facts).duty; }

TEST(HeadRole, ASingleControllersMusterdActsWhateverItsHostIsCalled) {
  EXPECT_EQ(duty_of(facts_of({first_down}, "elsewhere", false)), Duty::act);
}

TEST(HeadRole, TheOneBesideThePrimaryActs) {
  EXPECT_EQ(duty_of(facts_of({first_up, second_not_asked}, "head")), Duty::act);
  EXPECT_EQ(duty_of(facts_of({first_up, second_not_asked}, "head2")), Duty::stand_by);
}

TEST(HeadRole, TheOneBesideTheBackupActsWhenThatIsInControl) {
  EXPECT_EQ(duty_of(facts_of({first_down, second_up}, "head")), Duty::stand_by);
  EXPECT_EQ(duty_of(facts_of({first_down, second_up}, "head2")), Duty::act);
  EXPECT_EQ(decide_duty(facts_of({first_down, second_up}, "head")).acting_host, "head2");
}

TEST(HeadRole, ABackupThatAnswersButIsNotYetInControlChangesNothing) {
  for (const char* host : {"head", "head2"}) {
    const DutyDecision decision = decide_duty(facts_of({first_down, second_up}, host, false));
    EXPECT_EQ(decision.duty, Duty::unchanged);
    EXPECT_EQ(decision.trouble, "no slurmctld is in control (head, head2)");
  }
}

TEST(HeadRole, NobodyAnsweringChangesNothing) {
  EXPECT_EQ(duty_of(facts_of({first_down, second_down}, "head", false)), Duty::unchanged);
  // Read by luck between two pings.
  EXPECT_EQ(duty_of(facts_of({first_down, second_down}, "head2", true)), Duty::unchanged);
}

TEST(HeadRole, ControllersThatAreNotKnownChangeNothing) { EXPECT_EQ(duty_of(facts_of({}, "head")), Duty::unchanged); }

TEST(HeadRole, AHostThatIsNoControllerStandsByAndSaysWhy) {
  const DutyDecision decision = decide_duty(facts_of({first_up, second_not_asked}, "login1"));
  EXPECT_EQ(decision.duty, Duty::stand_by);
  EXPECT_EQ(decision.trouble, "expected this host, login1, to be one of slurm.conf's SlurmctldHost, found head, head2");
}

struct NameRow {
  const char* title;
  const char* configured;
  const char* address;
  const char* own_name;
  const char* own_address;
  bool is_same;
};

class HeadNames : public testing::TestWithParam<NameRow> {};

TEST_P(HeadNames, AreRecognizedByNameOrByAddress) {
  const NameRow& row = GetParam();
  RoleFacts facts = facts_of({{row.configured, row.address, true}, {"other", "other", false}}, row.own_name);
  // As its own second controller it would be recognized there; only the first is asked about.
  facts.self.addresses = {row.own_address};
  EXPECT_EQ(duty_of(facts), row.is_same ? Duty::act : Duty::stand_by);
}

INSTANTIATE_TEST_SUITE_P(
    All, HeadNames,
    testing::Values(NameRow{"SameShortName", "head", "head", "head", "10.0.0.1", true},
                    NameRow{"ConfiguredShort", "head", "head", "head.site.org", "10.0.0.1", true},
                    NameRow{"ConfiguredLong", "head.site.org", "head.site.org", "head", "10.0.0.1", true},
                    NameRow{"SameLongName", "head.site.org", "head.site.org", "head.site.org", "10.0.0.1", true},
                    NameRow{"OtherDomain", "head.a.org", "head.a.org", "head.b.org", "10.0.0.1", false},
                    NameRow{"OtherCase", "Head", "Head", "head", "10.0.0.1", true},
                    NameRow{"OwnAddress", "ctl", "10.0.0.1", "node17", "10.0.0.1", true},
                    NameRow{"AddressIsAName", "ctl", "node17", "node17", "10.0.0.1", true},
                    NameRow{"AddressAsHost", "10.0.0.1", "10.0.0.1", "node17", "10.0.0.1", true},
                    NameRow{"BeginsAlike", "head", "10.0.0.9", "head2", "10.0.0.1", false},
                    NameRow{"OtherAddress", "ctl", "10.0.0.9", "node17", "10.0.0.1", false}),
    [](const testing::TestParamInfo<NameRow>& row) { return std::string(row.param.title); });

TEST(HeadRole, OneThatLostTheLedgerRestsBeforeItTakesItBack) {
  RoleFacts facts = facts_of({first_up, second_not_asked}, "head");
  facts.lost_at = facts.now - std::chrono::seconds{9};
  EXPECT_EQ(duty_of(facts), Duty::unchanged);
  facts.lost_at = facts.now - std::chrono::seconds{10};
  EXPECT_EQ(duty_of(facts), Duty::act);
}

TEST(HeadRole, ABackupThatLostTheLedgerToThePrimaryWaitsUntilItHasSeenThatOneAnswer) {
  RoleFacts facts = facts_of({first_down, second_up}, "head2");
  facts.lost_at = facts.now - std::chrono::hours{1};
  facts.lost_to = "head";
  EXPECT_EQ(duty_of(facts), Duty::unchanged) << "it is cut off, with a slurmctld that does not know it";
  facts.controllers[0].answers = true;
  EXPECT_EQ(duty_of(facts), Duty::stand_by);
  facts.controllers[0].answers = false;
  facts.lost_to.clear();  // what was lost before then is of no account any more
  EXPECT_EQ(duty_of(facts), Duty::act);
}

TEST(HeadRole, APrimaryTakesBackWhatItLostToTheBackup) {
  RoleFacts facts = facts_of({first_up, second_not_asked}, "head");
  facts.lost_at = facts.now - std::chrono::hours{1};
  facts.lost_to = "head2";
  EXPECT_EQ(duty_of(facts), Duty::act);
}

TEST(HeadRole, SaysWhoActs) {
  HeadRole role;
  role.host = "head2";
  EXPECT_EQ(role_name(role), "starting");
  EXPECT_EQ(standby_text(role), "musterd on head2 has just started and does not know yet whether it acts");
  role.is_known = true;
  role.acting_host = "head";
  EXPECT_EQ(role_name(role), "standby");
  EXPECT_EQ(standby_text(role), "musterd on head2 is on standby; musterd on head acts");
  role.trouble = "no slurmctld is in control (head, head2)";
  EXPECT_EQ(standby_text(role), "musterd on head2 is on standby: no slurmctld is in control (head, head2)");
  role.acts = true;
  EXPECT_EQ(role_name(role), "acting");
  EXPECT_EQ(standby_text(role), "");
}

}  // namespace
}  // namespace muster::logic
