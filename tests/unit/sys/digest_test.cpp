// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/digest.hpp"

#include <gtest/gtest.h>

namespace muster::sys {
namespace {

TEST(Digest, IsSha256InHex) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Digest, MakesUuidsOfVersionFourThatDiffer) {
  const std::string uuid = random_uuid();
  ASSERT_EQ(uuid.size(), 36u);
  EXPECT_EQ(uuid[14], '4');
  EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos);
  EXPECT_NE(uuid, random_uuid());
}

}  // namespace
}  // namespace muster::sys
