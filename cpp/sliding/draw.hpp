#pragma once

#include "core/atlas.hpp"

namespace recommit::sliding {

/// The blank (code 0) and the tiles 1..24. Below kReadable pixels a tile shows its number by colour as well.
const Sprites& sprites();
inline constexpr int kReadable = 10;

}  // namespace recommit::sliding
