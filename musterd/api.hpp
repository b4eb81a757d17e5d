// SPDX-License-Identifier: GPL-2.0-or-later
//
// The operations of the HTTP interface: one dispatch table, HyperPod's own (SageMaker.*) and muster's (Muster.*). Reads
// the head's state, hands it commands, and keeps the long-polls, which are answered when what they wait for has
// changed, and at the latest when their time is over.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "musterd/doctor.hpp"
#include "musterd/head.hpp"
#include "sys/event_loop.hpp"
#include "sys/http_server.hpp"

namespace muster::musterd {

class Api {
 public:
  Api(sys::EventLoop& loop, Head& head);

  void handle(sys::HttpRequest request, sys::Responder respond);

 private:
  enum class Access {
    read,   ///< everybody
    write,  ///< root, SlurmUser, and the user that musterd runs as
  };
  struct Member {
    std::string_view name;
    logic::Value::Kind kind;
  };
  struct Operation {
    Access access;
    void (Api::*run)(const sys::HttpRequest&, sys::Responder);
    bool needs_cluster;  ///< answers ResourceNotFound before the first apply
    std::vector<Member> members;
  };
  static const std::map<std::string, Operation>& operations();
  static std::string wrong_member(const logic::Value& body, const std::vector<Member>& members);
  bool may(const sys::HttpRequest& request, Access access) const;
  /// Answers and returns true where another musterd acts.
  bool is_refused_on_standby(const sys::Responder& respond) const;

  // muster's own
  void apply(const sys::HttpRequest& request, sys::Responder respond);
  void status(const sys::HttpRequest& request, sys::Responder respond);
  void nodes(const sys::HttpRequest& request, sys::Responder respond);
  void why(const sys::HttpRequest& request, sys::Responder respond);
  void run_command(const logic::Command& command, const sys::HttpRequest& request, const sys::Responder& respond);
  void doctor(const sys::HttpRequest& request, sys::Responder respond);
  void open_group(const sys::HttpRequest& request, sys::Responder respond);
  void scale(const sys::HttpRequest& request, sys::Responder respond);
  void add_nodes(const sys::HttpRequest& request, sys::Responder respond);
  template <typename Command>
  void to_nodes(const sys::HttpRequest& request, sys::Responder respond);
  void delete_group(const sys::HttpRequest& request, sys::Responder respond);
  void delete_cluster(const sys::HttpRequest& request, sys::Responder respond);
  void plan(const sys::HttpRequest& request, sys::Responder respond);
  void resync(const sys::HttpRequest& request, sys::Responder respond);
  void wait_for(const sys::HttpRequest& request, sys::Responder respond);
  void events(const sys::HttpRequest& request, sys::Responder respond);
  void sync_node(const sys::HttpRequest& request, sys::Responder respond);
  // HyperPod's
  void describe_cluster(const sys::HttpRequest& request, sys::Responder respond);
  void list_clusters(const sys::HttpRequest& request, sys::Responder respond);
  void list_cluster_nodes(const sys::HttpRequest& request, sys::Responder respond);
  void describe_cluster_node(const sys::HttpRequest& request, sys::Responder respond);
  void list_cluster_events(const sys::HttpRequest& request, sys::Responder respond);
  void describe_cluster_event(const sys::HttpRequest& request, sys::Responder respond);

  /// A request that waits. try_answer answers and returns true, or leaves it; last is set when its time is over.
  struct Waiting {
    std::function<bool(bool last)> try_answer;
    sys::EventLoop::Handle timer;
  };
  void wait(logic::Duration limit, std::function<bool(bool last)> try_answer);
  /// Where an answer of the head is waited for: outcome is set when it comes. If it does not come in time, nothing is
  /// changed, and that is the answer.
  template <typename Outcome>
  void wait_for_head(std::shared_ptr<std::optional<logic::Result<Outcome>>> outcome, sys::Responder respond,
                     std::function<logic::Value(const Outcome&)> view);
  void answer_waiting();

  logic::Value assignment(const logic::InstanceId& instance, const std::string& boot_id) const;
  logic::Value events_after(std::int64_t sequence, std::size_t limit, const logic::GroupName& group) const;
  /// Answers and returns false where the named cluster is not ours.
  bool names_our_cluster(const sys::HttpRequest& request, const sys::Responder& respond) const;

  sys::EventLoop& loop_;
  Head& head_;
  Doctor doctor_;
  std::list<Waiting> waiting_;
};

}  // namespace muster::musterd
