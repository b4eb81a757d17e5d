// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/doctor.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace muster::logic {
namespace {

/// A cluster in which nothing is wrong: two groups of three nodes, all records there.
struct World {
  World() {
    spec.name = "lab";
    spec.file_name = "cluster.yaml";
    for (const char* name : {"gpu", "cpu"}) {
      GroupSpec group;
      group.name = GroupName{name};
      group.partition = PartitionName{name};
      group.target_count = 3;
      group.node_prefix = std::string(name) + "-";
      if (group.name.str() == "gpu") group.gres = {{"gpu", "h100", 4}};
      for (int index = 1; index <= 3; ++index) {
        SeenNode node;
        node.partitions = name;
        nodes[group.node_name(index)] = node;
      }
      spec.groups.push_back(group);
      SlurmFacts::Partition partition;
      partition.name = group.partition;
      partition.nodes_spec = group.group_feature();
      partition.nodes = std::string(name) + "-[1-3]";
      partition.state = "UP";
      slurm.partitions.push_back(partition);
      slurm.node_sets.push_back(group.group_feature());
    }
    slurm.version = "24.11.5";
    slurm.helper_version = "24.11.5";
    slurm.max_node_count = 64;
    slurm.controller_hosts = {"head"};
    slurm.slurm_user_uid = 64030;
    slurm.gres_types = "gpu";
    slurm.return_to_service = 2;
    slurm.slurmctld_parameters = "enable_configless";
    slurm.select_type = "select/cons_tres";
    slurm.auth_type = "auth/munge";
    slurm.topology_plugin = "topology/flat";
    slurm.enforce_part_limits = "NO";
    slurm.reconfig_flags = {"KeepPartState"};
    slurm.slurmctld_timeout = 120;
    slurm.slurmd_timeout = 300;
    slurm.tree_width = 65533;
  }

  ConfigurationFacts facts() const {
    ConfigurationFacts facts;
    facts.running = slurm;
    facts.spec = &spec;
    facts.ledger = &ledger;
    facts.nodes = &nodes;
    facts.installed = installed;
    facts.topology_nodes = topology_nodes;
    facts.conf_server = conf_server;
    facts.musterd_uid = musterd_uid;
    return facts;
  }
  SlurmConfFile file() const {
    SlurmConfFile file;
    file.path = "/etc/slurm/slurm.conf";
    file.facts = slurm;
    file.facts.version.clear();
    return file;
  }

