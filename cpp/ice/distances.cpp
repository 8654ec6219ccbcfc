// Distances of one cave, by search backwards from the goal.
#include "ice/distances.hpp"

#include <algorithm>

namespace recommit::ice {

void Distances::read(const std::uint8_t* states, Shape shape, std::size_t index) {
  player_ = strip(states, shape, index, scratch_);
  take(scratch_, shape);
}

int Distances::strip(const std::uint8_t* states, Shape shape, std::size_t index, std::vector<std::uint8_t>& cave) {
  const auto n = static_cast<std::size_t>(shape.cells());
  const std::uint8_t* state = states + index * n;
  cave.assign(state, state + n);
  const int player = find_player(cave.data(), shape, index);
  std::uint8_t& under = cave[static_cast<std::size_t>(player)];
  under = has_goal(under) ? kGoal : kIce;
  return player;
}

void Distances::take(const std::vector<std::uint8_t>& cave, Shape shape) {
  if (shape == shape_ && cave == cave_) return;
  shape_ = shape;
  cave_ = cave;
  analyse();
}

void Distances::analyse() {
  distance_.assign(cave_.size(), kUnsolvable);
  const auto goal = std::find(cave_.begin(), cave_.end(), kGoal) - cave_.begin();
  distance_[static_cast<std::size_t>(goal)] = 0;
  queue_.assign(1, static_cast<int>(goal));
  for (std::size_t next = 0; next < queue_.size(); ++next) {
    const int cell = queue_[next];
    for (std::size_t action = 0; action < kActions; ++action) reach(cell, action);
  }
}

bool Distances::is_rock(int row, int col) const noexcept {
  const bool inside = row >= 0 && row < shape_.rows && col >= 0 && col < shape_.cols;
  return !inside || cave_[static_cast<std::size_t>(row * shape_.cols + col)] == kRock;
}

/// Assigns the next distance to the new cells from which `action` slides to `cell`: those behind it, up to a rock.
void Distances::reach(int cell, std::size_t action) {
  const int down = kRowStep[action], right = kColStep[action];
  int row = cell / shape_.cols, col = cell % shape_.cols;
  if (!is_rock(row + down, col + right)) return;  // no slide stops here
  const Distance further = at(cell) + 1;
  for (row -= down, col -= right; !is_rock(row, col); row -= down, col -= right) {
    Distance& distance = distance_[static_cast<std::size_t>(row * shape_.cols + col)];
    if (distance != kUnsolvable) continue;
    distance = further;
    queue_.push_back(row * shape_.cols + col);
  }
}

unsigned Distances::optimal_actions(int cell) const noexcept {
  if (at(cell) <= 0) return 0;
  unsigned mask = 0;
  for (std::size_t action = 0; action < kActions; ++action) {
    mask |= (at(slide(cell, action)) == at(cell) - 1 ? 1U : 0U) << action;
  }
  return mask;
}

}  // namespace recommit::ice
