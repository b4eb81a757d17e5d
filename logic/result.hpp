// SPDX-License-Identifier: GPL-2.0-or-later
//
// Result<T>: a value or an Error. Ordinary failure is a value here; exceptions come only from libraries and are turned
// into an Error by the adapter in sys/ that called them.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace muster::logic {

/// What the caller may do about a failure.
enum class ErrorKind {
  retry,     ///< passing trouble: the same call may go well later
  reject,    ///< the input is wrong: the same call will fail again until somebody changes something
  absent,    ///< what it names is not there
  conflict,  ///< not in the present state of things
  bug,       ///< a state we believed impossible
};

/// A failure: its kind, and one sentence for the operator that says what was tried, what was expected and what was
/// found.
struct Error {
  ErrorKind kind = ErrorKind::bug;
  std::string message;
};

inline Error retry_error(std::string message) { return {ErrorKind::retry, std::move(message)}; }
inline Error reject_error(std::string message) { return {ErrorKind::reject, std::move(message)}; }
inline Error absent_error(std::string message) { return {ErrorKind::absent, std::move(message)}; }
inline Error conflict_error(std::string message) { return {ErrorKind::conflict, std::move(message)}; }
inline Error bug_error(std::string message) { return {ErrorKind::bug, std::move(message)}; }

/// Asking a Result for what it does not hold is a mistake of the program, and throws std::bad_variant_access.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : content_(std::move(value)) {}  // NOLINT(google-explicit-constructor): "return value;" must read well
  Result(Error error) : content_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return std::holds_alternative<T>(content_); }
  const T& value() const& { return std::get<T>(content_); }
  T& value() & { return std::get<T>(content_); }
  T&& value() && { return std::get<T>(std::move(content_)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  const Error& error() const { return std::get<Error>(content_); }

 private:
  std::variant<T, Error> content_;
};

/// The result of something done for its effect.
struct Done {};
using Status = Result<Done>;

}  // namespace muster::logic
