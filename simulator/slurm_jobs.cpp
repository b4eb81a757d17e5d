// SPDX-License-Identifier: GPL-2.0-or-later
//
// The jobs of the simulated Slurm: a first come, first served scheduler without limits, in which a job that does not
// fit holds up no other.
#include <algorithm>

#include "logic/gres.hpp"
#include "simulator/slurm.hpp"

namespace muster::simulator {

using logic::Done;
using logic::Duration;
using logic::JobId;
using logic::NodeBase;
using logic::NodeName;
using logic::SeenJob;
using logic::SeenNode;
using logic::Status;
using std::chrono::seconds;

namespace {

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

bool suits(const SeenJob& job, const SeenNode& node) {
  return has_word(node.partitions, job.partition) && (job.features.empty() || has_word(node.features, job.features)) &&
         (job.gres.empty() || node.gres.find(job.gres) != std::string::npos);
}

}  // namespace

std::vector<SeenJob> SimulatedSlurm::jobs() const {
  std::vector<SeenJob> all;
  all.reserve(jobs_.size());
  for (const auto& [id, job] : jobs_) all.push_back(job.seen);
  return all;
}

int SimulatedSlurm::matching_records(const SeenJob& job) const {
  return static_cast<int>(
      std::count_if(nodes_->begin(), nodes_->end(), [&](const auto& entry) { return suits(job, entry.second); }));
}

JobId SimulatedSlurm::submit(const JobWish& wish) {
  ++job_counts_.submitted;
  Job job;
  job.run_time = wish.run_time;
  job.seen.id = next_job_++;
  job.seen.user_id = 1000;
  job.seen.partition = wish.partition.str();
  job.seen.state = "PENDING";
  job.seen.priority = 1000;
  job.seen.min_nodes = wish.nodes;
  job.seen.features = wish.features;
  job.seen.gres = wish.gres;
  job.seen.submitted_at = clock_.now();
  job.seen.required_nodes = wish.required_nodes;
  if (plugin_) {
    logic::JobRequest request;
    request.partitions = {wish.partition};
    request.min_nodes = wish.nodes;
    request.features = wish.features;
    request.gres = wish.gres;
    const logic::HoldDecision decision = plugin_(request);
    if (decision.verdict == logic::HoldDecision::Verdict::refuse) {
      ++job_counts_.refused;
      return 0;
    }
    if (decision.verdict == logic::HoldDecision::Verdict::hold) {
      ++job_counts_.held;
      job.seen.priority = 0;
      job.seen.reason = "JobHeldUser";
      job.seen.admin_comment = logic::held_comment(decision, {});
    }
  }
  // 26.05 lets a job wait for nodes that are still to be made.
  if (job.seen.priority != 0 && settings_.version != SlurmVersion::v26_05 && matching_records(job.seen) < wish.nodes) {
    ++job_counts_.refused;
    return 0;
  }
  const JobId id = job.seen.id;
  jobs_.emplace(id, std::move(job));
  schedule_soon();
  return id;
}

Status SimulatedSlurm::release(JobId id, const std::string& admin_comment) {
  if (is_away()) return logic::retry_error("slurmctld does not answer");
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return logic::absent_error("invalid job id");
  SeenJob& job = found->second.seen;
  job.admin_comment = admin_comment;
  if (job.state != "PENDING") return Done{};
  // Released before its records match, a job is lost: nothing clears that.
  const bool matches = matching_records(job) > 0;
  job.priority = matches ? 1000 : 0;
  job.reason = matches ? "None" : "BadConstraints";
  schedule_soon();
  return Done{};
}

void SimulatedSlurm::schedule_soon() {
  if (schedule_is_due_ || jobs_.empty()) return;
  schedule_is_due_ = true;
  clock_.after(seconds{1}, [this] {
    schedule_is_due_ = false;
    schedule();
  });
}

void SimulatedSlurm::schedule() {
  if (is_away()) return schedule_soon();
  for (auto& [id, job] : jobs_) {
    if (job.seen.state != "PENDING" || job.seen.priority == 0) continue;
    std::vector<NodeName> nodes = free_nodes(job.seen);
    if (!nodes.empty()) start(job, std::move(nodes));
  }
}

/// As many as the job needs, or none.
std::vector<NodeName> SimulatedSlurm::free_nodes(const SeenJob& job) const {
  const auto is_free = [&](const NodeName& name, const SeenNode& node) {
    return node.base == NodeBase::idle && !node.completing && is_open(node) && !node.not_responding &&
           suits(job, node) && !is_reserved(name);
  };
  std::vector<NodeName> nodes;
  for (const NodeName& name : job.required_nodes) {
    const SeenNode* node = find(name);
    if (!node || !is_free(name, *node)) return {};
    nodes.push_back(name);
  }
  if (static_cast<int>(nodes.size()) >= *job.min_nodes) return nodes;
  std::vector<NodeName> others;
  for (const auto& [name, node] : *nodes_) {
    if (is_free(name, node) && std::find(nodes.begin(), nodes.end(), name) == nodes.end()) others.push_back(name);
  }
  const auto missing = static_cast<std::size_t>(*job.min_nodes) - nodes.size();
  if (others.size() < missing) return {};
  // By name, not by the order of a hash table: the same seed gives the same run with every library.
  std::sort(others.begin(), others.end());
  nodes.insert(nodes.end(), others.begin(), others.begin() + static_cast<std::ptrdiff_t>(missing));
  return nodes;
}

void SimulatedSlurm::start(Job& job, std::vector<NodeName> nodes) {
  job.seen.state = "RUNNING";
  job.seen.reason = "None";
  job.seen.nodes = std::move(nodes);
  for (const NodeName& name : job.seen.nodes) {
    set_base(*edit(name), NodeBase::allocated);
    histories_.at(name).jobs.push_back(job.seen.id);
  }
  if (job_starts_.emplace(job.seen.id, clock_.now()).second) {
    ++job_counts_.started;
    job_counts_.waited += clock_.now() - job.seen.submitted_at;
  }
  clock_.after(job.run_time, [this, id = job.seen.id, start = ++job.starts] { end(id, start); });
}

void SimulatedSlurm::leave_nodes(const Job& job) {
  for (const NodeName& name : job.seen.nodes) {
    const auto history = histories_.find(name);
    if (history == histories_.end()) continue;
    auto& jobs = history->second.jobs;
    jobs.erase(std::remove(jobs.begin(), jobs.end(), job.seen.id), jobs.end());
    SeenNode* node = edit(name);
    if (node->base != NodeBase::allocated) continue;
    set_base(*node, NodeBase::idle);
    node->completing = true;
    clock_.after(seconds{1}, [this, name] {
      if (SeenNode* left = edit(name)) left->completing = false;
      schedule_soon();
    });
  }
}

void SimulatedSlurm::end(JobId id, std::uint64_t start) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second.starts != start || found->second.seen.state != "RUNNING") return;
  ++job_counts_.ended;
  const Job job = std::move(found->second);
  jobs_.erase(found);
  leave_nodes(job);
}

/// A node of it is gone: it goes back to the queue.
void SimulatedSlurm::interrupt(JobId id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second.seen.state != "RUNNING") return;
  ++job_counts_.interrupted;
  const Job job = found->second;
  found->second.seen.state = "PENDING";
  found->second.seen.nodes.clear();
  leave_nodes(job);
  schedule_soon();
}

void SimulatedSlurm::end_all_jobs() {
  while (!jobs_.empty()) {
    const Job job = std::move(jobs_.begin()->second);
    jobs_.erase(jobs_.begin());
    leave_nodes(job);
  }
}

}  // namespace muster::simulator
