// SPDX-License-Identifier: GPL-2.0-or-later
#include "slurm_helper/operations.hpp"

#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <ctime>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "slurm_helper/host_names.hpp"
#include "slurm_helper/records.hpp"
#include "slurm_helper/slurm_errors.hpp"

namespace muster::slurm_helper {
namespace {

using logic::Value;

/// slurmctld takes "ALL", names of node sets, lists and ranges where we mean one name each.
bool is_safe_name(const std::string& name, const char* more_letters) {
  if (name.empty()) return false;
  for (char letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) == 0 && std::string_view("-_.").find(letter) == std::string_view::npos &&
        std::string_view(more_letters).find(letter) == std::string_view::npos)
      return false;
  }
  std::string lower;
  for (char letter : name) lower.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(letter))));
  return lower != "all";
}

/// The texts of a member list; nothing where it is absent, empty or holds something else.
std::optional<std::vector<std::string>> texts(const Value& request, const char* key, const char* more_letters = "") {
  std::vector<std::string> result;
  for (const Value& item : request.list_or_empty(key)) {
    const std::string* name = item.as_text();
    if (name == nullptr || !is_safe_name(*name, more_letters)) return std::nullopt;
    result.push_back(*name);
  }
  if (result.empty()) return std::nullopt;
  return result;
}

std::time_t since(const Value& request) { return static_cast<std::time_t>(request.integer_or("since")); }

/// errno as libslurm left it; some of its failures set none.
int last_error() { return errno; }

Value done() { return Value::map({{"ok", true}}); }

Value unchanged(const Value& request) {
  return Value::map({{"ok", true}, {"last_update", request.integer_or("since")}, {"changed", false}});
}

std::optional<std::uint32_t> state_of(const std::string& name) {
  static const std::map<std::string, std::uint32_t> states = {
      {"DRAIN", static_cast<std::uint32_t>(NODE_STATE_DRAIN)},
      {"IDLE", NODE_STATE_IDLE},
      {"UNDRAIN", static_cast<std::uint32_t>(NODE_STATE_UNDRAIN)},
      {"RESUME", static_cast<std::uint32_t>(NODE_RESUME)},
      {"FUTURE", NODE_STATE_FUTURE},
      {"DOWN", NODE_STATE_DOWN},
  };
  const auto found = states.find(name);
  if (found == states.end()) return std::nullopt;
  return found->second;
}

update_node_msg_t new_node_message(std::string& names) {
  update_node_msg_t message{};
  slurm_init_update_node_msg(&message);
  message.node_names = names.data();
  return message;
}

/// The node sets of slurm.conf: by libslurm's own reader, and, should that be gone, those that a partition names.
Value node_sets_of(const partition_info_msg_t& partitions) {
  std::set<std::string> names = configured_node_sets();
  for (std::uint32_t index = 0; index < partitions.record_count; ++index) {
    const char* list = partitions.partition_array[index].nodesets;
    std::string name;
    for (const char* at = list; at != nullptr; ++at) {
      if (*at != ',' && *at != '\0') {
        name.push_back(*at);
        continue;
      }
      if (!name.empty()) names.insert(std::exchange(name, {}));
      if (*at == '\0') break;
    }
  }
  Value result = Value::list();
  for (const std::string& name : names) result.push(Value(name));
  return result;
}

}  // namespace

Value Operations::run(const Value& request) {
  using Operation = Value (Operations::*)(const Value&);
  static const std::map<std::string, Operation> operations = {
      {"nodes", &Operations::nodes},
      {"create", &Operations::create},
      {"update", &Operations::update},
      {"addresses", &Operations::addresses},
      {"delete", &Operations::remove},
      {"jobs", &Operations::jobs},
      {"release", &Operations::release},
      {"partitions", &Operations::partitions},
      {"config", &Operations::config},
      {"reservations", &Operations::reservations},
      {"reconfigure", &Operations::reconfigure},
      {"ping", &Operations::ping},
  };
  rpcs_ = 0;
  const std::string name = request.text_or("op");
  const auto found = operations.find(name);
  if (found == operations.end()) return bad_request("unknown operation \"" + name + "\"");
  errno = 0;
  Value reply = (this->*found->second)(request);
  reply.set("rpcs", Value(rpcs_));
  return reply;
}

