// Pictures of sliding puzzles.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/draw/atlas.hpp"
#include "core/draw/frame.hpp"

namespace recommit::sliding {

/// The blank (code 0) and the tiles 1..24. Below kReadable pixels a tile shows its number by colour as well.
const Sprites& sprites();
inline constexpr int kReadable = 10;

/// The view of such a grid; boards have no outer wall to crop. Throws ValueError.
View view(Shape grid, bool crop);

/// Throws ValueError, naming the state, unless all are valid.
void check_drawable(const View& view, const std::uint8_t* states, std::size_t begin, std::size_t end);

/// Throws ValueError, naming image, row and column, unless the states decoded from images are valid.
void check_read(const View& view, const std::uint8_t* states, std::size_t begin, std::size_t end);

}  // namespace recommit::sliding
