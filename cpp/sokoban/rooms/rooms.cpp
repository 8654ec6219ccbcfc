// Generators of the families of random rooms.
#include "sokoban/rooms/rooms.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "sokoban/simulate.hpp"

namespace recommit::sokoban {
namespace {

/// A room under construction; only its interior can be changed.
class Canvas {
 public:
  Canvas(Shape shape, Rng& rng, std::uint8_t inside)
      : shape_(shape), rng_(rng), cells_(static_cast<std::size_t>(shape.cells()), kWall) {
    fill(1, 1, shape.rows - 1, shape.cols - 1, inside);
  }

  Shape shape() const noexcept { return shape_; }
  Rng& rng() noexcept { return rng_; }
  Room& cells() noexcept { return cells_; }

  bool inside(int row, int col) const noexcept {
    return row >= 1 && row + 1 < shape_.rows && col >= 1 && col + 1 < shape_.cols;
  }
  bool wall(int row, int col) const noexcept { return !inside(row, col) || cells_[place(row, col)] == kWall; }
  void put(int row, int col, std::uint8_t what) noexcept {
    if (inside(row, col)) cells_[place(row, col)] = what;
  }
  /// Rows [top, bottom), columns [left, right).
  void fill(int top, int left, int bottom, int right, std::uint8_t what) noexcept {
    for (int row = top; row < bottom; ++row) {
      for (int col = left; col < right; ++col) put(row, col, what);
    }
  }

  /// Uniform in lo..hi, inclusive.
  int between(int lo, int hi) {
    return lo + static_cast<int>(rng_.below(static_cast<std::uint32_t>(std::max(hi - lo, 0) + 1)));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }

  void strew(int percent) {
    for (int row = 1; row + 1 < shape_.rows; ++row) {
      for (int col = 1; col + 1 < shape_.cols; ++col) {
        if (chance(percent)) put(row, col, kWall);
      }
    }
  }

 private:
  std::size_t place(int row, int col) const noexcept { return static_cast<std::size_t>(row * shape_.cols + col); }