Value Operations::nodes(const Value& request) {
  node_info_msg_t* raw = nullptr;
  ++rpcs_;
  const int code = slurm_load_node(since(request), &raw, SHOW_ALL | SHOW_FUTURE | SHOW_DETAIL | SHOW_MIXED);
  const NodeMessage message(raw);
  if (code != SLURM_SUCCESS) {
    const int error = last_error();
    return error == SLURM_NO_CHANGE_IN_DATA ? unchanged(request) : failure(error);
  }
  // Which partitions a node is in is told by the partitions only.
  partition_info_msg_t* raw_partitions = nullptr;
  ++rpcs_;
  const bool has_partitions = slurm_load_partitions(0, &raw_partitions, SHOW_ALL | SHOW_FUTURE) == SLURM_SUCCESS;
  const PartitionMessage partitions(raw_partitions);
  if (!has_partitions) return failure(last_error());
  slurm_populate_node_partitions(message.get(), partitions.get());
  Value::List list;
  list.reserve(message->record_count);
  for (std::uint32_t index = 0; index < message->record_count; ++index) {
    const node_info_t& node = message->node_array[index];
    // A deleted node leaves a hole in the table.
    if (node.name != nullptr && *node.name != '\0') list.push_back(node_value(node));
  }
  return Value::map({{"ok", true},
                     {"last_update", Value(std::int64_t{message->last_update})},
                     {"changed", true},
                     {"nodes", Value(std::move(list))}});
}

Value Operations::create(const Value& request) {
  const auto names = texts(request, "names");
  if (!names) return bad_request("create: \"names\" has to be a list of node names");
  const std::string line = request.text_or("line");
  if (line.find('\n') != std::string::npos) return bad_request("create: \"line\" has to be one line");
  std::string node_names = compress_names(*names);
  std::string whole_line = "NodeName=" + node_names + " " + line + " State=FUTURE";
  update_node_msg_t message = new_node_message(node_names);
  message.extra = whole_line.data();
  message.node_state = NODE_STATE_FUTURE;
  ++rpcs_;
  if (slurm_create_node(&message) != SLURM_SUCCESS) return failure(last_error());
  return done();
}

Value Operations::update(const Value& request) {
  const auto names = texts(request, "names");
  if (!names) return bad_request("update: \"names\" has to be a list of node names");
  const auto state = state_of(request.text_or("state"));
  if (!state) return bad_request("update: \"state\" has to be DRAIN, IDLE, UNDRAIN, RESUME, FUTURE or DOWN");
  std::string node_names = compress_names(*names);
  std::string reason = request.text_or("reason");
  update_node_msg_t message = new_node_message(node_names);
  message.node_state = *state;
  if (!reason.empty()) {
    message.reason = reason.data();
    set_reason_uid(message, getuid());
  }
  ++rpcs_;
  if (slurm_update_node(&message) != SLURM_SUCCESS) return failure(last_error());
  return done();
}

Value Operations::addresses(const Value& request) {
  const auto names = texts(request, "names");
  const auto addresses = texts(request, "addresses", ":%");
  if (!names || !addresses || names->size() != addresses->size())
    return bad_request("addresses: \"names\" and \"addresses\" have to be lists of the same length");
  auto [node_names, node_addresses] = compress_pairs(*names, *addresses);
  update_node_msg_t message = new_node_message(node_names);
  message.node_addr = node_addresses.data();
  ++rpcs_;
  if (slurm_update_node(&message) != SLURM_SUCCESS) return failure(last_error());
  return done();
}

Value Operations::remove(const Value& request) {
  const auto names = texts(request, "names");
  if (!names) return bad_request("delete: \"names\" has to be a list of node names");
  std::string node_names = compress_names(*names);
  update_node_msg_t message = new_node_message(node_names);
  ++rpcs_;
  if (slurm_delete_node(&message) != SLURM_SUCCESS) return failure(last_error());
  return done();
}

Value Operations::jobs(const Value& request) {
  job_info_msg_t* raw = nullptr;
  ++rpcs_;
  const int code = slurm_load_jobs(since(request), &raw, SHOW_ALL | SHOW_DETAIL);
  const JobMessage message(raw);
  if (code != SLURM_SUCCESS) {
    const int error = last_error();
    return error == SLURM_NO_CHANGE_IN_DATA ? unchanged(request) : failure(error);
  }
  const bool all = request.boolean_or("all");
  Value::List list;
  list.reserve(message->record_count);
  for (std::uint32_t index = 0; index < message->record_count; ++index) {
    const slurm_job_info_t& job = message->job_array[index];
    if (all || is_active(job)) list.push_back(job_value(job));
  }
  return Value::map({{"ok", true},
                     {"last_update", Value(std::int64_t{message->last_update})},
                     {"changed", true},
                     {"jobs", Value(std::move(list))}});
}

namespace {

/// Slurm answers an update of a job array with a code for each group of its tasks; the first bad one counts.
Value update_outcome(int code, const job_array_resp_msg_t* response) {
  if (code != SLURM_SUCCESS) return failure(last_error());
  for (std::uint32_t index = 0; response != nullptr && index < response->job_array_count; ++index) {
    const int error = static_cast<int>(response->error_code[index]);
    if (error == SLURM_SUCCESS) continue;
    Value reply = failure(error);
    if (const char* words = job_error_text(*response, index); words != nullptr) reply.set("error", Value(words));
    return reply;
  }
  return done();
}

}  // namespace

