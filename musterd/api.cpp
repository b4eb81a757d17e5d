// SPDX-License-Identifier: GPL-2.0-or-later
#include "musterd/api.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>

#include "logic/field_reader.hpp"
#include "logic/hostlist.hpp"
#include "logic/slot_rules.hpp"
#include "logic/views.hpp"
#include "logic/wait_rule.hpp"
#include "sys/clock.hpp"

namespace muster::musterd {

using logic::GroupName;
using logic::InstanceId;
using logic::Result;
using logic::Value;
using sys::HttpReply;
using sys::HttpRequest;
using sys::Responder;

namespace {

constexpr logic::Duration longest_wait = std::chrono::seconds{60};
/// How long Slurm and the providers may take where they are asked first.
constexpr logic::Duration head_answers_within = std::chrono::seconds{55};

HttpReply validation_error(const std::string& message) {
  return HttpReply::failure(400, "ValidationException", message);
}
HttpReply not_found(const std::string& message) { return HttpReply::failure(404, "ResourceNotFound", message); }

HttpReply error_reply(const logic::Error& error) {
  switch (error.kind) {
    case logic::ErrorKind::reject: return validation_error(error.message);
    case logic::ErrorKind::absent: return not_found(error.message);
    case logic::ErrorKind::conflict: return HttpReply::failure(409, "ConflictException", error.message);
    case logic::ErrorKind::retry: return HttpReply::failure(503, "ServiceUnavailable", error.message);
    case logic::ErrorKind::bug: return HttpReply::failure(500, "InternalFailure", error.message);
  }
  return HttpReply::failure(500, "InternalFailure", error.message);
}

logic::Duration wait_seconds(const Value& body) {
  const double seconds = std::clamp(body.real_or("WaitSeconds", 0), 0.0, logic::to_seconds(longest_wait));
  return logic::Duration{static_cast<std::int64_t>(seconds * 1000)};
}

/// As an int; what no int holds is out of every range.
std::optional<int> count_member(const Value& body, std::string_view key) {
  const Value* found = body.find(key);
  if (!found || !found->as_integer()) return std::nullopt;
  constexpr std::int64_t beyond = 1'000'000'000;
  return static_cast<int>(std::clamp(*found->as_integer(), -beyond, beyond));
}

GroupName group_member(const Value& body) { return GroupName{body.text_or("InstanceGroupName")}; }

/// The names of all host lists of a request, each once.
Result<std::vector<logic::NodeName>> nodes_member(const Value& body) {
  std::vector<logic::NodeName> nodes;
  std::set<std::string> known;
  for (const Value& item : body.list_or_empty("Nodes")) {
    if (!item.as_text()) return logic::reject_error("Nodes: expected names of nodes, found " + logic::describe(item));
    const auto names = logic::expand_names(*item.as_text());
    if (!names) return names.error();
    for (const std::string& name : *names) {
      if (known.insert(name).second) nodes.emplace_back(name);
    }
  }
  return nodes;
}

}  // namespace

Api::Api(sys::EventLoop& loop, Head& head) : loop_(loop), head_(head), doctor_(loop, head) {
  head_.on_change([this] { answer_waiting(); });
}

const std::map<std::string, Api::Operation>& Api::operations() {
  using Kind = Value::Kind;
  const std::vector<Member> page{{"MaxResults", Kind::integer}, {"NextToken", Kind::text}, {"SortOrder", Kind::text}};
  const auto paged = [&](std::vector<Member> members) {
    members.insert(members.end(), page.begin(), page.end());
    members.push_back({"ClusterName", Kind::text});
    return members;
  };
  static const std::map<std::string, Operation> table{
      {"Muster.Apply",
       {Access::write,
        &Api::apply,
        false,
        {{"FileName", Kind::text}, {"Text", Kind::text}, {"BaseDirectory", Kind::text}, {"DryRun", Kind::boolean}}}},
      {"Muster.Status", {Access::read, &Api::status, false, {}}},
      {"Muster.Nodes", {Access::read, &Api::nodes, true, {{"InstanceGroupName", Kind::text}}}},
      {"Muster.Why",
       {Access::read,
        &Api::why,
        false,
        {{"Job", Kind::integer}, {"Node", Kind::text}, {"Group", Kind::text}, {"Name", Kind::text}}}},
      {"Muster.Doctor", {Access::read, &Api::doctor, false, {}}},
      {"Muster.OpenGroup", {Access::write, &Api::open_group, true, {{"InstanceGroupName", Kind::text}}}},
      {"Muster.Scale",
       {Access::write,
        &Api::scale,
        true,
        {{"InstanceGroupName", Kind::text}, {"TargetCount", Kind::integer}, {"MinCount", Kind::integer}}}},
      {"Muster.AddNodes",
       {Access::write, &Api::add_nodes, true, {{"InstanceGroupName", Kind::text}, {"Count", Kind::integer}}}},
      {"Muster.RemoveNodes", {Access::write, &Api::to_nodes<logic::RemoveNodes>, true, {{"Nodes", Kind::list}}}},
      {"Muster.ReplaceNodes", {Access::write, &Api::to_nodes<logic::ReplaceNodes>, true, {{"Nodes", Kind::list}}}},
      {"Muster.RebootNodes", {Access::write, &Api::to_nodes<logic::RebootNodes>, true, {{"Nodes", Kind::list}}}},
      {"Muster.DeleteGroup", {Access::write, &Api::delete_group, true, {{"InstanceGroupName", Kind::text}}}},
      {"Muster.DeleteCluster", {Access::write, &Api::delete_cluster, true, {{"ClusterName", Kind::text}}}},
      {"Muster.Plan", {Access::read, &Api::plan, true, {}}},
      {"Muster.Resync", {Access::write, &Api::resync, true, {{"DryRun", Kind::boolean}}}},
      {"Muster.Wait",
       {Access::read,
        &Api::wait_for,
        false,
        {{"InstanceGroupName", Kind::text},
         {"For", Kind::text},
         {"KnownText", Kind::text},
         {"WaitSeconds", Kind::real}}}},
      {"Muster.Events",
       {Access::read,
        &Api::events,
        false,
        {{"AfterSequence", Kind::integer},
         {"Limit", Kind::integer},
         {"WaitSeconds", Kind::real},
         {"InstanceGroupName", Kind::text}}}},
      {"Muster.SyncNode",
       {Access::write,
        &Api::sync_node,
        false,
        {{"InstanceId", Kind::text},
         {"KnownGeneration", Kind::integer},
         {"WaitSeconds", Kind::real},
         {"Step", Kind::text},
         {"Checks", Kind::list},
         {"SlurmdStart", Kind::integer},
         {"SlurmdAlive", Kind::boolean}}}},
      {"SageMaker.DescribeCluster", {Access::read, &Api::describe_cluster, true, {{"ClusterName", Kind::text}}}},
      {"SageMaker.ListClusters", {Access::read, &Api::list_clusters, false, {}}},
      {"SageMaker.ListClusterNodes",
       {Access::read, &Api::list_cluster_nodes, true,
        paged({{"InstanceGroupNameContains", Kind::text}, {"IncludeNodeLogicalIds", Kind::boolean}})}},
      {"SageMaker.DescribeClusterNode",
       {Access::read,
        &Api::describe_cluster_node,
        true,
        {{"ClusterName", Kind::text}, {"NodeId", Kind::text}, {"NodeLogicalId", Kind::text}}}},
      {"SageMaker.ListClusterEvents",
       {Access::read, &Api::list_cluster_events, true,
        paged({{"InstanceGroupName", Kind::text},
               {"NodeId", Kind::text},
               {"EventTimeAfter", Kind::real},
               {"EventTimeBefore", Kind::real}})}},
      {"SageMaker.DescribeClusterEvent",
       {Access::read, &Api::describe_cluster_event, true, {{"ClusterName", Kind::text}, {"EventId", Kind::text}}}},
  };
  return table;
}

bool Api::may(const HttpRequest& request, Access access) const {
  if (access == Access::read || request.uid == 0 || request.uid == ::geteuid()) return true;
  const auto& facts = head_.state().facts;
  return facts && static_cast<std::int64_t>(request.uid) == facts->slurm_user_uid;
}

bool Api::is_refused_on_standby(const Responder& respond) const {
  const logic::HeadRole& role = head_.state().role;
  if (role.acts) return false;
  respond(HttpReply::failure(503, "ServiceUnavailable", logic::standby_text(role)));
  return true;
}

/// A member of another kind than its own is an error: taken for absent it would mean something else. Unknown members
/// are let pass, as newer clients have more of them. A whole number serves for a real one. Empty: all is well.
std::string Api::wrong_member(const Value& body, const std::vector<Member>& members) {
  for (const Member& member : members) {
    const Value* found = body.find(member.name);
    if (!found || found->is_null() || found->kind() == member.kind) continue;
    if (member.kind == Value::Kind::real && found->kind() == Value::Kind::integer) continue;
    return std::string(member.name) + ": expected " + std::string(logic::kind_name(member.kind)) + ", found " +
           logic::describe(*found);
  }
  return "";
}

void Api::handle(HttpRequest request, Responder respond) {
  const auto found = operations().find(request.target);
  if (found == operations().end()) {
    return respond(
        HttpReply::failure(400, "UnknownOperationException",
                           "expected an operation in X-Amz-Target, found \"" + request.target.substr(0, 80) + "\""));
  }
  const Operation& operation = found->second;
  if (!may(request, operation.access)) {
    return respond(HttpReply::failure(
        403, "AccessDeniedException",
        request.target + ": only root or SlurmUser may do this; you are uid " + std::to_string(request.uid)));
  }
  if (!request.body.is_map() && !request.body.is_null())
    return respond(validation_error("expected a JSON object as the request"));
  if (const std::string wrong = wrong_member(request.body, operation.members); !wrong.empty()) {
    return respond(validation_error(wrong));
  }
  if (operation.access == Access::write) {
    // Just after the start it is not known yet, but soon.
    if (!head_.state().role.is_known) return head_.look_then([this, request, respond] { handle(request, respond); });
    if (is_refused_on_standby(respond)) return;
  }
  if (operation.needs_cluster && !head_.state().spec)
    return respond(not_found("there is no cluster yet; muster apply -f FILE makes one"));
  (this->*operation.run)(request, std::move(respond));
}

// ---- muster's own ----

void Api::apply(const HttpRequest& request, Responder respond) {
  LedgerStore::AppliedFile file;
  file.name = request.body.text_or("FileName", "cluster.yaml");
  file.text = request.body.text_or("Text");
  file.base_directory = request.body.text_or("BaseDirectory", "/");
  const bool dry_run = request.body.boolean_or("DryRun");
  const auto outcome = std::make_shared<std::optional<Result<ApplyOutcome>>>();
  head_.apply(std::move(file), dry_run, request.uid, sys::now() + head_answers_within,
              [this, outcome](Result<ApplyOutcome> result) {
                *outcome = std::move(result);
                answer_waiting();
              });
  wait_for_head<ApplyOutcome>(outcome, std::move(respond), [dry_run](const ApplyOutcome& applied) {
    Value changes = Value::list();
    for (const auto& change : applied.changes)
      changes.push(Value::map({{"Group", change.group.str()}, {"Text", change.text}}));
    Value warnings = Value::list();
    for (const std::string& line : applied.warnings) warnings.push(line);
    Value plan = Value::list();
    for (const std::string& line : applied.plan) plan.push(line);
    return Value::map({{"Changes", std::move(changes)},
                       {"Plan", std::move(plan)},
                       {"Warnings", std::move(warnings)},
                       {"Applied", !dry_run}});
  });
}

void Api::status(const HttpRequest&, Responder respond) {
  respond(HttpReply::ok(logic::status_view(head_.state(), sys::now())));
}

void Api::nodes(const HttpRequest& request, Responder respond) {
  const GroupName group{request.body.text_or("InstanceGroupName")};
  if (!group.empty() && !head_.state().spec->find_group(group))
    return respond(not_found("there is no group \"" + group.str() + "\""));
  respond(HttpReply::ok(logic::nodes_view(head_.state(), group, sys::now())));
}

void Api::why(const HttpRequest& request, Responder respond) {
  std::string name = request.body.text_or("Name");
  for (const char* key : {"Node", "Group"})
    if (name.empty()) name = request.body.text_or(key);
  if (const std::int64_t job = request.body.integer_or("Job"); name.empty() && job > 0) name = std::to_string(job);
  if (const Result<Value> view = logic::why_view(head_.state(), name, sys::now())) return respond(HttpReply::ok(*view));
  // A job that was submitted a moment ago is not known yet: look before saying no.
  head_.look_then([this, name, respond] {
    const Result<Value> view = logic::why_view(head_.state(), name, sys::now());
    respond(view ? HttpReply::ok(*view) : not_found(view.error().message));
  });
}

void Api::run_command(const logic::Command& command, const HttpRequest& request, const Responder& respond) {
  const Result<std::string> answer = head_.run_command(command, request.uid);
  respond(answer ? HttpReply::ok(Value::map({{"Message", *answer}})) : error_reply(answer.error()));
}

void Api::doctor(const HttpRequest&, Responder respond) {
  doctor_.examine([respond = std::move(respond)](Value findings) { respond(HttpReply::ok(std::move(findings))); });
}

void Api::open_group(const HttpRequest& request, Responder respond) {
  run_command(logic::OpenGroup{group_member(request.body)}, request, respond);
}

void Api::scale(const HttpRequest& request, Responder respond) {
  const auto target = count_member(request.body, "TargetCount");
  const auto min = count_member(request.body, "MinCount");
  if (!target && !min) return respond(validation_error("expected TargetCount, MinCount or both, found neither"));
  run_command(logic::ScaleGroup{group_member(request.body), target, min}, request, respond);
}

void Api::add_nodes(const HttpRequest& request, Responder respond) {
  run_command(logic::AddNodes{group_member(request.body), count_member(request.body, "Count").value_or(0)}, request,
              respond);
}

template <typename Command>
void Api::to_nodes(const HttpRequest& request, Responder respond) {
  auto nodes = nodes_member(request.body);
  if (!nodes) return respond(error_reply(nodes.error()));
  run_command(Command{*std::move(nodes)}, request, respond);
}

void Api::delete_group(const HttpRequest& request, Responder respond) {
  run_command(logic::DeleteGroup{group_member(request.body)}, request, respond);
}

void Api::delete_cluster(const HttpRequest& request, Responder respond) {
  if (names_our_cluster(request, respond)) run_command(logic::DeleteCluster{}, request, respond);
}

void Api::plan(const HttpRequest&, Responder respond) { respond(HttpReply::ok(logic::plan_view(head_.preview()))); }

void Api::resync(const HttpRequest& request, Responder respond) {
  const bool dry_run = request.body.boolean_or("DryRun");
  const auto outcome = std::make_shared<std::optional<Result<ResyncOutcome>>>();
  head_.resync(dry_run, request.uid, sys::now() + head_answers_within, [this, outcome](Result<ResyncOutcome> result) {
    *outcome = std::move(result);
    answer_waiting();
  });
  wait_for_head<ResyncOutcome>(outcome, std::move(respond), [dry_run](const ResyncOutcome& looked) {
    Value failed = Value::list();
    for (const auto& [group, message] : looked.failed)
      failed.push(Value::map({{"InstanceGroupName", group.str()}, {"Message", message}}));
    Value view = logic::plan_view(looked.plan);
    view.set("Failed", std::move(failed));
    view.set("DryRun", dry_run);
    view.set("Message", looked.message);
    return view;
  });
}

void Api::wait_for(const HttpRequest& request, Responder respond) {
  const GroupName group = group_member(request.body);
  const std::string word = request.body.text_or("For");
  const auto what = logic::wait_for_from_name(word);
  if (!what) {
    return respond(
        validation_error("For: expected inservice, target or deleted, found \"" + word.substr(0, 80) + "\""));
  }
  const auto& spec = head_.state().spec;
  if (*what != logic::WaitFor::deleted && !(spec && spec->find_group(group)))
    return respond(not_found("there is no group \"" + group.str().substr(0, 80) + "\""));
  const std::string known = request.body.text_or("KnownText");
  wait(wait_seconds(request.body), [this, group, what = *what, known, respond](bool last) {
    const logic::WaitOutcome outcome = logic::judge_wait(head_.state(), group, what);
    const bool is_news = outcome.state != logic::WaitOutcome::State::waiting || outcome.text != known;
    if (!is_news && !last) return false;
    respond(HttpReply::ok(Value::map({{"State", logic::wait_state_name(outcome.state)}, {"Text", outcome.text}})));
    return true;
  });
}

Value Api::events_after(std::int64_t sequence, std::size_t limit, const GroupName& group) const {
  Value list = Value::list();
  std::int64_t last = sequence;
  const auto& events = head_.state().events;
  const auto first =
      std::lower_bound(events.begin(), events.end(), sequence + 1,
                       [](const logic::StoredEvent& event, std::int64_t wanted) { return event.sequence < wanted; });
  for (auto event = first; event != events.end() && list.items().size() < limit; ++event) {
    last = event->sequence;
    if (group.empty() || event->event.group == group) list.push(logic::event_view(*event));
  }
  return Value::map({{"Events", std::move(list)}, {"LastSequence", last}});
}

void Api::events(const HttpRequest& request, Responder respond) {
  const GroupName group{request.body.text_or("InstanceGroupName")};
  const auto limit = static_cast<std::size_t>(std::clamp<std::int64_t>(request.body.integer_or("Limit", 100), 1, 1000));
  const auto& events = head_.state().events;
  std::int64_t after = 0;
  if (request.body.find("AfterSequence")) {
    after = request.body.integer_or("AfterSequence");
  } else {
    std::size_t wanted = limit;
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      if (group.empty() || event->event.group == group) --wanted;
      if (wanted == 0) {
        after = event->sequence - 1;
        break;
      }
    }
  }
  wait(wait_seconds(request.body), [this, after, limit, group, respond](bool last) {
    Value view = events_after(after, limit, group);
    if (view.list_or_empty("Events").empty() && !last) return false;
    respond(HttpReply::ok(std::move(view)));
    return true;
  });
}

