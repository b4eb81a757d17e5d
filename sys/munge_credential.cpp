// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/munge_credential.hpp"

#include <munge.h>

#include <cstdlib>
#include <ctime>
#include <memory>
#include <string_view>
#include <type_traits>

namespace muster::sys {
namespace {

using logic::Error;

struct ContextDestroy {
  void operator()(munge_ctx_t context) const { munge_ctx_destroy(context); }
};
using Context = std::unique_ptr<std::remove_pointer_t<munge_ctx_t>, ContextDestroy>;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

logic::Result<Context> make_context(const std::string& socket) {
  Context context(munge_ctx_create());
  if (!context) return logic::retry_error("munge: no memory for a context");
  if (!socket.empty() && munge_ctx_set(context.get(), MUNGE_OPT_SOCKET, socket.c_str()) != EMUNGE_SUCCESS)
    return logic::reject_error("munge: the socket name " + socket + " is not usable");
  return context;
}

std::string socket_words(const std::string& socket) { return socket.empty() ? "" : " at " + socket; }

Error munge_error(std::string_view what, munge_err_t code, munge_ctx_t context, const std::string& socket) {
  const char* words = munge_ctx_strerror(context);
  std::string sentence = "munge" + socket_words(socket) + ": " + std::string(what) + ": " +
                         (words != nullptr ? words : munge_strerror(code));
  const bool passing = code == EMUNGE_SOCKET || code == EMUNGE_TIMEOUT || code == EMUNGE_NO_MEMORY;
  return passing ? logic::retry_error(std::move(sentence)) : logic::reject_error(std::move(sentence));
}

std::time_t context_time(munge_ctx_t context, munge_opt_t option) {
  std::time_t time = 0;
  return munge_ctx_get(context, option, &time) == EMUNGE_SUCCESS ? time : 0;
}

/// For the two failures that mean clocks apart: by how much.
Error clock_error(munge_err_t code, munge_ctx_t context) {
  const auto encoded = context_time(context, MUNGE_OPT_ENCODE_TIME);
  const auto decoded = context_time(context, MUNGE_OPT_DECODE_TIME);
  if (code == EMUNGE_CRED_EXPIRED)
    return logic::reject_error("the MUNGE credential has expired: it is " + std::to_string(decoded - encoded) +
                               " s old by our clock; are the clocks of both machines in step?");
  return logic::reject_error("the MUNGE credential comes from the future: its sender's clock is " +
                             std::to_string(encoded - decoded) + " s ahead of ours");
}

}  // namespace

logic::Result<std::string> munge_encode(const std::string& payload, const std::string& socket) {
  auto context = make_context(socket);
  if (!context) return context.error();
  char* credential = nullptr;
  const munge_err_t code =
      ::munge_encode(&credential, context->get(), payload.data(), static_cast<int>(payload.size()));
  const std::unique_ptr<char, Free> owner(credential);
  if (code != EMUNGE_SUCCESS) return munge_error("cannot make a credential", code, context->get(), socket);
  return std::string(credential);
}

logic::Result<MungeIdentity> munge_decode(const std::string& credential, const std::string& socket) {
  auto context = make_context(socket);
  if (!context) return context.error();
  void* payload = nullptr;
  int size = 0;
  MungeIdentity identity;
  const munge_err_t code =
      ::munge_decode(credential.c_str(), context->get(), &payload, &size, &identity.uid, &identity.gid);
  const std::unique_ptr<void, Free> owner(payload);
  if (code == EMUNGE_CRED_EXPIRED || code == EMUNGE_CRED_REWOUND) return clock_error(code, context->get());
  if (code == EMUNGE_CRED_REPLAYED) return logic::reject_error("the MUNGE credential was used before");
  if (code != EMUNGE_SUCCESS) return munge_error("cannot check a credential", code, context->get(), socket);
  if (payload != nullptr && size > 0)
    identity.payload.assign(static_cast<const char*>(payload), static_cast<std::size_t>(size));
  identity.encoded_at =
      logic::time_from_milliseconds(std::int64_t{context_time(context->get(), MUNGE_OPT_ENCODE_TIME)} * 1000);
  return identity;
}

}  // namespace muster::sys
