// Errors caused by a caller's values.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace recommit {

/// A wrong value from the caller; the message names the argument and both values. Python: ValueError.
struct ValueError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// For a state that failed a check, but is valid when re-read to name its defect: it was changed concurrently.
[[noreturn]] inline void refuse_changing(std::size_t index) {
  throw ValueError(
      "states: expected memory that no other thread writes to, got some that changed during the call, in state " +
      std::to_string(index));
}

/// A malformed level; line and column count from 1, 0 for the whole text. Python: recommit.LevelError.
struct LevelError : ValueError {
  LevelError(const std::string& what, int line_, int column_) : ValueError(what), line(line_), column(column_) {}
  int line;
  int column;
};

/// A long call was asked to stop. Python: KeyboardInterrupt.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

/// Reading or writing a file failed. Python: OSError.
struct FileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace recommit
