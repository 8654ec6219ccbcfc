// Construction of a level's region, and reading and writing of its states.
#include "sokoban/level.hpp"

#include <algorithm>

#include "core/rng.hpp"
#include "sokoban/simulate.hpp"

namespace recommit::sokoban {
namespace {

/// Raw grid position one action away, or -1 if outside.
int beside(Shape shape, int grid, int action) noexcept {
  const int row = grid / shape.cols + kRowStep[action], col = grid % shape.cols + kColStep[action];
  return row < 0 || row >= shape.rows || col < 0 || col >= shape.cols ? -1 : row * shape.cols + col;
}

}  // namespace

std::uint8_t without_movers(std::uint8_t cell) noexcept {
  return has_goal(cell) ? kGoal : cell == kWall ? kWall : kFloor;
}

std::uint64_t hash_bytes(const std::uint8_t* bytes, std::size_t count) noexcept {
  std::uint64_t hash = Rng::mix(count + 1);
  for (std::size_t i = 0; i < count; i += 8) {
    std::uint64_t word = 0;
    for (std::size_t k = 0; k < 8 && i + k < count; ++k) word |= std::uint64_t{bytes[i + k]} << (8 * k);
    hash = Rng::mix(hash ^ word) + 0x9e3779b97f4a7c15ULL;
  }
  return hash;
}

Level Level::of_state(const std::uint8_t* state, Shape shape, std::size_t index) {
  check_shape(shape);
  const int player = find_player(state, shape, index);
  Level level;
  level.shape_ = shape;
  level.still_.resize(static_cast<std::size_t>(shape.cells()));
  std::transform(state, state + shape.cells(), level.still_.begin(), without_movers);
  level.flood(state, player);
  level.crop();
  level.link();
  level.mark_live();
  level.make_key();
  return level;
}

/// Finds the region and numbers its cells.
void Level::flood(const std::uint8_t* state, int player) {
  std::vector<int> stack{player};
  std::vector<std::uint8_t> seen(still_.size());
  seen[index(player)] = 1;
  while (!stack.empty()) {
    const int here = stack.back();
    stack.pop_back();
    for (int action = 0; action < kActions; ++action) {
      const int there = beside(shape_, here, action);
      if (there < 0 || state[there] == kWall || seen[index(there)] != 0) continue;
      seen[index(there)] = 1;
      stack.push_back(there);
    }
  }
  cell_of_.assign(seen.size(), kNoCell);
  for (int grid = 0; grid < shape_.cells(); ++grid) {
    if (seen[index(grid)] == 0) continue;
    cell_of_[index(grid)] = static_cast<std::uint16_t>(grid_of_.size());
    grid_of_.push_back(grid);
  }
}

void Level::crop() {
  top_ = grid_of_.front() / shape_.cols;
  const int bottom = grid_of_.back() / shape_.cols;
  left_ = shape_.cols;
  int right = 0;
  for (const int grid : grid_of_) {
    left_ = std::min(left_, grid % shape_.cols);
    right = std::max(right, grid % shape_.cols);
  }
  box_ = {bottom - top_ + 1, right - left_ + 1};
}

void Level::link() {
  next_.resize(grid_of_.size());
  flags_.resize(grid_of_.size());
  for (int cell = 0; cell < cells(); ++cell) {
    const int grid = grid_of_[index(cell)];
    for (int action = 0; action < kActions; ++action) {
      const int there = beside(shape_, grid, action);
      next_[index(cell)][index(action)] = there < 0 ? kNoCell : cell_of_[index(there)];
    }
    if (still_[index(grid)] == kGoal) {
      flags_[index(cell)] = kGoalFlag;
      ++goals_;
    }
  }
}

/// Marks all cells to which a lone box can be pulled from a goal; a pull needs two free cells in line beside it.
void Level::mark_live() {
  std::vector<int> stack;
  const auto mark = [&](int cell) {
    if (is_live(cell)) return;
    flags_[index(cell)] |= kLiveFlag;
    ++live_;
    stack.push_back(cell);
  };
  for (int cell = 0; cell < cells(); ++cell) {
    if (is_goal(cell)) mark(cell);
  }
  while (!stack.empty()) {
    const int box = stack.back();
    stack.pop_back();
    for (int action = 0; action < kActions; ++action) {
      const std::uint16_t beside_box = neighbor(box, action);
      if (beside_box != kNoCell && neighbor(beside_box, action) != kNoCell) mark(beside_box);
    }
  }
}

void Level::make_key() {
  key_.assign(2 + index(box_.cells()), kWall);
  key_[0] = static_cast<std::uint8_t>(box_.rows);
  key_[1] = static_cast<std::uint8_t>(box_.cols);
  for (int cell = 0; cell < cells(); ++cell) {
    key_[2 + index(row_of(cell) * box_.cols + col_of(cell))] = is_goal(cell) ? kGoal : kFloor;
  }
}

bool Level::matches(const std::uint8_t* state) const noexcept {
  for (int grid = 0; grid < shape_.cells(); ++grid) {
    if (without_movers(state[grid]) != still_[index(grid)]) return false;
    if (state[grid] >= kPlayer && cell_at(grid) == kNoCell) return false;
  }
  return true;
}

bool Level::read(const std::uint8_t* state, State& out) const {
  bool sound = true;
  out.boxes.clear();
  out.player = kNoCell;
  for (int grid = 0; grid < shape_.cells(); ++grid) {
    const std::uint8_t here = state[grid];
    const std::uint16_t cell = cell_at(grid);
    if (here >= kPlayer) out.player = cell;
    if (!is_box(here)) continue;
    if (cell != kNoCell) {
      out.boxes.push_back(cell);
    } else if (here == kBox) {
      sound = false;
    }
  }
  return sound;
}

void Level::write(const State& state, std::uint8_t* grid) const {
  for (int cell = 0; cell < cells(); ++cell) grid[grid_at(cell)] = is_goal(cell) ? kGoal : kFloor;
  for (const std::uint16_t box : state.boxes) grid[grid_at(box)] = is_goal(box) ? kBoxOnGoal : kBox;
  grid[grid_at(state.player)] = is_goal(state.player) ? kPlayerOnGoal : kPlayer;
}

}  // namespace recommit::sokoban
