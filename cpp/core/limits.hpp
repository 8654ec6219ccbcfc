// Resource limits of one state's search, and its outcomes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace recommit {

/// Resource limits per state. If one is hit the answer is kUnknown, never a guess. Python's `recommit.Limits` has the
/// same defaults (tests/unit/puzzles/test_limits.py).
struct Limits {
  std::uint64_t nodes = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t bytes = std::uint64_t{2} << 30;
  double seconds = std::numeric_limits<double>::infinity();
};

/// The rest of one state's limits while it is solved, perhaps by a table and several searches: accounts for time and
/// nodes.
class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Budget(const Limits& limits, Clock::time_point begun = Clock::now()) : limits_(limits), begun_(begun) {}

  void spend(std::uint64_t nodes) noexcept { limits_.nodes -= std::min(limits_.nodes, nodes); }

  /// Limits for the next attempt; one that may fail should only take a share of the time.
  Limits left(double share = 1) const {
    Limits left = limits_;
    const double passed = std::chrono::duration<double>(Clock::now() - begun_).count();
    left.seconds = std::max(0.0, share * (limits_.seconds - passed));
    return left;
  }

 private:
  Limits limits_;
  Clock::time_point begun_;
};

/// Outcome of a search.
enum class Status : std::uint8_t { Exact = 0, Unsolvable = 1, NodeLimit = 2, ByteLimit = 3, TimeLimit = 4 };

}  // namespace recommit
