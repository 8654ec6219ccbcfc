// Exact distances and optimal plans of Sokoban.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/limits.hpp"
#include "core/threads/watch.hpp"
#include "core/types.hpp"
#include "sokoban/by_level.hpp"
#include "sokoban/table/table_cache.hpp"

namespace recommit::sokoban {

/// Choice among optimal plans: the lexicographically smallest in the order up, down, left, right, or uniform among the
/// optimal actions at every step. Without a table, First is the smallest if the search can prove that within its
/// limits, and Random is an arbitrary optimal plan of the search.
enum class Ties : std::uint8_t { First, Random };

/// The solver's answer for a state. `lower_bound` is always proven (and equals the distance if known).
struct Answer {
  Distance distance = kUnknown;
  Distance lower_bound = 0;
  Status status = Status::Exact;
  std::uint64_t nodes = 0;  ///< expanded by the search; 0 if a table was used
};

struct Solution {
  Answer answer;
  std::vector<std::uint8_t> actions;  ///< empty unless the distance is known and positive
};

/// Exact solver for batches of raw states, whose levels may all differ. If a level's table fits the limits, it is built
/// on first use and shared through the cache; other states are solved by a bounded search. Every call works on one part
/// of its batch and writes only there; an answer depends on the state and the limits (and, for plans, on seed and start
/// + index) alone, so batches may be split over threads arbitrarily.
class Solver {
 public:
  explicit Solver(TableCache& cache = TableCache::shared(), Limits limits = {}) : cache_(cache), limits_(limits) {}

  void distance(const std::uint8_t* states, Shape shape, Distance* out, const Part& part, Watch* watch = nullptr) const;

  /// masks[i * 4 + a] = 1 iff a is an optimal action of states[i]; all 0 if solved, unsolvable or unknown.
  void optimal_actions(const std::uint8_t* states, Shape shape, std::uint8_t* masks, const Part& part,
                       Watch* watch = nullptr) const;

  /// masks[(i * cells + c) * 4 + a] = 1 iff a is optimal in states[i] with its player at grid position c, if c is in
  /// the player's region and holds no box; all 0 elsewhere, and where optimal_actions would be all 0.
  void optimal_actions_everywhere(const std::uint8_t* states, Shape shape, std::uint8_t* masks, const Part& part,
                                  Watch* watch = nullptr) const;

  void solve(const std::uint8_t* states, Shape shape, Ties ties, std::uint64_t seed, std::uint64_t start, Solution* out,
             const Part& part, Watch* watch = nullptr) const;

 private:
  TableCache& cache_;
  Limits limits_;
};

}  // namespace recommit::sokoban
