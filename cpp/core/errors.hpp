#pragma once

#include <stdexcept>
#include <string>

namespace recommit {

/// A wrong value from the caller; the message names the argument and both values. Python: ValueError.
struct ValueError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// A malformed level; line and column count from 1, 0 where the whole text is meant. Python: recommit.LevelError.
struct LevelError : ValueError {
  LevelError(const std::string& what, int line_, int column_) : ValueError(what), line(line_), column(column_) {}
  int line;
  int column;
};

/// Somebody asked a long call to stop. Python: KeyboardInterrupt.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

/// Reading or writing a file failed. Python: OSError.
struct FileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace recommit
