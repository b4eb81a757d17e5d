// SPDX-License-Identifier: GPL-2.0-or-later
#include "runner/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace muster::runner {
namespace {

std::variant<Options, int> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "muster-run");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  auto parsed = parse_options(static_cast<int>(arguments.size()), arguments.data());
  testing::internal::GetCapturedStdout();
  testing::internal::GetCapturedStderr();
  return parsed;
}

Options must_parse(const std::vector<const char*>& arguments) {
  const auto parsed = parse(arguments);
  if (const int* code = std::get_if<int>(&parsed)) ADD_FAILURE() << "refused with exit code " << *code;
  const auto* options = std::get_if<Options>(&parsed);
  return options ? *options : Options{};
}

TEST(ParseOptions, TakesTheUsualTorchrunLineUnchanged) {
  const Options options =
      must_parse({"--nnodes", "4", "--nproc_per_node=8", "--rdzv_backend", "c10d", "--rdzv-endpoint", "gpu-1:29500",
                  "--rdzv-id=71", "train.py", "--lr", "3", "-m", "--nnodes"});
  EXPECT_EQ(options.place.nodes->high, 4);
  EXPECT_EQ(options.workers, "8");
  EXPECT_EQ(options.place.run_id, "71");
  EXPECT_EQ(options.command, (std::vector<std::string>{"train.py", "--lr", "3", "-m", "--nnodes"}))
      << "what follows the script is the script's";
  EXPECT_FALSE(options.is_module);
  EXPECT_TRUE(options.warnings.empty());
}

TEST(ParseOptions, ReadsTheEnvironmentThatTorchrunReads) {
  ::setenv("PET_NPROC_PER_NODE", "5", 1);
  const Options options = must_parse({"train.py"});
  ::unsetenv("PET_NPROC_PER_NODE");
  EXPECT_EQ(options.workers, "5");
}

TEST(ParseOptions, WarnsThatRestartsComeLater) {
  EXPECT_EQ(must_parse({"--max-restarts=3", "train.py"}).warnings.size(), 1U);
}

class ParseOptionsRefuses : public testing::TestWithParam<std::vector<const char*>> {};

TEST_P(ParseOptionsRefuses, WithAUsageError) {
  const auto parsed = parse(GetParam());
  ASSERT_TRUE(std::holds_alternative<int>(parsed));
  EXPECT_EQ(*std::get_if<int>(&parsed), 2);
}

using Line = std::vector<const char*>;
INSTANTIATE_TEST_SUITE_P(Lines, ParseOptionsRefuses,
                         testing::Values(Line{}, Line{"--bogus", "train.py"}, Line{"-m", "--no-python", "x"},
                                         Line{"--run-path", "train.py"}, Line{"--nnodes=x", "train.py"},
                                         Line{"--logs-specs=mine", "train.py"}, Line{"--redirects=3", "train.py"},
                                         Line{"--tee=9", "train.py"}, Line{"--master-port=70000", "train.py"}));

TEST(WorkerCommand, RunsPythonUnbuffered) {
  EXPECT_EQ(worker_command(must_parse({"train.py", "--rank=${local_rank}"}), "python3", 2),
            (std::vector<std::string>{"python3", "-u", "train.py", "--rank=2"}));
  EXPECT_EQ(worker_command(must_parse({"-m", "pkg.train", "x"}), "python3", 0),
            (std::vector<std::string>{"python3", "-u", "-m", "pkg.train", "x"}));
  EXPECT_EQ(worker_command(must_parse({"--no-python", "hostname"}), "python3", 0),
            (std::vector<std::string>{"hostname"}));
}

}  // namespace
}  // namespace muster::runner
