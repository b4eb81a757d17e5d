// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/elf_symbol.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace muster::logic {
namespace {

/// Bytes of an object, written number by number.
class Bytes {
 public:
  template <typename Number>
  Bytes& put(Number number) {
    char raw[sizeof number];
    std::memcpy(raw, &number, sizeof number);
    text_.append(raw, sizeof number);
    return *this;
  }
  Bytes& text(const std::string& more) {
    text_ += more;
    return *this;
  }
  const std::string& str() const { return text_; }

 private:
  std::string text_;
};

constexpr std::uint64_t data_address = 0x4000;

void section_header(Bytes& out, std::uint32_t type, std::uint64_t address, std::uint64_t offset, std::uint64_t size,
                    std::uint32_t link) {
  out.put(std::uint32_t{0}).put(type).put(std::uint64_t{0}).put(address).put(offset).put(size);
  out.put(link).put(std::uint32_t{0}).put(std::uint64_t{1}).put(std::uint64_t{24});
}

/// A shared object with two exported names: plugin_type, a text, and plugin_version, the number 0x160508.
std::string small_object() {
  const std::string names = std::string("\0plugin_type\0plugin_version\0", 28);
  const std::string data = std::string("spank\0\0\0", 8);
  Bytes symbols;
  symbols.text(std::string(24, '\0'));
  symbols.put(std::uint32_t{1}).text(std::string("\x11\0", 2)).put(std::uint16_t{3});
  symbols.put(data_address).put(std::uint64_t{6});
  symbols.put(std::uint32_t{13}).text(std::string("\x11\0", 2)).put(std::uint16_t{3});
  symbols.put(data_address + 8).put(std::uint64_t{4});

  const std::uint64_t symbols_at = 64;
  const std::uint64_t names_at = symbols_at + symbols.str().size();
  const std::uint64_t data_at = names_at + names.size();
  const std::uint64_t sections_at = data_at + data.size() + 4;
  Bytes object;
  object.text(std::string("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16));
  object.put(std::uint16_t{3}).put(std::uint16_t{62}).put(std::uint32_t{1}).put(std::uint64_t{0}).put(std::uint64_t{0});
  object.put(sections_at).put(std::uint32_t{0}).put(std::uint16_t{64}).put(std::uint16_t{56}).put(std::uint16_t{0});
  object.put(std::uint16_t{64}).put(std::uint16_t{4}).put(std::uint16_t{0});
  object.text(symbols.str()).text(names).text(data).put(std::uint32_t{0x160508});
  section_header(object, 0, 0, 0, 0, 0);
  section_header(object, 11, 0, symbols_at, symbols.str().size(), 2);
  section_header(object, 3, 0, names_at, names.size(), 0);
  section_header(object, 1, data_address, data_at, data.size() + 4, 0);
  return object.str();
}

TEST(ExportedNumber, IsReadWithoutLoadingTheObject) {
  const auto number = exported_number(small_object(), "plugin_version");
  ASSERT_TRUE(number) << number.error().message;
  EXPECT_EQ(*number, 0x160508u);
}

TEST(ExportedNumber, IsAnErrorWhereTheNameIsNotExported) {
  const auto number = exported_number(small_object(), "plugin");
  ASSERT_FALSE(number);
  EXPECT_EQ(number.error().message, "it exports no plugin");
}

TEST(ExportedNumber, IsAnErrorOfWhatIsNoObject) {
  for (const char* text : {"", "\177ELF", "#!/bin/sh\n"}) EXPECT_FALSE(exported_number(text, "plugin_version"));
}

TEST(ExportedNumber, IsAnErrorOfAnObjectOfAnotherMachine) {
  std::string object = small_object();
  object[4] = 1;
  EXPECT_EQ(exported_number(object, "plugin_version").error().message, "a shared object for another kind of machine");
}

TEST(ExportedNumber, IsAnErrorOfAnObjectCutAnywhere) {
  const std::string object = small_object();
  for (std::size_t size = 0; size < object.size(); ++size)
    EXPECT_FALSE(exported_number(std::string_view(object).substr(0, size), "plugin_version")) << size;
}

TEST(ExportedNumber, SurvivesAnObjectSpoiltAnywhere) {
  const std::string object = small_object();
  for (std::size_t at = 0; at < object.size(); ++at) {
    for (const char value : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string spoilt = object;
      spoilt[at] = value;
      (void)exported_number(spoilt, "plugin_version");
      // Numbers near the largest, so that sums would wrap.
      for (std::size_t more = at; more < std::min(at + 8, object.size()); ++more) spoilt[more] = value;
      (void)exported_number(spoilt, "plugin_version");
    }
  }
}

}  // namespace
}  // namespace muster::logic