Value Operations::release(const Value& request) {
  Value results = Value::list();
  Value unreachable;  // once slurmctld is away, the rest is not tried: each call could block for seconds
  for (const Value& wanted : request.list_or_empty("jobs")) {
    const std::int64_t id = wanted.integer_or("id");
    Value outcome = unreachable;
    if (outcome.is_null()) {
      std::string id_text = std::to_string(id);
      std::string comment = wanted.text_or("admin_comment");
      job_desc_msg_t message{};
      slurm_init_job_desc_msg(&message);
      message.job_id_str = id_text.data();
      message.priority = INFINITE;
      if (!comment.empty()) message.admin_comment = comment.data();
      job_array_resp_msg_t* raw = nullptr;
      ++rpcs_;
      errno = 0;
      const int code = slurm_update_job2(&message, &raw);
      const JobResponse response(raw);
      outcome = update_outcome(code, response.get());
      if (outcome.text_or("class") == "unreachable") unreachable = outcome;
    }
    outcome.set("id", Value(id));
    results.push(std::move(outcome));
  }
  return Value::map({{"ok", true}, {"results", std::move(results)}});
}

Value Operations::reservations(const Value& request) {
  reserve_info_msg_t* raw = nullptr;
  ++rpcs_;
  const int code = slurm_load_reservations(since(request), &raw);
  const ReservationMessage message(raw);
  if (code != SLURM_SUCCESS) {
    const int error = last_error();
    return error == SLURM_NO_CHANGE_IN_DATA ? unchanged(request) : failure(error);
  }
  Value list = Value::list();
  for (std::uint32_t index = 0; index < message->record_count; ++index)
    list.push(reservation_value(message->reservation_array[index]));
  return Value::map({{"ok", true},
                     {"last_update", Value(std::int64_t{message->last_update})},
                     {"changed", true},
                     {"reservations", std::move(list)}});
}

Value Operations::partitions(const Value& /*request*/) {
  partition_info_msg_t* raw = nullptr;
  ++rpcs_;
  const int code = slurm_load_partitions(0, &raw, SHOW_ALL | SHOW_FUTURE);
  const PartitionMessage message(raw);
  if (code != SLURM_SUCCESS) return failure(last_error());
  Value list = Value::list();
  for (std::uint32_t index = 0; index < message->record_count; ++index)
    list.push(partition_value(message->partition_array[index]));
  return Value::map({{"ok", true}, {"partitions", std::move(list)}});
}

Value Operations::config(const Value& /*request*/) {
  slurm_conf_t* raw = nullptr;
  ++rpcs_;
  const int code = slurm_load_ctl_conf(0, &raw);
  const ConfigMessage message(raw);
  if (code != SLURM_SUCCESS) return failure(last_error());
  Value reply = config_value(*message);
  reply.set("ok", Value(true));
  partition_info_msg_t* raw_partitions = nullptr;
  ++rpcs_;
  const bool has_partitions = slurm_load_partitions(0, &raw_partitions, SHOW_ALL | SHOW_FUTURE) == SLURM_SUCCESS;
  const PartitionMessage partitions(raw_partitions);
  if (!has_partitions) return failure(last_error());
  reply.set("node_sets", node_sets_of(*partitions));
  return reply;
}

Value Operations::reconfigure(const Value& /*request*/) {
  ++rpcs_;
  if (slurm_reconfigure() != SLURM_SUCCESS) return failure(last_error());
  return done();
}

Value Operations::ping(const Value& /*request*/) {
  ConfigMessage asked;
  const slurm_conf_t* config = own_config();
  if (config == nullptr) {
    slurm_conf_t* raw = nullptr;
    ++rpcs_;
    const int code = slurm_load_ctl_conf(0, &raw);
    asked.reset(raw);
    if (code != SLURM_SUCCESS) return failure(last_error());
    config = raw;
  }
  const auto text = [](const char* words) { return Value(words != nullptr ? words : ""); };
  Value controllers = Value::list();
  bool found = config->control_cnt < 2;  // a single one is in control or nobody is
  for (std::uint32_t index = 0; index < config->control_cnt; ++index) {
    Value answers;
    if (!found) {
      ++rpcs_;
      found = slurm_ping(static_cast<int>(index)) == SLURM_SUCCESS;
      answers = Value(found);
    }
    controllers.push(Value::map({{"host", text(config->control_machine[index])},
                                 {"address", text(config->control_addr[index])},
                                 {"answers", std::move(answers)}}));
  }
  return Value::map({{"ok", true}, {"controllers", std::move(controllers)}});
}

}  // namespace muster::slurm_helper
