// What one state's search may use, and how a search can end.
#pragma once

#include <cstdint>
#include <limits>

namespace recommit {

/// What a caller allows one state's search to use. Where a limit is hit the answer is kUnknown, never a guess. Python's
/// `recommit.Limits` has the same defaults (tests/unit/puzzles/test_limits.py).
struct Limits {
  std::uint64_t nodes = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t bytes = std::uint64_t{2} << 30;
  double seconds = std::numeric_limits<double>::infinity();
};

/// How a search ended.
enum class Status : std::uint8_t { Exact = 0, Unsolvable = 1, NodeLimit = 2, ByteLimit = 3, TimeLimit = 4 };

}  // namespace recommit
