// Drawing of numbers centred in a box.
#pragma once

#include "core/draw/canvas.hpp"

namespace recommit {

/// Draws a number (0..99) centred in `box`, in the largest of three bitmap fonts that fits: 44x64 with smooth edges at
/// half the box's height, or 5x7 and 3x5 pixel by pixel. Returns false, having drawn nothing, if even the smallest does
/// not fit.
bool draw_number(Canvas& canvas, int number, Box box, Color color);

}  // namespace recommit
