// Numbers in the middle of a box.
#pragma once

#include "core/draw/canvas.hpp"

namespace recommit {

/// Writes a number (0..99) into the middle of `box`, in the largest of our three bitmap fonts that suits it: 44x64
/// drawn with smooth edges at half the box's height, or 5x7 and 3x5 dot for dot. Returns false, having drawn nothing,
/// where not even the smallest fits.
bool draw_number(Canvas& canvas, int number, Box box, Color color);

}  // namespace recommit
