// The solver's answer where a level's table is too large.
#pragma once

#include "core/limits.hpp"
#include "core/threads/watch.hpp"
#include "sokoban/level.hpp"
#include "sokoban/solver.hpp"

namespace recommit::sokoban {

/// Answers a state whose table does not fit the limits, by bounded forward search. Boxes outside the region have been
/// judged already. `first` asks for the lexicographically smallest plan, which costs extra.
Solution beyond_table(const Level& level, const State& state, const Limits& limits, bool first, Watch* watch);

}  // namespace recommit::sokoban