  ClusterSpec spec;
  Ledger ledger;
  SeenNodes nodes;
  SlurmFacts slurm;
  std::optional<SlurmVersion> installed;
  std::optional<std::set<NodeName>> topology_nodes;
  std::string conf_server = "auto";
  std::int64_t musterd_uid = 64030;
};

/// "OK MaxNodeCount: 64, ...", or "" where the rule had nothing to say.
Finding finding_of(const Findings& findings, const std::string& check) {
  for (const Finding& finding : findings) {
    if (finding.check == check) return finding;
  }
  return {"", Verdict::ok, "", "", ""};
}

TEST(Configuration, WithNothingWrongHasNothingToMend) {
  for (const Finding& finding : check_configuration(World().facts())) {
    EXPECT_EQ(finding.verdict, Verdict::ok) << finding.check << ": " << finding.found;
    EXPECT_EQ(finding.mend, "") << finding.check;
  }
}

struct Row {
  const char* what;
  std::function<void(World&)> spoil;
  const char* check;
  Verdict verdict;
  const char* found;  ///< a part of it
  const char* mend;   ///< a part of it
};

class Rule : public testing::TestWithParam<Row> {};

TEST_P(Rule, NamesWhatIsWrongAndHowToMendIt) {
  World world;
  GetParam().spoil(world);
  const Finding finding = finding_of(check_configuration(world.facts()), GetParam().check);
  EXPECT_EQ(finding.verdict, GetParam().verdict) << finding.found;
  EXPECT_NE(finding.found.find(GetParam().found), std::string::npos) << finding.found;
  EXPECT_NE(finding.mend.find(GetParam().mend), std::string::npos) << finding.mend;
}

void use_topology(World& world, const char* version) {
  world.slurm.version = world.slurm.helper_version = version;
  world.slurm.topology_plugin = "topology/tree";
}

INSTANTIATE_TEST_SUITE_P(
    Configuration, Rule,
    testing::Values(Row{"MaxNodeCountBelowTheRecords", [](World& world) { world.slurm.max_node_count = 5; },
                        "MaxNodeCount", Verdict::problem, "5 is too small for 6 nodes", "MaxNodeCount=14 or more"},
                    Row{"MaxNodeCountBelowTheTargets",
                        [](World& world) {
                          world.slurm.max_node_count = 10;
                          world.spec.groups[0].target_count = 8;
                        },
                        "MaxNodeCount", Verdict::problem,
                        "10 is too small for 11 nodes (6 there, 5 that muster has still to make)", "MaxNodeCount=19"},
                    Row{"MaxNodeCountWithoutRoom", [](World& world) { world.slurm.max_node_count = 6; }, "MaxNodeCount",
                        Verdict::warning, "6 has no room beyond 6 nodes", "restart slurmctld"},
                    Row{"ReturnToServiceOfOne", [](World& world) { world.slurm.return_to_service = 1; },
                        "ReturnToService", Verdict::problem, "stays DOWN", "ReturnToService=2"},
                    Row{"PartitionMissing", [](World& world) { world.slurm.partitions.pop_back(); }, "partition cpu",
                        Verdict::problem, "group cpu wants it", "muster slurm-conf cluster.yaml"},
                    Row{"PartitionWithoutTheNodes",
                        [](World& world) { world.nodes[NodeName{"gpu-2"}].partitions = "all"; }, "partition gpu",
                        Verdict::problem, "does not take in gpu-2 of group gpu", "add muster_gpu to its Nodes="},
                    Row{"PartitionOfAnotherNodeSet",
                        [](World& world) {
                          world.nodes.clear();
                          world.slurm.partitions[0].nodes_spec = "old";
                        },
                        "partition gpu", Verdict::problem, "does not take in the nodes of group gpu", "muster_gpu"},
                    Row{"PartitionWithNamesOfNodes",
                        [](World& world) {
                          world.slurm.partitions[0].nodes_spec = "";
                          world.slurm.partitions[0].nodes = "gpu-[1-3]";
                        },
                        "partition gpu", Verdict::problem, "lists gpu-[1-3] by name", "NodeSet"},
                    Row{"PartitionDown", [](World& world) { world.slurm.partitions[0].state = "DOWN"; }, "state of gpu",
                        Verdict::warning, "none starts", "state=UP"},
                    Row{"PartitionInactive", [](World& world) { world.slurm.partitions[0].state = "INACTIVE"; },
                        "state of gpu", Verdict::warning, "jobs are refused", "state=UP"},
                    Row{"PartitionStateThatIsLost",
                        [](World& world) {
                          world.slurm.partitions[0].state = "DOWN";
                          world.slurm.reconfig_flags.clear();
                        },
                        "ReconfigFlags", Verdict::warning, "gpu is DOWN only until", "ReconfigFlags=KeepPartState"},
                    Row{"NodeSetMissing",
                        [](World& world) {
                          world.slurm.node_sets.pop_back();
                          world.nodes.clear();
                        },
                        "NodeSet", Verdict::problem, "no muster_cpu", "muster slurm-conf"},
                    Row{"NodeSetNamedAsANode", [](World& world) { world.slurm.node_sets.push_back("gpu-2"); },
                        "NodeSet", Verdict::problem, "named gpu-2 as a node", "rename the NodeSet"},
                    Row{"GresTypesMissing", [](World& world) { world.slurm.gres_types = "shard"; }, "GresTypes",
                        Verdict::problem, "it lacks gpu", "GresTypes=shard,gpu"},
                    Row{"SelectTypeLinear", [](World& world) { world.slurm.select_type = "select/linear"; },
                        "SelectType", Verdict::problem, "select/linear", "select/cons_tres"},
                    Row{"EnforcePartLimitsAll", [](World& world) { world.slurm.enforce_part_limits = "ALL"; },
                        "EnforcePartLimits", Verdict::warning, "several partitions", "ANY or NO"},
                    Row{"PowerSaving",
                        [](World& world) {
                          world.slurm.suspend_program = "/bin/off";
                          world.slurm.suspend_time = 600;
                          world.slurm.partitions[1].is_never_suspended = true;
                        },
                        "SuspendTime", Verdict::problem, "idle nodes of partition gpu,", "SuspendTime=INFINITE"},
                    Row{"PowerSavingOfAPartition",
                        [](World& world) {
                          world.slurm.suspend_program = "/bin/off";
                          world.slurm.partitions[1].suspend_time = 60;
                        },
                        "SuspendTime", Verdict::problem, "partition cpu", "SuspendTime=INFINITE"},
                    Row{"TopologyOnOldSlurm", [](World& world) { use_topology(world, "22.05.8"); }, "TopologyPlugin",
                        Verdict::problem, "never starts a job on a dynamic node", "TopologyPlugin=topology/none"},
                    Row{"TopologyWithoutTheNodes",
                        [](World& world) {
                          use_topology(world, "24.11.5");
                          world.topology_nodes = {NodeName{"gpu-1"}, NodeName{"cpu-1"}};
                        },
                        "TopologyPlugin", Verdict::problem, "does not list cpu-[2-3],gpu-[2-3]",
                        "add them to a switch"},
                    Row{"TopologyOfAGroupThatSlurmDoesNotTake",
                        [](World& world) {
                          use_topology(world, "24.11.5");
                          world.topology_nodes.emplace();
                          world.spec.groups[0].topology = "default:rack7";
                        },
                        "TopologyPlugin", Verdict::problem, "does not list cpu-[1-3],gpu-[1-3]",
                        "Slurm takes group gpu's topology: from 25.05 on only"},
                    Row{"TopologyThatOneGroupSays",
                        [](World& world) {
                          use_topology(world, "26.05.5");
                          world.topology_nodes.emplace();
                          world.spec.groups[0].topology = "default:rack7";
                        },
                        "TopologyPlugin", Verdict::problem, "does not list cpu-[1-3],", "topology=TOPOLOGY:UNIT"},
                    Row{"TopologyUnreadable", [](World& world) { use_topology(world, "26.05.5"); }, "TopologyPlugin",
                        Verdict::unknown, "could not be read", "topology=TOPOLOGY:UNIT"},
                    Row{"NoConfiglessServer", [](World& world) { world.slurm.slurmctld_parameters.clear(); },
                        "configless", Verdict::warning, "no slurm.conf", "enable_configless"},
                    Row{"AnotherAuthType", [](World& world) { world.slurm.auth_type = "auth/slurm"; }, "AuthType",
                        Verdict::warning, "MUNGE", "munged"},
                    Row{"SlurmdTimeoutOff", [](World& world) { world.slurm.slurmd_timeout = 0; }, "SlurmdTimeout",
                        Verdict::warning, "never takes a dead node for one", "SlurmdTimeout"},
                    Row{"SlurmdTimeoutShort", [](World& world) { world.slurm.slurmd_timeout = 10; }, "SlurmdTimeout",
                        Verdict::warning, "only busy", "SlurmdTimeout"},
                    Row{"SlurmdTimeoutLong", [](World& world) { world.slurm.slurmd_timeout = 3600; }, "SlurmdTimeout",
                        Verdict::warning, "3600 s", "SlurmdTimeout"},
                    Row{"SlurmctldTimeoutShort",
                        [](World& world) {
                          world.slurm.controller_hosts = {"head", "head2"};
                          world.slurm.slurmctld_timeout = 5;
                        },
                        "SlurmctldTimeout", Verdict::warning, "too short", "SlurmctldTimeout"},
                    Row{"TreeWidthBelowTheNodes", [](World& world) { world.slurm.tree_width = 4; }, "TreeWidth",
                        Verdict::warning, "4 for 6 nodes", "TreeWidth=65533"},
                    Row{"HelperOlder", [](World& world) { world.slurm.helper_version = "23.11.1"; }, "Slurm version",
                        Verdict::warning, "built for 23.11.1", "against Slurm 24.11.5"},
                    Row{"HelperNewer", [](World& world) { world.slurm.helper_version = "25.05.1"; }, "Slurm version",
                        Verdict::problem, "newer library", "against Slurm 24.11.5"},
                    Row{"SlurmctldReplacedOnDisk",
                        [](World& world) {
                          world.installed = SlurmVersion{24, 11, 6};
                        },
                        "slurmctld program", Verdict::warning, "on disk is 24.11.6", "restart slurmctld"},
                    Row{"SlurmdNewer", [](World& world) { world.nodes[NodeName{"gpu-3"}].version = "25.05.0"; },
                        "slurmd version", Verdict::problem, "25.05.0 on gpu-3 is newer than slurmctld", "image"},
                    Row{"MusterdOfAnotherUser", [](World& world) { world.musterd_uid = 1000; }, "SlurmUser",
                        Verdict::problem, "musterd runs as uid 1000", "User="}),
    [](const auto& row) { return row.param.what; });

struct FineRow {
  const char* what;
  std::function<void(World&)> change;
  const char* check;
};

class GoodEnough : public testing::TestWithParam<FineRow> {};

TEST_P(GoodEnough, IsNotComplainedOf) {
  World world;
  GetParam().change(world);
  const Finding finding = finding_of(check_configuration(world.facts()), GetParam().check);
  EXPECT_EQ(finding.check, GetParam().check);
  EXPECT_EQ(finding.verdict, Verdict::ok) << finding.found;
}

INSTANTIATE_TEST_SUITE_P(
    Configuration, GoodEnough,
    testing::Values(FineRow{"PartitionOverAllNodesOf2205",
                            [](World& world) {
                              // 22.05 tells no NodeSet of Nodes=ALL.
                              world.slurm.partitions[0].nodes_spec = "";
                              world.slurm.partitions[0].nodes = "cpu-[1-3],gpu-[1-3]";
                            },
                            "partition gpu"},
                    FineRow{"NodeSetNotNeededWherePartitionTakesAll",
                            [](World& world) {
                              world.slurm.partitions[1].nodes_spec = "ALL";
                              world.slurm.node_sets.pop_back();
                            },
                            "NodeSet"},
                    FineRow{"PowerSavingThatLeavesOurPartitionsAlone",
                            [](World& world) {
                              world.slurm.suspend_program = "/bin/off";
                              world.slurm.suspend_time = 600;
                              world.slurm.suspend_exc_parts = "gpu,cpu";
                            },
                            "SuspendTime"},
                    FineRow{"TopologyThatTheGroupsSay",
                            [](World& world) {
                              use_topology(world, "26.05.5");
                              for (GroupSpec& group : world.spec.groups) group.topology = "default:rack7";
                            },
                            "TopologyPlugin"},
                    FineRow{"TopologyThatListsTheNodes",
                            [](World& world) {
                              use_topology(world, "24.11.5");
                              world.topology_nodes.emplace();
                              for (const auto& [name, node] : world.nodes) world.topology_nodes->insert(name);
                            },
                            "TopologyPlugin"},
                    FineRow{"NodesWithTheirOwnSlurmConf",
                            [](World& world) {
                              world.conf_server = "none";
                              world.slurm.slurmctld_parameters.clear();
                            },
                            "configless"},
                    FineRow{"MusterdAsRoot", [](World& world) { world.musterd_uid = 0; }, "SlurmUser"},
                    FineRow{"EnforcePartLimitsAny", [](World& world) { world.slurm.enforce_part_limits = "ANY"; },
                            "EnforcePartLimits"},
                    FineRow{"NoKeepPartStateWhileAllAreUp", [](World& world) { world.slurm.reconfig_flags.clear(); },
                            "ReconfigFlags"},
                    FineRow{"SlurmdOlderThanSlurmctld",
                            [](World& world) { world.nodes[NodeName{"gpu-1"}].version = "23.11.4"; }, "Slurm version"}),
    [](const auto& row) { return row.param.what; });

TEST(Configuration, CountsSlotsOfTheLedgerThatAreAboveTheTarget) {
  World world;
  world.slurm.max_node_count = 6;
  GroupRecord record;
  record.name = GroupName{"gpu"};
  record.slots.resize(1);
  record.slots[0].name = NodeName{"gpu-7"};
  world.ledger.groups[record.name] = record;
  EXPECT_EQ(finding_of(check_configuration(world.facts()), "MaxNodeCount").verdict, Verdict::problem);
}

TEST(Configuration, DoesNotGuessHowManyNodesThereAre) {
  World world;
  ConfigurationFacts facts = world.facts();
  facts.nodes = nullptr;
  EXPECT_EQ(finding_of(check_configuration(facts), "MaxNodeCount").verdict, Verdict::unknown);
}

TEST(Configuration, OfTheFileIsJudgedWhereSlurmctldIsDown) {
  World world;
  ConfigurationFacts facts = world.facts();
  facts.running.reset();
  facts.nodes = nullptr;
  facts.file = world.file();
  facts.file->facts.return_to_service = 0;
  facts.file->facts.partitions[0].nodes_spec = "gpu-[1-2]";
  const Findings findings = check_configuration(facts);
  EXPECT_EQ(finding_of(findings, "ReturnToService").verdict, Verdict::problem);
  const Finding partition = finding_of(findings, "partition gpu");
  EXPECT_EQ(partition.verdict, Verdict::problem);
  EXPECT_NE(partition.found.find("it lists gpu-[1-2] by name: slurmctld does not start"), std::string::npos);
}

TEST(Configuration, ThatIsMendedInTheFileOnlyAsksForARestart) {
  World world;
  ConfigurationFacts facts = world.facts();
  facts.file = world.file();
  facts.running->return_to_service = 0;
  const Finding finding = finding_of(check_configuration(facts), "ReturnToService");
  EXPECT_EQ(finding.verdict, Verdict::problem);
  EXPECT_EQ(finding.mend, "/etc/slurm/slurm.conf is right already: restart slurmctld");
}

TEST(Configuration, ThatIsSpoiltInTheFileIsToldBeforeTheNextStart) {
  World world;
  ConfigurationFacts facts = world.facts();
  facts.file = world.file();
  facts.file->facts.partitions[0].nodes_spec = "muster_gpu,gpu-2";
  const Finding finding = finding_of(check_configuration(facts), "partition gpu");
  EXPECT_EQ(finding.verdict, Verdict::problem);
  EXPECT_EQ(finding.found.rfind("fine now, but /etc/slurm/slurm.conf says for the next start: it lists gpu-2", 0), 0u)
      << finding.found;
}

TEST(Configuration, ThatTheFileMakesWorseIsToldAsTheWorse) {
  World world;
  world.slurm.max_node_count = 6;
  ConfigurationFacts facts = world.facts();
  facts.file = world.file();
  facts.file->facts.max_node_count = 5;
  const Finding finding = finding_of(check_configuration(facts), "MaxNodeCount");
  EXPECT_EQ(finding.verdict, Verdict::problem);
  EXPECT_EQ(finding.found.rfind("/etc/slurm/slurm.conf says for the next start: 5 is too small", 0), 0u)
      << finding.found;
}

TEST(Configuration, NamesNodesOfPartitionsThatNoGroupUsesToo) {
  World world;
  ConfigurationFacts facts = world.facts();
  facts.file = world.file();
  SlurmFacts::Partition other;
  other.name = PartitionName{"debug"};
  other.nodes_spec = "login1,gpu-1";
  other.state = "UP";
  facts.file->nodes.insert(NodeName{"login1"});
  facts.file->facts.partitions.push_back(other);
  const Finding finding = finding_of(check_configuration(facts), "partition debug");
  EXPECT_EQ(finding.verdict, Verdict::problem);
  EXPECT_NE(finding.found.find("it lists gpu-1 by name"), std::string::npos) << finding.found;
}

TEST(Configuration, WhoseFileIsSilentIsNotGuessedAt) {
  World world;
  ConfigurationFacts facts = world.facts();
  facts.file = world.file();
  facts.file->facts.tree_width.reset();
  facts.file->facts.select_type.clear();
  for (const Finding& finding : check_configuration(facts)) {
    EXPECT_EQ(finding.verdict, Verdict::ok) << finding.check << ": " << finding.found;
  }
}

// ---- Plugins ----

constexpr std::uint32_t number(int major, int minor, int micro) {
  return static_cast<std::uint32_t>(major << 16 | minor << 8 | micro);
}

JobSubmitFacts good_module() {
  JobSubmitFacts facts;
  facts.job_submit_plugins = "lua,muster";
  facts.plugin_dir = "/usr/lib/slurm";
  facts.file.path = "/usr/lib/slurm/job_submit_muster.so";
  facts.file.number = number(24, 11, 5);
  facts.running = facts.installed = SlurmVersion{24, 11, 5};
  return facts;
}

TEST(JobSubmitModule, OfTheSameVersionIsFine) {
  const Finding finding = check_job_submit(good_module());
  EXPECT_EQ(finding.verdict, Verdict::ok);
  EXPECT_EQ(finding.found, "built for Slurm 24.11.5: /usr/lib/slurm/job_submit_muster.so");
}

TEST(JobSubmitModule, OfAnotherMicroVersionKeepsSlurmctldFromStarting) {
  JobSubmitFacts facts = good_module();
  facts.file.number = number(24, 11, 4);
  const Finding finding = check_job_submit(facts);
  EXPECT_EQ(finding.verdict, Verdict::problem);
  EXPECT_EQ(
      finding.found,
      "/usr/lib/slurm/job_submit_muster.so was built for Slurm 24.11.4 and slurmctld is 24.11.5: it does not start "
      "again with this module");
  EXPECT_NE(finding.mend.find("build muster against Slurm 24.11.5"), std::string::npos);
}

TEST(JobSubmitModule, HasToFitTheSlurmctldThatIsStartedNext) {
  JobSubmitFacts facts = good_module();
  facts.installed = SlurmVersion{24, 11, 6};
  const Finding finding = check_job_submit(facts);
  EXPECT_EQ(finding.verdict, Verdict::problem);
  EXPECT_NE(finding.found.find("slurmctld on disk is 24.11.6"), std::string::npos) << finding.found;
}

TEST(JobSubmitModule, ThatIsMissingOrDamagedIsAProblem) {
  JobSubmitFacts facts = good_module();
  facts.file = {};
  EXPECT_EQ(check_job_submit(facts).verdict, Verdict::problem);
  facts.file.path = "/usr/lib/slurm/job_submit_muster.so";
  facts.file.trouble = "not a shared object";
  EXPECT_EQ(check_job_submit(facts).verdict, Verdict::problem);
}

TEST(JobSubmitModule, ThatIsNotListedIsAWarning) {
  JobSubmitFacts facts = good_module();
  facts.job_submit_plugins = "lua";
  const Finding finding = check_job_submit(facts);
  EXPECT_EQ(finding.verdict, Verdict::warning);
  EXPECT_NE(finding.mend.find("JobSubmitPlugins=lua,muster"), std::string::npos);
}

TEST(JobSubmitModule, IsUnknownWhereNoSlurmctldTellsItsVersion) {
  JobSubmitFacts facts = good_module();
  facts.running = facts.installed = std::nullopt;
  EXPECT_EQ(check_job_submit(facts).verdict, Verdict::unknown);
}

SpankFacts good_spank() {
  SpankFacts facts;
  facts.plugstack = "/etc/slurm/plugstack.conf";
  facts.is_listed = true;
  facts.listed_as = facts.file.path = "/usr/lib/slurm/spank_muster.so";
  facts.file.number = number(24, 11, 1);
  facts.slurm = SlurmVersion{24, 11, 5};
  return facts;
}

TEST(SpankModule, OfTheSameReleaseIsFine) { EXPECT_EQ(check_spank(good_spank()).verdict, Verdict::ok); }

TEST(SpankModule, OfAnotherReleaseBreaksSubmissionWhereItIsRequired) {
  SpankFacts facts = good_spank();
  facts.file.number = number(23, 11, 5);
  EXPECT_EQ(check_spank(facts).verdict, Verdict::warning);
  facts.is_required = true;
  const Finding finding = check_spank(facts);
  EXPECT_EQ(finding.verdict, Verdict::problem);
  EXPECT_NE(finding.found.find("no sbatch, salloc or srun works here"), std::string::npos) << finding.found;
}

TEST(SpankModule, ThatIsNotListedOrNotThereIsAWarning) {
  SpankFacts facts = good_spank();
  facts.is_listed = false;
  EXPECT_EQ(check_spank(facts).verdict, Verdict::warning);
  facts = good_spank();
  facts.file = {};
  EXPECT_EQ(check_spank(facts).verdict, Verdict::warning);
}

// ---- musterd's host ----

HeadFacts good_head() {
  HeadFacts facts;
  facts.host = "head.example";
  facts.controller_hosts = {"head"};
  facts.has_cluster = true;
  facts.state_directory = {"/var/lib/muster", FileState::Kind::directory, "", 0750, false};
  facts.state_file_system = {true, false, std::int64_t{50} << 30, 1000000};
  facts.gate_table = {"/run/muster/gate-table", FileState::Kind::file, "", 0644, true};
  facts.plugins_gate_table = "/run/muster/gate-table";
  facts.socket = {"/run/muster/musterd.sock", FileState::Kind::socket, "", 0666, true};
  facts.providers = {{"cloud", "/usr/libexec/cloud", "", ""}};
  return facts;
}

struct HeadRow {
  const char* what;
  std::function<void(HeadFacts&)> spoil;
  const char* check;
  Verdict verdict;
  const char* found;
};

class HeadRule : public testing::TestWithParam<HeadRow> {};

TEST_P(HeadRule, NamesWhatIsWrongAndHowToMendIt) {
  HeadFacts facts = good_head();
  GetParam().spoil(facts);
  const Finding finding = finding_of(check_head(facts), GetParam().check);
  EXPECT_EQ(finding.verdict, GetParam().verdict) << finding.found;
  EXPECT_NE(finding.found.find(GetParam().found), std::string::npos) << finding.found;
  EXPECT_NE(finding.mend, "");
  EXPECT_EQ(finding.host, "head.example");
}

INSTANTIATE_TEST_SUITE_P(
    Head, HeadRule,
    testing::Values(HeadRow{"NoCluster", [](HeadFacts& facts) { facts.has_cluster = false; }, "cluster file",
                            Verdict::warning, "none was applied"},
                    HeadRow{"LedgerTrouble", [](HeadFacts& facts) { facts.ledger_trouble = "disk I/O error"; },
                            "ledger", Verdict::problem, "disk I/O error"},
                    HeadRow{"ReadOnly",
                            [](HeadFacts& facts) {
                              facts.write_trouble = "cannot make a file";
                              facts.state_file_system.is_read_only = true;
                            },
                            "state directory", Verdict::problem, "read-only"},
                    HeadRow{"Full",
                            [](HeadFacts& facts) {
                              facts.write_trouble = "No space left on device";
                              facts.state_file_system.free_bytes = 0;
                            },
                            "state directory", Verdict::problem, "is full"},
                    HeadRow{"NearlyFull", [](HeadFacts& facts) { facts.state_file_system.free_bytes = 1 << 20; },
                            "state directory", Verdict::warning, "1 MiB"},
                    HeadRow{"WritableByOthers", [](HeadFacts& facts) { facts.state_directory.mode = 0777; },
                            "state directory", Verdict::problem, "may be written by others (mode 0777)"},
                    HeadRow{"NoGateTable", [](HeadFacts& facts) { facts.gate_table.kind = FileState::Kind::absent; },
                            "gate table", Verdict::problem, "is not there"},
                    HeadRow{"OldGateTable", [](HeadFacts& facts) { facts.gate_table_age = std::chrono::minutes{7}; },
                            "gate table", Verdict::problem, "7 min"},
                    HeadRow{"HiddenGateTable", [](HeadFacts& facts) { facts.gate_table.is_public = false; },
                            "gate table", Verdict::problem, "cannot be read by everybody"},
                    HeadRow{"MovedGateTable", [](HeadFacts& facts) { facts.gate_table.path = "/srv/table"; },
                            "gate table", Verdict::warning, "is not where job_submit/muster looks"},
                    HeadRow{"NoSocket", [](HeadFacts& facts) { facts.socket.kind = FileState::Kind::absent; }, "socket",
                            Verdict::problem, "is gone"},
                    HeadRow{"PrivateSocket", [](HeadFacts& facts) { facts.socket.mode = 0600; }, "socket",
                            Verdict::warning, "mode 0600"},
                    HeadRow{"AnotherHost",
                            [](HeadFacts& facts) {
                              facts.controller_hosts = {"ctl1", "ctl2"};
                            },
                            "SlurmctldHost", Verdict::problem,
                            "slurm.conf has ctl1, ctl2, and musterd's host is named head.example"},
                    HeadRow{"NoProgram",
                            [](HeadFacts& facts) { facts.providers[0].trouble = "nothing at /usr/libexec/cloud"; },
                            "provider cloud", Verdict::problem, "nothing at /usr/libexec/cloud"},
                    HeadRow{"FailingList",
                            [](HeadFacts& facts) { facts.providers[0].list_trouble = "list: exit status 1"; },
                            "provider cloud", Verdict::warning, "exit status 1"}),
    [](const auto& row) { return row.param.what; });

TEST(Head, WithNothingWrongHasNothingToMend) {
  for (const Finding& finding : check_head(good_head())) {
    EXPECT_EQ(finding.verdict, Verdict::ok) << finding.check << ": " << finding.found;
  }
}

TEST(Head, WithoutAClusterNeedsNoGateTable) {
  HeadFacts facts = good_head();
  facts.has_cluster = false;
  facts.gate_table.kind = FileState::Kind::absent;
  EXPECT_EQ(finding_of(check_head(facts), "gate table").verdict, Verdict::ok);
}

// ---- Any host ----

TEST(Host, WithNothingWrongHasNothingToMend) {
  HostFacts facts;
  facts.clock_lead = std::chrono::milliseconds{-900};
  facts.controllers = {{"head", {"10.0.0.1", "fd00::1"}, ""}};
  const Findings findings = check_host(facts);
  for (const Finding& finding : findings) EXPECT_EQ(finding.verdict, Verdict::ok) << finding.found;
  EXPECT_EQ(finding_of(findings, "head's name").found, "head is 10.0.0.1, fd00::1");
}

TEST(Host, WithoutMungeCanDoNothing) {
  HostFacts facts;
  facts.munge_trouble = "munged does not answer";
  const Finding finding = finding_of(check_host(facts), "munge");
  EXPECT_EQ(finding.verdict, Verdict::problem);
  EXPECT_NE(finding.mend.find("systemctl restart munge"), std::string::npos);
}

TEST(Host, WhoseClockIsWrongIsTold) {
  HostFacts facts;
  facts.clock_lead = std::chrono::seconds{400};
  EXPECT_EQ(finding_of(check_host(facts), "clock").verdict, Verdict::problem);
  facts.clock_lead = std::chrono::seconds{-40};
  const Finding finding = finding_of(check_host(facts), "clock");
  EXPECT_EQ(finding.verdict, Verdict::warning);
  EXPECT_EQ(finding.found.rfind("40 s behind musterd's", 0), 0u) << finding.found;
}

TEST(Host, ThatCannotResolveTheHeadIsTold) {
  HostFacts facts;
  facts.controllers = {{"head", {}, "Name or service not known"}};
  const Finding finding = finding_of(check_host(facts), "head's name");
  EXPECT_EQ(finding.verdict, Verdict::problem);
  EXPECT_NE(finding.found.find("head (SlurmctldHost) does not resolve here"), std::string::npos) << finding.found;
}

// ---- What carries them ----

TEST(Findings, SurviveTheWayToTheCommandAndStandWorstFirst) {
  Findings findings{{"a", Verdict::ok, "fine", "", ""},
                    {"b", Verdict::problem, "broken", "mend it", "head"},
                    {"c", Verdict::warning, "odd", "look", ""},
                    {"d", Verdict::unknown, "?", "", ""},
                    {"e", Verdict::problem, "worse", "", ""}};
  sort_findings(findings);
  const Findings read = read_findings(findings_value(findings));
  ASSERT_EQ(read.size(), 5u);
  std::string order;
  for (const Finding& finding : read) order += finding.check;
  EXPECT_EQ(order, "becda");
  EXPECT_EQ(read[0].verdict, Verdict::problem);
  EXPECT_EQ(read[0].mend, "mend it");
  EXPECT_EQ(read[0].host, "head");
}

TEST(SlurmVersions, AreFoundInWhatProgramsSay) {
  EXPECT_EQ(find_slurm_version("slurm-wlm 22.05.8\n")->text(), "22.05.8");
  EXPECT_EQ(find_slurm_version("slurm 26.05.0-0rc1")->text(), "26.05.0");
  EXPECT_EQ(find_slurm_version("slurm 25.11.10")->release(), 2511);
  EXPECT_FALSE(find_slurm_version("command not found"));
  EXPECT_FALSE(find_slurm_version("slurm 22"));
  EXPECT_EQ(slurm_version_of(number(22, 5, 8)).text(), "22.05.8");
}

}  // namespace
}  // namespace muster::logic
