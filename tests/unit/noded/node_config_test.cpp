// SPDX-License-Identifier: GPL-2.0-or-later
#include "noded/node_config.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "sys/files.hpp"
#include "sys/yaml.hpp"

namespace muster::noded {
namespace {

using std::chrono::seconds;

logic::Result<NodeConfig> parse(const std::string& text) {
  const auto document = sys::parse_yaml(text, "noded.yaml");
  if (!document) return document.error();
  return parse_node_config(*document, "noded.yaml");
}

std::string source_folder() {
  const char* folder = std::getenv("top_srcdir");
  return folder ? folder : ".";
}

TEST(NodeConfig, NeedsNothingButAServer) {
  const auto config = parse("server: [http://head:6820, http://backup:6820]\n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->servers.size(), 2u);
  EXPECT_EQ(config->identity_sources, (std::vector<IdentitySource>{IdentitySource::file, IdentitySource::hostname}));
  EXPECT_EQ(config->device_patterns.at("gpu"), "/dev/nvidia[0-9]*");
  EXPECT_EQ(config->max_clock_skew, seconds{30});
  EXPECT_EQ(config->slurmd_program, "/usr/sbin/slurmd");
}

TEST(NodeConfig, TakesEveryKey) {
  const auto config = parse(
      "server: http://head:6820\n"
      "identity: {sources: [hostname], file: /tmp/id}\n"
      "node_name: gpu-17\n"
      "address: 192.0.2.17\n"
      "state_directory: /tmp/state\n"
      "run_directory: /tmp/run\n"
      "munge_socket: /tmp/munge\n"
      "poll_wait: 5 s\n"
      "max_clock_skew: 10 s\n"
      "check_interval: 1 s\n"
      "check_patience: 1 min\n"
      "device_pattern: {gpu: '/tmp/gpu[0-3]', nic: '/dev/infiniband/uverbs*'}\n"
      "slurmd: {program: /opt/slurmd, start: child, unit: my-slurmd.service, conf_server: 'head:6817',\n"
      "  arguments: [-f, /tmp/slurm.conf]}\n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->slurmd_by, SlurmdBy::child);
  EXPECT_EQ(config->device_patterns.at("gpu"), "/tmp/gpu[0-3]");
  EXPECT_EQ(config->slurmd_arguments, (std::vector<std::string>{"-f", "/tmp/slurm.conf"}));
  EXPECT_EQ(config->check_patience, seconds{60});
}

TEST(NodeConfig, SaysWhereAndWhatIsWrong) {
  struct Row {
    const char* text;
    const char* complaint;
  };
  const Row rows[] = {
      {"node_name: a\n", "server: expected one or more URLs"},
      {"server: head\n", "noded.yaml:1:9: noded: server: expected http://HOST:PORT"},
      {"server: http://\n", "found \"http://\""},
      {"server: http://h\nservr: x\n", "unknown key \"servr\"; did you mean \"server\"?"},
      {"server: http://h\npoll_wait: 2 min\n", "noded.yaml:2:12: noded: poll_wait: expected 1 s to 1 min, found 2 min"},
      {"server: http://h\npoll_wait: soon\n", "poll_wait: expected a duration"},
      {"server: http://h\nstate_directory: here\n", "expected an absolute path, found \"here\""},
      {"server: http://h\nidentity: {sources: [guess]}\n", "expected file or hostname, found \"guess\""},
      {"server: http://h\nslurmd: {start: cron}\n", "expected auto, systemd or child, found \"cron\""},
      {"server: http://h\nslurmd: {unit: slurmd}\n", "expected a name that ends in .service"},
      {"server: http://h\ndevice_pattern: {gpu: nvidia}\n", "gpu: expected an absolute path"},
      {"- a\n", "expected keys such as"},
  };
  for (const Row& row : rows) {
    const auto config = parse(row.text);
    ASSERT_FALSE(config) << row.text;
    EXPECT_NE(config.error().message.find(row.complaint), std::string::npos) << config.error().message;
  }
}

TEST(NodeConfig, ShippedExampleIsValid) {
  const auto text = sys::read_file(source_folder() + "/conf/noded.yaml");
  ASSERT_TRUE(text) << text.error().message;
  const auto config = parse(*text);
  EXPECT_TRUE(config) << config.error().message;
}

TEST(NodeConfig, ManPageShowsEveryKeyWithItsTypeAndDefault) {
  const auto page = sys::read_file(source_folder() + "/man/noded.yaml.5");
  ASSERT_TRUE(page) << page.error().message;
  for (const logic::KeyInfo& key : node_file_keys()) {
    const std::string title =
        key.section == "node" ? std::string(key.key) : std::string(key.section) + "." + std::string(key.key);
    const std::size_t at = page->find("\n.TP\n.B " + title + "\n");
    ASSERT_NE(at, std::string::npos) << title;
    const std::string entry = page->substr(at, page->find("\n.TP", at + 1) - at);
    EXPECT_NE(entry.find("(" + std::string(key.type)), std::string::npos) << title;
    // Folders follow configure; the page shows the usual ones.
    if (key.fallback.substr(0, 1) == "/") continue;
    EXPECT_NE(entry.find(key.fallback), std::string::npos) << title;
  }
}

}  // namespace
}  // namespace muster::noded
