// SPDX-License-Identifier: GPL-2.0-or-later
//
// A slurmctld in memory: node records, drains, registrations, jobs and reservations, with the habits of three versions
// of Slurm as they were tried on real ones.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "logic/hold_rule.hpp"
#include "logic/result.hpp"
#include "logic/seen.hpp"
#include "simulator/chance.hpp"
#include "simulator/event_queue.hpp"

namespace muster::simulator {

enum class SlurmVersion { v22_05, v24_11, v26_05 };

/// Who did it.
enum class Actor { muster, admin, slurm };

struct SlurmSettings {
  SlurmVersion version = SlurmVersion::v24_11;
  int max_node_count = 1'000'000;
  logic::Duration slurmd_timeout{std::chrono::minutes{5}};
  std::map<std::string, logic::PartitionName> node_sets;  ///< the partition that takes in nodes of a feature
};

/// What a slurmd says of its machine when it registers.
struct Registration {
  logic::NodeName name;
  logic::InstanceId machine;
  std::string address;
  int cpus = 0;
  std::int64_t memory_mib = 0;
  std::string gres;         ///< of its --conf
  std::string features;     ///< of its --conf
  bool has_devices = true;  ///< false: it finds fewer devices than its --conf says
};

/// What Slurm does not tell, or not with the record.
struct RecordHistory {
  Actor made_by = Actor::muster;
  Actor undrained_by = Actor::muster;  ///< who last took its drain away, or made it without one
  logic::InstanceId machine;           ///< whose slurmd registered last
  std::string machine_address;
  bool slurmd_answers = false;  ///< it would answer a ping that reached it
  bool down_by_slurm = false;
  bool came_back = false;  ///< it had been deleted, and slurmctld has forgotten that
  logic::Time unreached_since = logic::no_time;
  std::uint64_t pings = 0;  ///< a later ping makes an earlier one void
  std::vector<logic::JobId> jobs;
};

struct JobWish {
  logic::PartitionName partition;
  int nodes = 1;
  std::string features;
  std::string gres;
  logic::Duration run_time{std::chrono::minutes{10}};
  std::vector<logic::NodeName> required_nodes;
};

struct JobCounts {
  int submitted = 0, refused = 0, held = 0, started = 0, ended = 0, interrupted = 0;
  logic::Duration waited{0};  ///< of those that started, in all
};

class SimulatedSlurm {
 public:
  SimulatedSlurm(EventQueue& clock, const Chance& chance, SlurmSettings settings);

  // ---- What scontrol and libslurm do. An error may come after a part was done. ----
  logic::Status create(const std::vector<logic::NodeName>& names, const std::string& line, Actor by);
  logic::Status remove(const std::vector<logic::NodeName>& names);
  logic::Status drain(const std::vector<logic::NodeName>& names, const std::string& reason, Actor by);
  logic::Status undrain(const std::vector<logic::NodeName>& names, Actor by);
  logic::Status resume(const std::vector<logic::NodeName>& names, Actor by);
  logic::Status set_down(const std::vector<logic::NodeName>& names, const std::string& reason, Actor by);
  logic::Status set_future(const std::vector<logic::NodeName>& names, Actor by);
  logic::Status set_addresses(const std::vector<logic::NodeName>& names, const std::vector<std::string>& addresses);
  /// scontrol reboot ASAP nextstate=RESUME: the drain is gone afterwards.
  void note_admin_reboot(const logic::NodeName& name);
  void reserve(const std::string& name, std::vector<logic::NodeName> nodes);
  void unreserve(const std::string& name);
  /// A node of slurm.conf that is none of ours.
  void add_static_node(const logic::NodeName& name, const logic::PartitionName& partition, const std::string& reason);

  // ---- What happens to it ----
  /// Nobody is answered for so long.
  void go_away(logic::Duration away);
  /// It forgets what was done to records within the last moments, and the type of the GRES of FUTURE ones.
  void restart(logic::Duration away, logic::Duration forgets);
  /// slurmctld -c
  void lose_dynamic_records();
  bool is_away() const { return clock_.now() < away_until_; }
  logic::Time away_until() const { return away_until_; }

