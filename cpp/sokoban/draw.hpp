#pragma once

#include "core/atlas.hpp"

namespace recommit::sokoban {

/// One sprite per cell code.
const Sprites& sprites();

}  // namespace recommit::sokoban