Value Api::assignment(const InstanceId& instance, const std::string& boot_id) const {
  const logic::Time now = sys::now();
  const Head::SlotPlace place = head_.find_slot(instance);
  logic::Assignment assignment;
  assignment.head_time = now;
  if (!place.slot || !place.spec) {
    assignment.message =
        "machine " + instance.str() + " is not (or no longer) one of this cluster's; waiting to be known";
    return logic::assignment_body(assignment, "", "");
  }
  if (head_.is_refused(instance, boot_id)) {
    assignment.message = "another machine is " + instance.str() + " and reports as that; two cannot have one id";
    return logic::assignment_body(assignment, "", "");
  }
  const logic::HeadState& state = head_.state();
  const logic::GroupSpec& spec = *place.spec;
  const logic::SlotRecord& slot = *place.slot;
  assignment.generation = slot.generation;
  assignment.assigned = true;
  assignment.node = slot.name;
  assignment.group = spec.name;
  assignment.node_conf = logic::node_conf(spec);
  assignment.gres = spec.gres;
  assignment.cpus = spec.cpus;
  assignment.memory_mib = spec.memory_mib;
  assignment.slurmd_start = logic::allowed_slurmd_start(slot, boot_id);
  assignment.runs_slurmd = spec.joins_slurm();
  assignment.has_line = spec.registration == logic::Registration::slurm_conf;
  assignment.conf_server = head_.settings().conf_server;
  if (assignment.conf_server == "none") assignment.conf_server.clear();
  if (assignment.conf_server == "auto")
    assignment.conf_server = head_.state().facts ? head_.state().facts->conf_server() : "";
  return logic::assignment_body(assignment, logic::instance_status(slot, now),
                                logic::SlotWords(state, now).message(spec, state.ledger.groups.at(spec.name), slot));
}

