// Symmetry transforms of grids, and canonical keys of states.
#include "sokoban/symmetry.hpp"

#include <algorithm>
#include <utility>

#include "sokoban/level.hpp"
#include "sokoban/simulate.hpp"

namespace recommit::sokoban {
namespace {

struct Direction {
  int row, col;
};

Direction turned(Direction d, int symmetry) noexcept {
  if ((symmetry & 1) != 0) std::swap(d.row, d.col);
  if ((symmetry & 2) != 0) d.row = -d.row;
  if ((symmetry & 4) != 0) d.col = -d.col;
  return d;
}

/// The region's rectangle of a state: rows, columns, codes; cells outside the region become wall.
std::vector<std::uint8_t> crop(const Level& level, const std::uint8_t* state) {
  std::vector<std::uint8_t> out = level.key();
  for (int cell = 0; cell < level.cells(); ++cell) {
    out[2 + static_cast<std::size_t>(level.row_of(cell) * level.box().cols + level.col_of(cell))] =
        state[level.grid_at(cell)];
  }
  return out;
}

}  // namespace

Shape transform(const std::uint8_t* grid, Shape shape, int symmetry, std::uint8_t* out) noexcept {
  const Shape image = (symmetry & 1) != 0 ? Shape{shape.cols, shape.rows} : shape;
  for (int row = 0; row < shape.rows; ++row) {
    for (int col = 0; col < shape.cols; ++col) {
      int r = row, c = col;
      if ((symmetry & 1) != 0) std::swap(r, c);
      if ((symmetry & 2) != 0) r = image.rows - 1 - r;
      if ((symmetry & 4) != 0) c = image.cols - 1 - c;
      out[r * image.cols + c] = grid[row * shape.cols + col];
    }
  }
  return image;
}

int transform_action(int action, int symmetry) noexcept {
  const Direction d = turned({kRowStep[action], kColStep[action]}, symmetry);
  return d.row != 0 ? (d.row > 0 ? 1 : 0) : (d.col > 0 ? 3 : 2);
}

int inverse_symmetry(int symmetry) noexcept {
  // Without the swap every symmetry is its own inverse; with it, the two mirrors are exchanged.
  return (symmetry & 1) == 0 ? symmetry : (symmetry & 1) | (symmetry & 2) << 1 | (symmetry & 4) >> 1;
}

std::vector<std::uint8_t> canonical_key(const std::uint8_t* state, Shape shape, std::size_t index) {
  const Level level = Level::of_state(state, shape, index);
  const std::vector<std::uint8_t> own = crop(level, state);
  std::vector<std::uint8_t> best, image(own.size());
  for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
    const Shape turned_shape = transform(own.data() + 2, level.box(), symmetry, image.data() + 2);
    image[0] = static_cast<std::uint8_t>(turned_shape.rows);
    image[1] = static_cast<std::uint8_t>(turned_shape.cols);
    if (best.empty() || std::lexicographical_compare(image.begin(), image.end(), best.begin(), best.end()))
      best = image;
  }
  State moving;
  best.push_back(level.read(state, moving) ? 0 : 1);
  return best;
}

Digest canonical_digest(const std::uint8_t* state, Shape shape, std::size_t index) {
  std::vector<std::uint8_t> key = canonical_key(state, shape, index);
  const std::uint64_t first = hash_bytes(key.data(), key.size());
  key.push_back(0x9d);  // a second, unrelated hash of the same content
  std::reverse(key.begin(), key.end());
  return {first, hash_bytes(key.data(), key.size())};
}

}  // namespace recommit::sokoban
