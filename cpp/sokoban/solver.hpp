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

/// Which optimal plan: the lexicographically smallest in the order up, down, left, right, or at every step one of the
/// optimal actions, uniformly. Beyond tables, First is the smallest wherever the search can prove that within its
/// limits, and Random is whichever optimal plan the search met.
enum class Ties : std::uint8_t { First, Random };

/// What is known about a state. `lower_bound` is proven in every case (and is the distance where that is known).
struct Answer {
  Distance distance = kUnknown;
  Distance lower_bound = 0;
  Status status = Status::Exact;
  std::uint64_t nodes = 0;  ///< expanded by the search; 0 where a table answered
};

struct Solution {
  Answer answer;
  std::vector<std::uint8_t> actions;  ///< empty unless the distance is known and positive
};

/// Exact answers for batches of raw states, whose levels may all differ. A level whose table fits the limits is
/// answered from its table, built on first use and shared through the cache; any other state by a bounded search.
/// Every call works on one part of its batch and writes only there; an answer depends on the state and the limits (and,
/// for plans, on seed and start + index) alone, so batches may be split over threads at will.
class Solver {
 public:
  explicit Solver(TableCache& cache = TableCache::shared(), Limits limits = {}) : cache_(cache), limits_(limits) {}

  void distance(const std::uint8_t* states, Shape shape, Distance* out, const Part& part, Watch* watch = nullptr) const;

  /// masks[i * 4 + a] = 1 iff a is an optimal action of states[i]; all 0 at goals, where unsolvable and where unknown.
  void optimal_actions(const std::uint8_t* states, Shape shape, std::uint8_t* masks, const Part& part,
                       Watch* watch = nullptr) const;

  /// masks[(i * cells + c) * 4 + a] = 1 iff a is optimal in states[i] with its player on grid position c instead, if c
  /// is in the player's region and holds no box; all 0 elsewhere, and where optimal_actions would be all 0.
  void optimal_actions_everywhere(const std::uint8_t* states, Shape shape, std::uint8_t* masks, const Part& part,
                                  Watch* watch = nullptr) const;

  void solve(const std::uint8_t* states, Shape shape, Ties ties, std::uint64_t seed, std::uint64_t start, Solution* out,
             const Part& part, Watch* watch = nullptr) const;

 private:
  TableCache& cache_;
  Limits limits_;
};

}  // namespace recommit::sokoban
