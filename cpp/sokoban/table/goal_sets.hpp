// Goal sets for a number of boxes.
#pragma once

#include <cstdint>
#include <vector>

#include "sokoban/level.hpp"

namespace recommit::sokoban {

/// All sets of `boxes` goals of a level (boxes <= goals), concatenated, each with ascending cells.
std::vector<std::uint16_t> goal_sets(const Level& level, int boxes);

}  // namespace recommit::sokoban
