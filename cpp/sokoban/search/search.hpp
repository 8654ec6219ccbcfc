// The Sokoban search: distances of states whose table is too large.
#pragma once

#include <cstdint>
#include <vector>

#include "core/limits.hpp"
#include "core/threads/watch.hpp"
#include "core/types.hpp"
#include "sokoban/level.hpp"

/// The Sokoban search: one state's least number of actions where a table would be too large.
///
/// It is A* over pushes. A node is a set of boxes and the cell where the player came to stand after a push; an edge is
/// the shortest walk to another box and one push, and costs all its actions. The open list yields the least bound on a
/// whole solution first. Bounds never exceed the truth, so the first solution that no open node undercuts is optimal.
/// Where nodes, bytes or seconds run out, the answer is the proven lower bound and the limit that was hit.
///
/// push_bound.hpp         the lower bound: boxes assigned to goals (assignment.hpp), walks included (potentials.hpp)
/// push_graph.hpp         the ways of a lone box, on which the bound and the deadlock rules stand
/// deadlock_freeze.hpp    drops states whose boxes hold each other for good
/// deadlock_corral.hpp    drops states with an area that can neither be opened nor solved
/// search_run.hpp         the search itself; search_store.hpp is its memory, search_plan.cpp reads the plan off
/// beyond_table.hpp       where the solver falls back on it
namespace recommit::sokoban {

/// Sound optimisations of a search. Every combination gives the same lengths; tests switch them off.
struct SearchOptions {
  bool freeze = true;      ///< prune states with frozen boxes off goals
  bool corrals = true;     ///< prune states whose corral cannot be opened or solved by its own boxes
  bool assignment = true;  ///< lower bound by assignment of boxes to goals; off: nearest goals
  bool walking = true;     ///< lower bound includes walks; off: pushes only
  bool sides = true;       ///< push distances respect the player's access around a lone box
  bool dominance = true;   ///< prune nodes that another node reaches by walking without more actions
  bool first = false;      ///< find the lexicographically smallest optimal plan, at up to some three times the cost

  // Thresholds for expensive optimisations, which never change lengths; tests set them to 0.
  std::uint64_t climb_after = 1'000;     ///< expansions until potentials are fitted to the search
  std::uint64_t corrals_after = 20'000;  ///< expansions until corrals are checked, as long as that pays
  std::uint32_t eager_nodes = 100'000;   ///< nodes until successors are generated lazily
};

/// Result of a search. `length` is a Distance: exact if status is Exact, kUnsolvable if Unsolvable, else kUnknown.
/// `lower_bound` is always proven (meaningless for Unsolvable).
struct SearchResult {
  Status status = Status::Exact;
  Distance length = kUnknown;
  Distance lower_bound = 0;
  std::uint64_t nodes = 0;         ///< expanded
  std::uint64_t bytes = 0;         ///< peak memory
  std::vector<std::uint8_t> plan;  ///< an optimal plan if Exact
  bool plan_is_first = false;      ///< the plan is proven to be the lexicographically smallest optimal one
};

/// Length of an optimal solution (walks and pushes) by bounded A* over pushes. A node is (box set, player cell after a
/// push); its successors are all pushes in reach, each with its exact walk, so the answer is optimal in actions. Limits
/// are hard: nodes counts expansions, bytes counts all memory of the search and is checked before each allocation,
/// seconds is checked every few hundred nodes. If a limit is hit, the result is kUnknown, the proven lower bound and
/// the reason. Throws Interrupted when the watch was stopped. Deterministic, except for time limits.
///
/// The plan: with `first`, the lexicographically smallest optimal plan (up < down < left < right) if proving that stays
/// within the limits, else some optimal plan; see plan_is_first.
SearchResult search(const Level& level, const State& state, const Limits& limits = {},
                    const SearchOptions& options = {}, Watch* watch = nullptr);

}  // namespace recommit::sokoban
