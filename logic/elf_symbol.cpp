// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/elf_symbol.hpp"

#include <cstring>
#include <optional>
#include <string>

namespace muster::logic {

namespace {

// The parts of ELF that are read (System V ABI, 64 bits), laid out as in the file.
struct FileHeader {
  unsigned char ident[16];
  std::uint16_t type;
  std::uint16_t machine;
  std::uint32_t version;
  std::uint64_t entry;
  std::uint64_t program_offset;
  std::uint64_t section_offset;
  std::uint32_t flags;
  std::uint16_t header_size;
  std::uint16_t program_size;
  std::uint16_t program_count;
  std::uint16_t section_size;
  std::uint16_t section_count;
  std::uint16_t names_index;
};
struct SectionHeader {
  std::uint32_t name;
  std::uint32_t type;
  std::uint64_t flags;
  std::uint64_t address;
  std::uint64_t offset;
  std::uint64_t size;
  std::uint32_t link;
  std::uint32_t info;
  std::uint64_t alignment;
  std::uint64_t entry_size;
};
struct Symbol {
  std::uint32_t name;
  unsigned char info;
  unsigned char other;
  std::uint16_t section;
  std::uint64_t value;
  std::uint64_t size;
};
static_assert(sizeof(FileHeader) == 64 && sizeof(SectionHeader) == 64 && sizeof(Symbol) == 24);

constexpr std::uint32_t dynamic_symbols = 11;  // SHT_DYNSYM
constexpr std::uint32_t without_bytes = 8;     // SHT_NOBITS
constexpr unsigned char sixty_four_bits = 2;   // ELFCLASS64

unsigned char own_byte_order() {
  constexpr std::uint16_t probe = 1;
  unsigned char first = 0;
  std::memcpy(&first, &probe, 1);
  return first == 1 ? 1 : 2;  // ELFDATA2LSB, ELFDATA2MSB
}

/// A record of the file, or nothing where the file ends before it does. Nothing in the file is believed.
template <typename Record>
std::optional<Record> record_at(std::string_view object, std::uint64_t offset) {
  if (offset > object.size() || object.size() - offset < sizeof(Record)) return std::nullopt;
  Record record;
  std::memcpy(&record, object.data() + offset, sizeof record);
  return record;
}

std::optional<SectionHeader> section(std::string_view object, const FileHeader& header, std::uint64_t index) {
  if (index >= header.section_count || header.section_size != sizeof(SectionHeader)) return std::nullopt;
  // The offset may be anything: the sum must not wrap.
  if (header.section_offset > object.size()) return std::nullopt;
  return record_at<SectionHeader>(object, header.section_offset + index * sizeof(SectionHeader));
}

bool is_named(std::string_view object, const SectionHeader& names, std::uint32_t at, std::string_view wanted) {
  if (names.offset > object.size() || at > object.size()) return false;
  const std::uint64_t start = names.offset + at;
  if (start > object.size() || object.size() - start <= wanted.size()) return false;
  return object.substr(start, wanted.size()) == wanted && object[start + wanted.size()] == '\0';
}

}  // namespace

Result<std::uint32_t> exported_number(std::string_view object, std::string_view name) {
  const auto header = record_at<FileHeader>(object, 0);
  if (!header || object.substr(0, 4) != "\177ELF") return reject_error("not a shared object");
  if (header->ident[4] != sixty_four_bits || header->ident[5] != own_byte_order())
    return reject_error("a shared object for another kind of machine");
  for (std::uint64_t index = 0; index < header->section_count; ++index) {
    const auto symbols = section(object, *header, index);
    if (!symbols) return reject_error("a damaged shared object");
    if (symbols->type != dynamic_symbols) continue;
    const auto names = section(object, *header, symbols->link);
    if (!names || symbols->offset > object.size() || symbols->size > object.size())
      return reject_error("a damaged shared object");
    for (std::uint64_t at = 0; at + sizeof(Symbol) <= symbols->size; at += sizeof(Symbol)) {
      const auto symbol = record_at<Symbol>(object, symbols->offset + at);
      if (!symbol) return reject_error("a damaged shared object");
      if (!is_named(object, *names, symbol->name, name)) continue;
      const auto home = section(object, *header, symbol->section);
      if (!home || home->type == without_bytes || symbol->value < home->address) break;
      const std::uint64_t inside = symbol->value - home->address;
      if (home->offset > object.size() || inside > object.size()) break;
      const auto number = record_at<std::uint32_t>(object, home->offset + inside);
      if (number) return *number;
      break;
    }
  }
  return reject_error("it exports no " + std::string(name));
}

}  // namespace muster::logic
