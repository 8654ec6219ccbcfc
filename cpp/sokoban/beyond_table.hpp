#pragma once

#include "core/limits.hpp"
#include "core/watch.hpp"
#include "sokoban/level.hpp"
#include "sokoban/solver.hpp"

namespace recommit::sokoban {

/// Answers a state whose table does not fit the limits; `refused` says which limit. With `plan`, actions are filled in
/// where the distance is known. The state's boxes outside the region have been judged already.
Solution beyond_table(const Level& level, const State& state, const Limits& limits, Status refused, bool plan, Watch* watch);

}  // namespace recommit::sokoban