  Shape shape_;
  Rng& rng_;
  Room cells_;
};

void draw_scatter(Canvas& canvas) { canvas.strew(canvas.between(6, 34)); }

void draw_cave(Canvas& canvas) {
  canvas.strew(canvas.between(30, 44));
  const Shape shape = canvas.shape();
  for (int round = canvas.between(1, 3); round > 0; --round) {
    const Canvas before = canvas;
    for (int row = 1; row + 1 < shape.rows; ++row) {
      for (int col = 1; col + 1 < shape.cols; ++col) {
        int walls = 0;
        for (int i = 0; i < 9; ++i) walls += before.wall(row + i / 3 - 1, col + i % 3 - 1);
        canvas.put(row, col, walls >= 5 ? kWall : kFloor);
      }
    }
  }
}

/// Recursively splits a hall by walls with a door or two, until the parts are small, or at random.
void split(Canvas& canvas, int top, int left, int bottom, int right) {
  const int height = bottom - top, width = right - left;
  const bool across = height > width || (height == width && canvas.chance(50));  // the wall runs from left to right
  if ((across ? height : width) < 4 || (height * width <= 24 && canvas.chance(35))) return;
  const int at = across ? canvas.between(top + 1, bottom - 2) : canvas.between(left + 1, right - 2);
  if (across) {
    canvas.fill(at, left, at + 1, right, kWall);
    split(canvas, top, left, at, right);
    split(canvas, at + 1, left, bottom, right);
  } else {
    canvas.fill(top, at, bottom, at + 1, kWall);
    split(canvas, top, left, bottom, at);
    split(canvas, top, at + 1, bottom, right);
  }
  // A door needs floor on both sides, which the walls of the parts leave somewhere.
  std::vector<int> doors;
  for (int i = across ? left : top; i < (across ? right : bottom); ++i) {
    const bool open = across ? !canvas.wall(at - 1, i) && !canvas.wall(at + 1, i)
                             : !canvas.wall(i, at - 1) && !canvas.wall(i, at + 1);
    if (open) doors.push_back(i);
  }
  canvas.rng().shuffle(doors);
  const int count = canvas.chance(40) ? 2 : 1;
  for (int i = 0; i < count && i < static_cast<int>(doors.size()); ++i) {
    const int door = doors[static_cast<std::size_t>(i)];
    across ? canvas.put(at, door, kFloor) : canvas.put(door, at, kFloor);
  }
}

void draw_chambers(Canvas& canvas) {
  split(canvas, 1, 1, canvas.shape().rows - 1, canvas.shape().cols - 1);
  if (canvas.chance(50)) canvas.strew(canvas.between(2, 8));
}

/// Stamps of 3x3, bit 3 * row + col set = wall.
constexpr std::array<unsigned, 12> kStamps{0b000'000'000, 0b000'000'000, 0b000'000'001, 0b000'010'000,
                                           0b000'000'011, 0b000'000'111, 0b001'000'001, 0b011'001'000,
                                           0b100'000'001, 0b000'011'001, 0b010'000'010, 0b111'001'000};

void draw_mosaic(Canvas& canvas) {
  const Shape shape = canvas.shape();
  const int row0 = 1 - canvas.between(0, 2), col0 = 1 - canvas.between(0, 2);
  for (int row = row0; row + 1 < shape.rows; row += 3) {
    for (int col = col0; col + 1 < shape.cols; col += 3) {
      const unsigned stamp = kStamps[canvas.rng().below(kStamps.size())], turn = canvas.rng().below(8);
      for (int i = 0; i < 9; ++i) {
        int r = i / 3, c = i % 3;
        if ((stamp >> i & 1) == 0) continue;
        if ((turn & 1) != 0) std::swap(r, c);
        if ((turn & 2) != 0) r = 2 - r;
        if ((turn & 4) != 0) c = 2 - c;
        canvas.put(row + r, col + c, kWall);
      }
    }
  }
}

void draw_corridors(Canvas& canvas) {
  const Shape shape = canvas.shape();
  const int area = (shape.rows - 2) * (shape.cols - 2), wide = canvas.between(10, 60);
  int wanted = area * canvas.between(40, 70) / 100;
  int row = canvas.between(1, shape.rows - 2), col = canvas.between(1, shape.cols - 2);
  const auto dig = [&](int r, int c) {
    wanted -= canvas.inside(r, c) && canvas.wall(r, c);
    canvas.put(r, c, kFloor);
  };
  for (int runs = 4 * area; wanted > 0 && runs > 0; --runs) {
    const auto way = static_cast<std::size_t>(canvas.between(0, 3));
    const bool broad = canvas.chance(wide);
    for (int step = canvas.between(1, 4); step > 0; --step) {
      dig(row, col);
      if (broad) dig(row + kColStep[way], col + kRowStep[way]);
      row = std::clamp(row + kRowStep[way], 1, shape.rows - 2);
      col = std::clamp(col + kColStep[way], 1, shape.cols - 2);
    }
  }
}

void draw_rectangles(Canvas& canvas) {
  const Shape shape = canvas.shape();
  int row = canvas.between(1, shape.rows - 2), col = canvas.between(1, shape.cols - 2);
  const int most = std::max(2, std::min(6, std::max(shape.rows, shape.cols) / 2));
  for (int count = canvas.between(2, 3 + shape.cells() / 40); count > 0; --count) {
    const int height = canvas.between(2, most), width = canvas.between(2, most);
    const int top = std::clamp(row - canvas.between(0, height - 1), 1, std::max(1, shape.rows - 1 - height));
    const int left = std::clamp(col - canvas.between(0, width - 1), 1, std::max(1, shape.cols - 1 - width));
    canvas.fill(top, left, top + height, left + width, kFloor);
    row = canvas.between(top, std::min(top + height, shape.rows - 1) - 1);
    col = canvas.between(left, std::min(left + width, shape.cols - 1) - 1);
  }
  canvas.strew(canvas.between(0, 14));
}

/// Cells that a step of a walk digs around it, bit 3 * row + col.
constexpr std::array<unsigned, 5> kBrushes{0b000'111'000, 0b010'010'010, 0b010'011'000, 0b011'011'000, 0b010'110'000};

/// The rooms of Racaniere et al. (2017), appendix C, as in Boxoban: 1.7 (rows + columns) steps, each in the previous
/// direction or, with probability 0.35, a new one.
void draw_walk(Canvas& canvas) {
  const Shape shape = canvas.shape();
  int row = canvas.between(1, shape.rows - 2), col = canvas.between(1, shape.cols - 2);
  auto way = static_cast<std::size_t>(canvas.between(0, 3));
  for (int step = 17 * (shape.rows + shape.cols) / 10; step > 0; --step) {
    if (canvas.chance(35)) way = static_cast<std::size_t>(canvas.between(0, 3));
    row = std::clamp(row + kRowStep[way], 1, shape.rows - 2);
    col = std::clamp(col + kColStep[way], 1, shape.cols - 2);
    const unsigned brush = kBrushes[canvas.rng().below(kBrushes.size())];
    for (int i = 0; i < 9; ++i) {
      if ((brush >> i & 1) != 0) canvas.put(row + i / 3 - 1, col + i % 3 - 1, kFloor);
    }
  }
}

/// The four neighbours of a floor cell, inside the grid thanks to the outer wall.
std::array<int, kActions> around(Shape shape, int cell) {
  return {cell - shape.cols, cell + shape.cols, cell - 1, cell + 1};
}

/// Up to `most` cells connected to `from`, in the order of a breadth-first search, randomised if `rng` is given.
std::vector<int> piece(const Room& room, Shape shape, int from, std::size_t most, Rng* rng) {
  std::vector<std::uint8_t> seen(room.size());
  std::vector<int> cells{from};
  seen[static_cast<std::size_t>(from)] = 1;
  for (std::size_t next = 0; next < cells.size() && cells.size() < most; ++next) {
    if (rng != nullptr)
      std::swap(cells[next],
                cells[next + rng->below(static_cast<std::uint32_t>(std::min<std::size_t>(cells.size() - next, 4)))]);
    for (const int cell : around(shape, cells[next])) {
      const auto at = static_cast<std::size_t>(cell);
      if (room[at] == kWall || seen[at] != 0 || cells.size() >= most) continue;
      seen[at] = 1;
      cells.push_back(cell);
    }
  }
  return cells;
}

/// Keeps the largest connected component of floor, reduced to at most `most` cells.
Room keep_one_piece(const Room& room, Shape shape, std::size_t most, Rng& rng) {
  std::vector<std::uint8_t> seen(room.size());
  std::vector<int> best;
  for (std::size_t cell = 0; cell < room.size(); ++cell) {
    if (room[cell] == kWall || seen[cell] != 0) continue;
    std::vector<int> cells = piece(room, shape, static_cast<int>(cell), room.size(), nullptr);
    for (const int each : cells) seen[static_cast<std::size_t>(each)] = 1;
    if (cells.size() > best.size()) best = std::move(cells);
  }
  if (best.size() > most) {
    const int from = best[rng.below(static_cast<std::uint32_t>(best.size()))];
    best = piece(room, shape, from, most, &rng);
  }
  Room out(room.size(), kWall);
  for (const int cell : best) out[static_cast<std::size_t>(cell)] = kFloor;
  return out;
}

}  // namespace

Room make_room(RoomFamily family, Shape shape, std::size_t most, Rng& rng) {
  const bool carved = family >= RoomFamily::Corridors;
  Canvas canvas(shape, rng, carved ? kWall : kFloor);
  switch (family) {
    case RoomFamily::Scatter: draw_scatter(canvas); break;
    case RoomFamily::Chambers: draw_chambers(canvas); break;
    case RoomFamily::Cave: draw_cave(canvas); break;
    case RoomFamily::Mosaic: draw_mosaic(canvas); break;
    case RoomFamily::Corridors: draw_corridors(canvas); break;
    case RoomFamily::Rectangles: draw_rectangles(canvas); break;
    case RoomFamily::Walk: draw_walk(canvas); break;
  }
  return keep_one_piece(canvas.cells(), shape, most, rng);
}

std::vector<int> floor_cells(const Room& room) {
  std::vector<int> out;
  for (std::size_t cell = 0; cell < room.size(); ++cell) {
    if (room[cell] != kWall) out.push_back(static_cast<int>(cell));
  }
  return out;
}

}  // namespace recommit::sokoban
