// Solving of states whose level's table is too large.
#pragma once

#include "core/limits.hpp"
#include "core/threads/watch.hpp"
#include "sokoban/level.hpp"
#include "sokoban/solver.hpp"

namespace recommit::sokoban {

/// Solves a state whose table exceeds the limits, by bounded forward search. Boxes outside the region must have been
/// checked before. `first` requests the lexicographically smallest plan, at extra cost.
Solution beyond_table(const Level& level, const State& state, const Limits& limits, bool first, Watch* watch);

}  // namespace recommit::sokoban
