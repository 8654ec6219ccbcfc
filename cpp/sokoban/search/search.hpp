// The Sokoban search: a state's distance where no table fits.
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

/// Which of the sound short cuts a search takes. Every combination gives the same lengths; tests switch them off.
struct SearchOptions {
  bool freeze = true;      ///< drop states in which boxes hold each other for good
  bool corrals = true;     ///< drop states in which the boxes around a closed-off area cannot be solved by themselves
  bool assignment = true;  ///< boxes compete for goals in the lower bound; off: each takes its nearest
  bool walking = true;     ///< the lower bound counts walks; off: pushes alone
  bool sides = true;       ///< push distances respect where the player can get around a lone box
  bool dominance = true;   ///< drop a way to arrive if walking over from a better one is no longer
  bool first = false;      ///< look for the lexicographically smallest optimal plan, at up to some three times the cost

  // From when on the dearer means are used. They never change lengths either; tests set them to 0.
  std::uint64_t climb_after = 1'000;     ///< expansions until potentials are fitted to the search
  std::uint64_t corrals_after = 20'000;  ///< expansions until corrals are looked at, for as long as that pays
  std::uint32_t eager_nodes = 100'000;   ///< nodes until successors are stored only when they are due
};

/// What a search found out. `length` is a Distance: exact if status is Exact, kUnsolvable if it is Unsolvable, else
/// kUnknown. `lower_bound` is proven in every case (for Unsolvable it is meaningless).
struct SearchResult {
  Status status = Status::Exact;
  Distance length = kUnknown;
  Distance lower_bound = 0;
  std::uint64_t nodes = 0;         ///< expanded
  std::uint64_t bytes = 0;         ///< most memory held at once
  std::vector<std::uint8_t> plan;  ///< an optimal plan if Exact
  bool plan_is_first = false;      ///< the plan is proven to be the lexicographically smallest optimal one
};

/// Length of an optimal solution (walks and pushes) by bounded A* over pushes. A node is (box set, player cell after a
/// push); its successors are all pushes in reach, each with its exact walk, so the answer is optimal in actions.
/// Limits are hard: nodes counts expansions, bytes counts everything the search holds and is checked before each
/// allocation, seconds is looked at every few hundred nodes. A limit that is hit gives kUnknown, the proven lower
/// bound and the reason. Throws Interrupted when the watch was stopped. Deterministic, except for where a time limit
/// strikes.
///
/// The plan: with `first`, the lexicographically smallest optimal plan (up < down < left < right) whenever proving
/// that stays inside the limits, else some optimal plan; plan_is_first tells which.
SearchResult search(const Level& level, const State& state, const Limits& limits = {},
                    const SearchOptions& options = {}, Watch* watch = nullptr);

}  // namespace recommit::sokoban
