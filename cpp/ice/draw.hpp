// Pictures of the icy cave.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/draw/atlas.hpp"
#include "core/draw/frame.hpp"

namespace recommit::ice {

/// One sprite per cell code.
const Sprites& sprites();

/// What a picture of such a grid shows; a cropped picture leaves out the outer ring of cells, which must be rock.
/// Throws ValueError.
View view(Shape grid, bool crop);

/// Throws ValueError, naming the state, unless each can be drawn: whole, and with what the view leaves out being rock.
void check_drawable(const View& view, const std::uint8_t* states, std::size_t begin, std::size_t end);

/// Throws ValueError, naming image, row and column, unless the states that were read from images are whole.
void check_read(const View& view, const std::uint8_t* states, std::size_t begin, std::size_t end);

}  // namespace recommit::ice
