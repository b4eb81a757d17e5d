// SPDX-License-Identifier: GPL-2.0-or-later
#include "logic/departure.hpp"

#include <algorithm>
#include <tuple>

namespace muster::logic {
namespace {

const SeenNode* find_node(const Seen& seen, const NodeName& name) {
  if (!seen.nodes) return nullptr;
  const auto node = seen.nodes->find(name);
  return node == seen.nodes->end() ? nullptr : &node->second;
}

enum class Condition { without_machine, unhealthy, on_its_way, idle, busy };

Condition condition_of(const SlotRecord& slot, const SeenNode* node) {
  if (slot.state == SlotState::waiting) return Condition::without_machine;
  const bool is_settled = slot.state == SlotState::ready || slot.state == SlotState::in_service;
  if (!is_settled) return slot.failures > 0 ? Condition::unhealthy : Condition::on_its_way;
  if (!node) return Condition::idle;
  if (node->has_jobs()) return Condition::busy;
  if (node->base == NodeBase::down || node->base == NodeBase::future || node->not_responding || node->failing)
    return Condition::unhealthy;
  return Condition::idle;
}

int rank_of(Condition condition, DepartureOrder order) {
  const int rank = static_cast<int>(condition);
  const int unhealthy = static_cast<int>(Condition::unhealthy);
  return order == DepartureOrder::rollback ? std::min(rank, unhealthy + 1) : rank;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

/// The next word of letters, in lower case; text is moved behind it.
std::string next_word(std::string_view& text) {
  while (!text.empty() && !is_letter(text.front())) text.remove_prefix(1);
  std::string word;
  while (!text.empty() && is_letter(text.front())) {
    word += lower(text.front());
    text.remove_prefix(1);
  }
  return word;
}

}  // namespace

std::set<NodeName> reserved_nodes(const Seen& seen) {
  std::set<NodeName> names;
  if (!seen.reservations) return names;
  for (const SeenReservation& reservation : *seen.reservations)
    names.insert(reservation.nodes.begin(), reservation.nodes.end());
  return names;
}

std::vector<std::size_t> choose_departures(const GroupRecord& group, const Seen& seen, int number,
                                           DepartureOrder order) {
  const std::set<NodeName> reserved = reserved_nodes(seen);
  struct Candidate {
    int rank;
    Time launched_at;
    std::size_t position;
  };
  std::vector<Candidate> candidates;
  for (std::size_t position = 0; position < group.slots.size(); ++position) {
    const SlotRecord& slot = group.slots[position];
    if (slot.wish == Wish::remove || !slot.foreign_reason.empty() || reserved.count(slot.name) > 0) continue;
    candidates.push_back({rank_of(condition_of(slot, find_node(seen, slot.name)), order), slot.launched_at, position});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.rank, b.launched_at, b.position) < std::tie(b.rank, a.launched_at, a.position);
  });
  std::vector<std::size_t> positions;
  for (const Candidate& candidate : candidates) {
    if (static_cast<int>(positions.size()) >= number) break;
    positions.push_back(candidate.position);
  }
  return positions;
}

std::optional<AskedAction> asked_action(std::string_view reason) {
  while (!reason.empty() && !is_letter(reason.front())) reason.remove_prefix(1);
  if (next_word(reason) != "action") return std::nullopt;
  // "Action needed" of somebody else is no request to us: a mark has to follow, or the very words do.
  const std::size_t mark = reason.find_first_not_of(" \t_");
  const bool has_mark = mark != std::string_view::npos && (reason[mark] == ':' || reason[mark] == '=');
  const std::string word = next_word(reason);
  if (word == "replace") return AskedAction{Wish::replace};
  if (word == "reboot") return AskedAction{Wish::reboot};
  if (!has_mark) return std::nullopt;
  return AskedAction{};
}

}  // namespace muster::logic
