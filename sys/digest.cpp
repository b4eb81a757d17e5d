// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/digest.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <cstdlib>

namespace muster::sys {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

void append_hex(std::string& text, unsigned char byte) {
  text.push_back(hex_digits[byte >> 4u]);
  text.push_back(hex_digits[byte & 0xfu]);
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  // Fails only where libcrypto has no SHA-256 at all: nothing of ours can then be trusted.
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) std::abort();
  std::string text;
  text.reserve(std::size_t{size} * 2);
  for (unsigned index = 0; index < size; ++index) append_hex(text, digest[index]);
  return text;
}

std::string random_uuid() {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) std::abort();
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0fu) | 0x40u);  // version 4
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3fu) | 0x80u);  // variant 1
  std::string text;
  for (std::size_t index = 0; index < bytes.size(); ++index) {
    if (index == 4 || index == 6 || index == 8 || index == 10) text.push_back('-');
    append_hex(text, bytes[index]);
  }
  return text;
}

}  // namespace muster::sys
