// Distances of all cells of one cave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/types.hpp"
#include "ice/simulate.hpp"

namespace recommit::ice {

/// The exact distance of every cell of one cave, by search backwards from the goal: a cave of n cells has n states, so
/// this takes microseconds, and only the last cave is kept. Not thread-safe.
class Distances {
 public:
  /// Computes the distances of the cave of states[index], unless it is the last one read. Throws ValueError if the
  /// state is malformed.
  void read(const std::uint8_t* states, Shape shape, std::size_t index);

  /// Writes the cave of states[index] without its player, and returns the player's cell. Throws ValueError if the state
  /// is malformed.
  static int strip(const std::uint8_t* states, Shape shape, std::size_t index, std::vector<std::uint8_t>& cave);
  /// Computes the distances of such a cave, unless it is the last one read.
  void take(const std::vector<std::uint8_t>& cave, Shape shape);

  int player() const noexcept { return player_; }  ///< cell of the player in the state read
  /// Distance of a player at rest in a cell; kUnsolvable in rocks and dead cells.
  Distance at(int cell) const noexcept { return distance_[static_cast<std::size_t>(cell)]; }
  /// Bit a is set iff action a lowers the distance of a player in this cell by one.
  unsigned optimal_actions(int cell) const noexcept;
  /// The cell where a player at `at` comes to rest.
  int slide(int at, std::size_t action) const noexcept { return ice::slide(cave_.data(), shape_, at, action); }

 private:
  void analyse();
  void reach(int cell, std::size_t action);
  bool is_rock(int row, int col) const noexcept;

  Shape shape_;
  int player_ = 0;
  std::vector<std::uint8_t> cave_, scratch_;  // without the player
  std::vector<Distance> distance_;
  std::vector<int> queue_;
};

}  // namespace recommit::ice