void Api::sync_node(const HttpRequest& request, Responder respond) {
  auto report = logic::read_report(request.body);
  if (!report) return respond(error_reply(report.error()));
  // Where a node does not say its address, it is where its request came from.
  if (report->address.empty() && logic::is_numeric_address(request.peer_address))
    report->address = request.peer_address;
  if (report->address.empty())
    return respond(
        validation_error("Address: expected a numeric address, since the request came over the local socket"));
  const InstanceId instance = report->instance;
  const std::string boot_id = report->boot_id;
  head_.note_heard(instance, boot_id);
  const std::int64_t known = request.body.integer_or("KnownGeneration");
  head_.take_report(*std::move(report));
  wait(wait_seconds(request.body), [this, instance, boot_id, known, respond](bool last) {
    // The node asks its other servers then.
    if (is_refused_on_standby(respond)) return true;
    Value answer = assignment(instance, boot_id);
    if (answer.integer_or("Generation") == known && !last) return false;
    answer.set("HeadTime", logic::to_seconds(sys::now()));
    respond(HttpReply::ok(std::move(answer)));
    return true;
  });
}

// ---- HyperPod's ----

bool Api::names_our_cluster(const HttpRequest& request, const Responder& respond) const {
  const std::string name = request.body.text_or("ClusterName");
  const logic::ClusterSpec& spec = *head_.state().spec;
  if (name == spec.name || name == logic::cluster_arn(spec)) return true;
  respond(name.empty() ? validation_error("ClusterName: expected a name or ARN, found nothing")
                       : not_found("there is no cluster \"" + name.substr(0, 80) + "\""));
  return false;
}

