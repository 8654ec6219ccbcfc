// Every choice of goals for a number of boxes.
#pragma once

#include <cstdint>
#include <vector>

#include "sokoban/level.hpp"

namespace recommit::sokoban {

/// Every set of `boxes` goals of a level (boxes <= goals), one after the other, each in ascending cells.
std::vector<std::uint16_t> goal_sets(const Level& level, int boxes);

}  // namespace recommit::sokoban
