// SPDX-License-Identifier: GPL-2.0-or-later
#include "musterd/slurm_driver.hpp"

namespace muster::musterd {

using logic::Result;
using logic::Value;

namespace {

Value names_value(const std::vector<logic::NodeName>& names) {
  Value::List list;
  list.reserve(names.size());
  for (const logic::NodeName& name : names) list.emplace_back(name.str());
  return list;
}

/// An action as a request to the helper; null if it is none on Slurm.
struct ToRequest {
  Value operator()(const logic::CreateRecords& action) const {
    return Value::map({{"op", "create"}, {"names", names_value(action.names)}, {"line", action.line}});
  }
  Value operator()(const logic::DeleteRecords& action) const {
    return Value::map({{"op", "delete"}, {"names", names_value(action.names)}});
  }
  Value operator()(const logic::DrainNodes& action) const {
    return Value::map(
        {{"op", "update"}, {"names", names_value(action.names)}, {"state", "DRAIN"}, {"reason", action.reason}});
  }
  Value operator()(const logic::UndrainNodes& action) const {
    // UNDRAIN leaves a node unused until it has registered again, which is a second for slurmctld's next round and
    // three more for the scheduler's.
    const char* state = action.are_idle ? "IDLE" : "UNDRAIN";
    return Value::map({{"op", "update"}, {"names", names_value(action.names)}, {"state", state}});
  }
  Value operator()(const logic::ResumeNodes& action) const {
    return Value::map({{"op", "update"}, {"names", names_value(action.names)}, {"state", "RESUME"}});
  }
  Value operator()(const logic::ReturnToFuture& action) const {
    return Value::map({{"op", "update"}, {"names", names_value(action.names)}, {"state", "FUTURE"}});
  }
  Value operator()(const logic::SetAddresses& action) const {
    Value::List addresses;
    for (const std::string& address : action.addresses) addresses.emplace_back(address);
    return Value::map({{"op", "addresses"}, {"names", names_value(action.names)}, {"addresses", std::move(addresses)}});
  }
  Value operator()(const logic::ReleaseJobs& action) const {
    Value jobs = Value::list();
    for (const auto& item : action.jobs) {
      jobs.push(Value::map({{"id", std::int64_t{item.job}}, {"admin_comment", item.admin_comment}}));
    }
    return Value::map({{"op", "release"}, {"jobs", std::move(jobs)}});
  }
  Value operator()(const logic::ReconfigureSlurm&) const { return Value::map({{"op", "reconfigure"}}); }
  Value operator()(const logic::WriteNodeFile&) const { return {}; }
  Value operator()(const logic::LaunchMachine&) const { return {}; }
  Value operator()(const logic::RebootMachine&) const { return {}; }
  Value operator()(const logic::TerminateMachine&) const { return {}; }
};

}  // namespace

SlurmDriver::SlurmDriver(std::unique_ptr<sys::SlurmLink> link, logic::Duration timeout)
    : link_(std::move(link)), timeout_(timeout) {}

std::int64_t SlurmDriver::nodes_since() const {
  // slurmctld 22.05 answers "no change" when the last record of all is gone (tried), so "no change" is not believed for
  // long: a small cluster is read whole each time, a large one now and then.
  constexpr std::size_t small_cluster = 256;
  constexpr std::chrono::seconds whole_read_interval{10};
  const bool is_large = nodes_ && nodes_->size() > small_cluster;
  return is_large && std::chrono::steady_clock::now() - whole_read_at_ < whole_read_interval ? nodes_update_ : 0;
}

void SlurmDriver::observe(std::function<void(View)> done) {
  const std::int64_t since = nodes_since();
  if (since == 0) whole_read_at_ = std::chrono::steady_clock::now();
  link_->request(Value::map({{"op", "nodes"}, {"since", since}}), timeout_,
                 [this, done = std::move(done)](Result<Value> answer) mutable {
                   View view;
                   if (!answer) {
                     // The helper or slurmctld may be another one next time: begin with a whole read.
                     nodes_update_ = jobs_update_ = reservations_update_ = 0;
                     view.trouble = answer.error().message;
                     return done(std::move(view));
                   }
                   if (answer->boolean_or("changed", true) || !nodes_) {
                     auto nodes = logic::read_seen_nodes(*answer);
                     if (!nodes) {
                       nodes_update_ = 0;
                       view.trouble = nodes.error().message;
                       return done(std::move(view));
                     }
                     nodes_ = std::make_shared<const logic::SeenNodes>(*std::move(nodes));
                   }
                   nodes_update_ = answer->integer_or("last_update");
                   read_jobs(std::move(done));
                 });
}

void SlurmDriver::read_jobs(std::function<void(View)> done) {
  link_->request(Value::map({{"op", "jobs"}, {"since", jobs_update_}}), timeout_,
                 [this, done = std::move(done)](Result<Value> answer) mutable {
                   View view;
                   if (!answer) {
                     jobs_update_ = 0;
                     view.trouble = answer.error().message;
                     return done(std::move(view));
                   }
                   if (answer->boolean_or("changed", true) || jobs_update_ == 0) {
                     auto jobs = logic::read_seen_jobs(*answer);
                     if (!jobs) {
                       jobs_update_ = 0;
                       view.trouble = jobs.error().message;
                       return done(std::move(view));
                     }
                     jobs_ = *std::move(jobs);
                   }
                   jobs_update_ = answer->integer_or("last_update");
                   read_reservations(std::move(done));
                 });
}

void SlurmDriver::read_reservations(std::function<void(View)> done) {
  link_->request(Value::map({{"op", "reservations"}, {"since", reservations_update_}}), timeout_,
                 [this, done = std::move(done)](Result<Value> answer) {
                   View view;
                   if (!answer) {
                     reservations_update_ = 0;
                     view.trouble = answer.error().message;
                     return done(std::move(view));
                   }
                   if (answer->boolean_or("changed", true) || reservations_update_ == 0) {
                     auto reservations = logic::read_seen_reservations(*answer);
                     if (!reservations) {
                       reservations_update_ = 0;
                       view.trouble = reservations.error().message;
                       return done(std::move(view));
                     }
                     reservations_ = *std::move(reservations);
                   }
                   reservations_update_ = answer->integer_or("last_update");
                   view.nodes = nodes_;
                   view.jobs = jobs_;
                   view.reservations = reservations_;
                   done(std::move(view));
                 });
}

void SlurmDriver::read_controllers(std::function<void(Result<std::vector<logic::Controller>>)> done) {
  link_->request(Value::map({{"op", "ping"}}), timeout_, [done = std::move(done)](const Result<Value>& answer) {
    if (!answer) return done(answer.error());
    done(logic::read_controllers(*answer));
  });
}

void SlurmDriver::read_facts(std::function<void(Result<logic::SlurmFacts>)> done) {
  link_->request(Value::map({{"op", "config"}}), timeout_, [this, done = std::move(done)](Result<Value> config) {
    if (!config) return done(config.error());
    link_->request(Value::map({{"op", "partitions"}}), timeout_,
                   [config = *config, done](const Result<Value>& partitions) {
                     if (!partitions) return done(partitions.error());
                     done(logic::read_slurm_facts(config, *partitions));
                   });
  });
}

void SlurmDriver::execute(std::vector<logic::Action> actions, std::function<bool()> may_act,
                          std::function<void(std::vector<std::string>)> done) {
  const auto batch = std::make_shared<Batch>();
  for (const logic::Action& action : actions) {
    if (Value request = std::visit(ToRequest{}, action); !request.is_null())
      batch->requests.push_back(std::move(request));
  }
  batch->may_act = std::move(may_act);
  batch->done = std::move(done);
  execute_next(batch);
}

void SlurmDriver::execute_next(const std::shared_ptr<Batch>& batch) {
  if (batch->next == batch->requests.size() || !batch->may_act()) return batch->done(std::move(batch->problems));
  Value request = std::move(batch->requests[batch->next++]);
  link_->request(std::move(request), timeout_, [this, batch](const Result<Value>& answer) {
    if (!answer) batch->problems.push_back(answer.error().message);
    // A release answers job by job.
    const Value results = answer ? *answer : Value();
    for (const Value& result : results.list_or_empty("results")) {
      if (result.boolean_or("ok")) continue;
      batch->problems.push_back("release of job " + std::to_string(result.integer_or("id")) + ": " +
                                result.text_or("error"));
    }
    execute_next(batch);
  });
}

}  // namespace muster::musterd