  // ---- Machines ----
  /// False: nobody has taken it; slurmd believes that it is registered all the same.
  bool register_node(const Registration& registration);
  /// The machine's slurmd has ended, or can (no longer) be reached.
  void note_reachable(const logic::NodeName& name, const logic::InstanceId& machine, bool answers);

  // ---- Jobs ----
  /// What the job_submit module says.
  void ask_at_submission(std::function<logic::HoldDecision(const logic::JobRequest&)> plugin) {
    plugin_ = std::move(plugin);
  }
  logic::JobId submit(const JobWish& wish);
  logic::Status release(logic::JobId job, const std::string& admin_comment);
  void end_all_jobs();
  const JobCounts& job_counts() const { return job_counts_; }
  /// When each job that has started did, by job.
  const std::map<logic::JobId, logic::Time>& job_starts() const { return job_starts_; }

  // ---- Looking ----
  /// The records as they are now; the same object throughout, so a look costs nothing.
  const std::shared_ptr<logic::SeenNodes>& nodes() const { return nodes_; }
  std::vector<logic::SeenJob> jobs() const;
  bool has_jobs() const { return !jobs_.empty(); }
  std::vector<logic::SeenReservation> reservations() const;
  const logic::SeenNode* find(const logic::NodeName& name) const;
  const RecordHistory& history(const logic::NodeName& name) const { return histories_.at(name); }
  SlurmVersion version() const { return settings_.version; }
  /// A job could be sent there: present, not drained, not down. Whether it answers does not matter.
  static bool is_open(const logic::SeenNode& node);

 private:
  struct Job {
    logic::SeenJob seen;
    logic::Duration run_time{0};
    std::uint64_t starts = 0;
  };
  struct Change {
    logic::Time time;
    logic::NodeName name;
    std::optional<std::pair<logic::SeenNode, RecordHistory>> before;
  };

  logic::SeenNode* edit(const logic::NodeName& name);
  void remember(const logic::NodeName& name);
  void undo(const Change& change);
  /// Does it to one after the other, and stops at a name that is not there, as slurmctld does.
  logic::Status to_each(const std::vector<logic::NodeName>& names,
                        const std::function<logic::Status(const logic::NodeName&, logic::SeenNode&)>& act);
  void set_base(logic::SeenNode& node, logic::NodeBase base);
  void set_reason(logic::SeenNode& node, const std::string& reason, Actor by);
  std::string partitions_of(const std::string& features) const;
  bool is_reached(const logic::NodeName& name, const logic::SeenNode& node, const RecordHistory& history) const;
  void ping_after(const logic::NodeName& name, logic::Duration delay);
  void ping(const logic::NodeName& name);
  void go_down(const logic::NodeName& name, logic::SeenNode& node, RecordHistory& history);
  bool is_reserved(const logic::NodeName& name) const;

  void schedule_soon();
  void schedule();
  std::vector<logic::NodeName> free_nodes(const logic::SeenJob& job) const;
  void start(Job& job, std::vector<logic::NodeName> nodes);
  void end(logic::JobId id, std::uint64_t start);
  void leave_nodes(const Job& job);
  void interrupt(logic::JobId id);
  int matching_records(const logic::SeenJob& job) const;

  EventQueue& clock_;
  const Chance& chance_;
  const SlurmSettings settings_;
  std::shared_ptr<logic::SeenNodes> nodes_ = std::make_shared<logic::SeenNodes>();
  std::unordered_map<logic::NodeName, RecordHistory> histories_;
  std::map<std::string, logic::SeenReservation> reservations_;
  std::map<logic::JobId, Job> jobs_;
  std::map<logic::JobId, logic::Time> job_starts_;
  std::deque<Change> changes_;  ///< of the last moments, which a restart may forget
  std::function<logic::HoldDecision(const logic::JobRequest&)> plugin_;
  JobCounts job_counts_;
  logic::JobId next_job_ = 1;
  logic::Time away_until_ = logic::no_time;
  bool schedule_is_due_ = false;
};

}  // namespace muster::simulator
