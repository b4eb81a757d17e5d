// SPDX-License-Identifier: GPL-2.0-or-later
//
// Names and ids as types, so that one cannot be passed where another belongs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace muster::logic {

/// A string that means one thing. Compared and hashed by its text; empty means "none".
template <typename Tag>
class Name {
 public:
  Name() = default;
  explicit Name(std::string text) : text_(std::move(text)) {}

  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }

  friend bool operator==(const Name& a, const Name& b) { return a.text_ == b.text_; }
  friend bool operator!=(const Name& a, const Name& b) { return a.text_ != b.text_; }
  friend bool operator<(const Name& a, const Name& b) { return a.text_ < b.text_; }

 private:
  std::string text_;
};

using NodeName = Name<struct NodeNameTag>;            ///< Slurm's NodeName; also HyperPod's NodeLogicalId
using GroupName = Name<struct GroupNameTag>;          ///< HyperPod's InstanceGroupName
using PartitionName = Name<struct PartitionNameTag>;  ///< Slurm's PartitionName
using InstanceId = Name<struct InstanceIdTag>;        ///< the provider's id of a machine
using LaunchToken = Name<struct LaunchTokenTag>;      ///< slot and attempt; makes a launch idempotent
using JobId = std::uint32_t;                          ///< Slurm's job id

}  // namespace muster::logic

template <typename Tag>
struct std::hash<muster::logic::Name<Tag>> {
  std::size_t operator()(const muster::logic::Name<Tag>& name) const { return std::hash<std::string>{}(name.str()); }
};
