// The tiles of sliding puzzles.
#include "sliding/draw.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "core/draw/canvas.hpp"
#include "core/draw/glyphs.hpp"
#include "core/errors.hpp"
#include "sliding/simulate.hpp"

namespace recommit::sliding {
namespace {

struct Palette {
  Color board, hole, tile, edge, ink;  // ink: for numbers on a dark tile (light theme) or a pale one (dark theme)
};

constexpr Palette kLight{{232, 226, 215}, {214, 206, 192}, {45, 105, 178}, {29, 72, 128}, {255, 255, 255}};
constexpr Palette kDark{{22, 25, 31}, {13, 15, 19}, {240, 180, 72}, {170, 116, 30}, {30, 26, 20}};

const Palette& palette(Theme theme) { return theme == Theme::Light ? kLight : kDark; }

/// 24 hues around the colour wheel, alternating in brightness.
Color coded(int number, Theme theme) {
  constexpr std::array<Color, 6> wheel = {
      {{226, 60, 60}, {222, 180, 40}, {70, 180, 70}, {40, 176, 190}, {66, 92, 220}, {190, 70, 190}}};
  const int step = number - 1;
  const auto sector = static_cast<std::size_t>(step / 4);
  const Color hue = mix(wheel[sector], wheel[(sector + 1) % wheel.size()], step % 4 * 25);
  const Color towards = theme == Theme::Light ? Color{0, 0, 0} : Color{255, 255, 255};
  return step % 2 == 0 ? hue : mix(hue, towards, 35);
}

Canvas draw(int code, int cell, Theme theme) {
  const Palette& colors = palette(theme);
  Canvas canvas(cell, cell, colors.board);
  const int radius = canvas.part(130), most = (cell - 1) * Canvas::kPixel;
  // The smallest cells keep one pixel of board at the right and bottom only: enough to separate tiles.
  const Box face = cell <= kReadable ? Box{0, 0, most, most} : canvas.box().inset(canvas.pixels(36, 1));
  if (code == 0) {
    canvas.rounded(face, radius, colors.hole);
    return canvas;
  }
  const bool small = cell < kReadable;
  const Color tile = small ? coded(code, theme) : colors.tile;
  const int thick = cell < 16 ? 0 : canvas.pixels(45, 1);  // the tile's side, seen below its face
  canvas.rounded(face, radius, colors.edge);
  canvas.rounded({face.left, face.top, face.right, face.bottom - thick}, small ? 0 : radius, tile);
  const bool pale = 3 * tile.r + 6 * tile.g + tile.b > 1500;
  draw_number(canvas, code, {face.left, face.top, face.right, face.bottom - thick}, pale ? kDark.ink : kLight.ink);
  return canvas;
}

}  // namespace

const Sprites& sprites() {
  static constexpr Sprites all{kMaxCells, draw};
  return all;
}

View view(Shape grid, bool crop) {
  check_shape(grid);
  if (crop) throw ValueError("crop: expected False for sliding boards, which have no outer wall, got True");
  return {grid, 0};
}

void check_drawable(const View& view, const std::uint8_t* states, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) find_blank(states + i * view.cells(), view.grid, i);
}

void check_read(const View& view, const std::uint8_t* states, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint8_t* state = states + i * view.cells();
    if (is_permutation(state, view.grid)) continue;
    std::uint32_t seen = 0;
    int cell = 0;  // the first cell that is too large or a duplicate, which must exist
    for (; state[cell] < view.grid.cells() && (seen >> state[cell] & 1) == 0; ++cell)
      seen |= std::uint32_t{1} << state[cell];
    throw ValueError("images: expected every tile 0.." + std::to_string(view.grid.cells() - 1) + " exactly once, got " +
                     std::to_string(state[cell]) + " in image " + shown_place(view, i, cell));
  }
}

}  // namespace recommit::sliding