void Api::describe_cluster(const HttpRequest& request, Responder respond) {
  if (names_our_cluster(request, respond)) respond(HttpReply::ok(logic::describe_cluster_view(head_.state())));
}

void Api::list_clusters(const HttpRequest&, Responder respond) {
  Value summaries = Value::list();
  if (head_.state().spec) summaries.push(logic::cluster_summary_view(head_.state()));
  respond(HttpReply::ok(Value::map({{"ClusterSummaries", std::move(summaries)}})));
}

namespace {

/// One page of a list that has a natural order: NextToken is the number of entries already given.
struct Page {
  std::size_t begin = 0;
  std::size_t size = 100;
};

Result<Page> read_page(const Value& body) {
  Page page;
  const std::int64_t size = body.integer_or("MaxResults", 100);
  if (size < 1 || size > 100)
    return logic::reject_error("MaxResults: expected 1 to 100, found " + std::to_string(size));
  page.size = static_cast<std::size_t>(size);
  if (const std::string token = body.text_or("NextToken"); !token.empty()) {
    if (token.size() > 9 || !std::all_of(token.begin(), token.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      return logic::reject_error("NextToken: expected one that this operation gave out");
    }
    page.begin = std::stoul(token);
  }
  return page;
}

void add_next_token(Value& reply, const Page& page, std::size_t total) {
  if (page.begin + page.size < total) reply.set("NextToken", std::to_string(page.begin + page.size));
}

}  // namespace

void Api::list_cluster_nodes(const HttpRequest& request, Responder respond) {
  if (!names_our_cluster(request, respond)) return;
  const auto page = read_page(request.body);
  if (!page) return respond(error_reply(page.error()));
  const std::string group_part = request.body.text_or("InstanceGroupNameContains");
  const bool with_logical_ids = request.body.boolean_or("IncludeNodeLogicalIds");
  Value summaries = Value::list();
  std::size_t total = 0;
  for (const logic::GroupSpec& spec : head_.state().spec->groups) {
    const auto record = head_.state().ledger.groups.find(spec.name);
    if (record == head_.state().ledger.groups.end() || spec.name.str().find(group_part) == std::string::npos) continue;
    for (const logic::SlotRecord& slot : record->second.slots) {
      if (slot.instance.empty() && !with_logical_ids) continue;  // only nodes that have an instance id
      if (total >= page->begin && total < page->begin + page->size) {
        summaries.push(
            logic::node_summary_view(head_.state(), spec, record->second, slot, with_logical_ids, sys::now()));
      }
      ++total;
    }
  }
  Value reply = Value::map({{"ClusterNodeSummaries", std::move(summaries)}});
  add_next_token(reply, *page, total);
  respond(HttpReply::ok(std::move(reply)));
}

void Api::describe_cluster_node(const HttpRequest& request, Responder respond) {
  if (!names_our_cluster(request, respond)) return;
  const std::string instance = request.body.text_or("NodeId");
  const std::string logical = request.body.text_or("NodeLogicalId");
  if (instance.empty() == logical.empty())
    return respond(validation_error("expected NodeId or NodeLogicalId, and not both"));
  for (const logic::GroupSpec& spec : head_.state().spec->groups) {
    const auto record = head_.state().ledger.groups.find(spec.name);
    if (record == head_.state().ledger.groups.end()) continue;
    for (const logic::SlotRecord& slot : record->second.slots) {
      if (logical.empty() ? slot.instance.str() != instance : slot.name.str() != logical) continue;
      return respond(HttpReply::ok(Value::map(
          {{"NodeDetails", logic::node_details_view(head_.state(), spec, record->second, slot, sys::now())}})));
    }
  }
  respond(not_found("there is no node \"" + (instance + logical).substr(0, 130) + "\""));
}

void Api::list_cluster_events(const HttpRequest& request, Responder respond) {
  if (!names_our_cluster(request, respond)) return;
  const auto page = read_page(request.body);
  if (!page) return respond(error_reply(page.error()));
  const std::string group = request.body.text_or("InstanceGroupName");
  const std::string instance = request.body.text_or("NodeId");
  const double after = request.body.real_or("EventTimeAfter", 0);
  const double before = request.body.real_or("EventTimeBefore", 1e18);
  const bool ascending = request.body.text_or("SortOrder") == "Ascending";
  std::vector<const logic::StoredEvent*> chosen;
  for (const logic::StoredEvent& event : head_.state().events) {
    const double time = logic::to_seconds(event.time);
    if (time < after || time > before || (!group.empty() && event.event.group.str() != group)) continue;
    if (!instance.empty() && event.event.instance.str() != instance) continue;
    chosen.push_back(&event);
  }
  if (!ascending) std::reverse(chosen.begin(), chosen.end());
  Value events = Value::list();
  for (std::size_t i = page->begin; i < std::min(chosen.size(), page->begin + page->size); ++i) {
    events.push(logic::event_summary_view(*head_.state().spec, *chosen[i]));
  }
  Value reply = Value::map({{"Events", std::move(events)}});
  add_next_token(reply, *page, chosen.size());
  respond(HttpReply::ok(std::move(reply)));
}

void Api::describe_cluster_event(const HttpRequest& request, Responder respond) {
  if (!names_our_cluster(request, respond)) return;
  const std::string id = request.body.text_or("EventId");
  for (const logic::StoredEvent& event : head_.state().events) {
    if (event.id == id)
      return respond(
          HttpReply::ok(Value::map({{"EventDetails", logic::event_summary_view(*head_.state().spec, event)}})));
  }
  respond(not_found("there is no event \"" + id.substr(0, 80) + "\""));
}

// ---- Long-polls ----

template <typename Outcome>
void Api::wait_for_head(std::shared_ptr<std::optional<Result<Outcome>>> outcome, Responder respond,
                        std::function<Value(const Outcome&)> view) {
  wait(head_answers_within,
       [outcome = std::move(outcome), respond = std::move(respond), view = std::move(view)](bool last) {
         if (*outcome) {
           const Result<Outcome>& result = **outcome;
           respond(result ? HttpReply::ok(view(*result)) : error_reply(result.error()));
           return true;
         }
         if (!last) return false;
         respond(HttpReply::failure(503, "ServiceUnavailable",
                                    "Slurm has not answered within " + logic::duration_text(head_answers_within) +
                                        ", so nothing was changed"));
         return true;
       });
}

void Api::wait(logic::Duration limit, std::function<bool(bool)> try_answer) {
  if (try_answer(limit.count() == 0)) return;
  const auto entry = waiting_.emplace(waiting_.end());
  entry->try_answer = std::move(try_answer);
  entry->timer = loop_.after(limit, [this, entry] {
    entry->try_answer(true);
    // The timer may not be destroyed from within its own call by way of the list: take it out first.
    const sys::EventLoop::Handle own_timer = std::move(entry->timer);
    waiting_.erase(entry);
  });
}

void Api::answer_waiting() {
  for (auto entry = waiting_.begin(); entry != waiting_.end();) {
    entry = entry->try_answer(false) ? waiting_.erase(entry) : std::next(entry);
  }
}

}  // namespace muster::musterd
