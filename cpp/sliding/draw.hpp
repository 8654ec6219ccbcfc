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

/// What a picture of such a grid shows; boards have no outer wall to crop. Throws ValueError.
View view(Shape grid, bool crop);

/// Throws ValueError, naming the state, unless each can be drawn.
void check_drawable(const View& view, const std::uint8_t* states, std::size_t begin, std::size_t end);

/// Throws ValueError, naming image, row and column, unless the states that were read from images are whole.
void check_read(const View& view, const std::uint8_t* states, std::size_t begin, std::size_t end);

}  // namespace recommit::sliding
