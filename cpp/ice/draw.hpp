// Pictures of the icy cave.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/draw/atlas.hpp"
#include "core/draw/frame.hpp"

namespace recommit::ice {

/// One sprite per cell code.
const Sprites& sprites();

/// The view of such a grid; a cropped picture leaves out the outer ring of cells, which must be rock. Throws
/// ValueError.
View view(Shape grid, bool crop);

/// Throws ValueError, naming the state, unless all are valid and have rock in all cells outside the view.
void check_drawable(const View& view, const std::uint8_t* states, std::size_t begin, std::size_t end);

/// Throws ValueError, naming image, row and column, unless the states decoded from images are valid.
void check_read(const View& view, const std::uint8_t* states, std::size_t begin, std::size_t end);

}  // namespace recommit::ice
