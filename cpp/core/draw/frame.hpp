// States to pictures and back, for any puzzle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/draw/atlas.hpp"
#include "core/types.hpp"

/// States to pictures and back, for any puzzle. Every function works on items [begin, end) of a batch and touches
/// nothing outside them. The caller has checked that all codes are below the atlas's.
namespace recommit {

/// The cells of a grid that a picture shows: all, or all but the outer ring (`border` = 1).
struct View {
  Shape grid;
  int border = 0;
  constexpr int rows() const noexcept { return grid.rows - 2 * border; }
  constexpr int cols() const noexcept { return grid.cols - 2 * border; }
  constexpr std::size_t cells() const noexcept { return static_cast<std::size_t>(grid.cells()); }
  /// First shown cell of a shown row.
  constexpr std::size_t at(int row) const noexcept {
    return static_cast<std::size_t>((row + border) * grid.cols + border);
  }
  /// Bytes of one picture and of one row of its pixels.
  constexpr std::size_t row_bytes(int cell) const noexcept { return static_cast<std::size_t>(cols() * cell) * 3; }
  constexpr std::size_t bytes(int cell) const noexcept {
    return row_bytes(cell) * static_cast<std::size_t>(rows() * cell);
  }
};

/// The view without the outer ring. Throws ValueError if nothing would be left.
View cropped(Shape grid);

/// Throws ValueError if the view crops a ring of state `index` that is not all `wall` (`walls` in the message).
void check_ring(const View& view, const std::uint8_t* state, std::size_t index, std::uint8_t wall, const char* walls);

/// Position of a grid's cell in the picture, for messages: "3 at row 2, column 0".
std::string shown_place(const View& view, std::size_t image, int cell);

/// Draws whole pictures. `stream`: bypass the caches if the processor supports it, for results too large for them.
void draw_frames(const Atlas& atlas, const View& view, const std::uint8_t* states, std::uint8_t* images, bool stream,
                 std::size_t begin, std::size_t end);

/// The same result from portable code only.
void draw_frames_plain(const Atlas& atlas, const View& view, const std::uint8_t* states, std::uint8_t* images,
                       std::size_t begin, std::size_t end);

/// Redraws the cells in which `states` differs from `drawn`, and updates `drawn`.
void redraw_frames(const Atlas& atlas, const View& view, const std::uint8_t* states, std::uint8_t* drawn,
                   std::uint8_t* images, std::size_t begin, std::size_t end);

/// Decodes pictures; cells outside the view get code `outside`. Throws ValueError, naming image, row and column of the
/// first cell that matches no sprite.
void read_frames(const Atlas& atlas, const View& view, std::uint8_t outside, const std::uint8_t* images,
                 std::uint8_t* states, std::size_t begin, std::size_t end);

}  // namespace recommit
