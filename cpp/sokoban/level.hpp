// A level apart from what moves in it: cells by number, goals, live cells.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/types.hpp"

namespace recommit::sokoban {

inline constexpr std::uint16_t kNoCell = 0xFFFF;  ///< no such cell: a wall, or outside the region

/// The part of a state that moves, in the cell numbers of its Level.
struct State {
  std::uint16_t player = kNoCell;
  std::vector<std::uint16_t> boxes;  ///< ascending
  bool operator==(const State&) const = default;
};

/// The part of a state that never changes, as far as its player can ever reach.
///
/// The *region* is every open cell connected with the player, boxes ignored. Its cells are numbered 0.. in row-major
/// order; everything outside it counts as wall. A box outside the region can never be moved: on a goal it is done for
/// good and plays no part, off a goal it makes the state unsolvable (see `read`). A cell is *live* if a lone box on it
/// could still be pushed onto some goal of the region, wherever the player stands; a box on any other cell is lost.
/// Immutable after construction, so any number of threads may read it.
class Level {
 public:
  /// The level of one raw state. Throws ValueError, naming the batch index, unless the state is well formed.
  static Level of_state(const std::uint8_t* state, Shape shape, std::size_t index = 0);

  Shape shape() const noexcept { return shape_; }  ///< of the raw states that `read` and `write` take
  /// One byte per raw grid position, outside the region too: kFloor, kWall or kGoal.
  const std::vector<std::uint8_t>& still() const noexcept { return still_; }
  int cells() const noexcept { return static_cast<int>(grid_of_.size()); }
  int goals() const noexcept { return goals_; }  ///< goals inside the region
  int live_cells() const noexcept { return live_; }

  std::uint16_t neighbor(int cell, int action) const noexcept { return next_[index(cell)][index(action)]; }
  bool is_goal(int cell) const noexcept { return (flags_[index(cell)] & kGoalFlag) != 0; }
  bool is_live(int cell) const noexcept { return (flags_[index(cell)] & kLiveFlag) != 0; }

  /// Raw grid position (row * cols + col) <-> cell number; kNoCell outside the region.
  std::uint16_t cell_at(int grid) const noexcept { return cell_of_[index(grid)]; }
  int grid_at(int cell) const noexcept { return grid_of_[index(cell)]; }

  /// The smallest rectangle that holds the region, and a cell's place in it.
  Shape box() const noexcept { return box_; }
  int row_of(int cell) const noexcept { return grid_at(cell) / shape_.cols - top_; }
  int col_of(int cell) const noexcept { return grid_at(cell) % shape_.cols - left_; }

  /// Equal for equal regions with equal goals, however much wall lies around them: rows and columns of box(), then
  /// one byte per place of it (kFloor, kWall or kGoal). Cell numbers mean the same in levels with equal keys.
  const std::vector<std::uint8_t>& key() const noexcept { return key_; }

  /// Whether a well-formed raw state has this level's walls and goals and its player inside the region.
  bool matches(const std::uint8_t* state) const noexcept;

  /// The moving part of a raw state that `matches`. False if a box stands off a goal outside the region: such a state
  /// is unsolvable whatever happens inside (`out` is filled all the same).
  bool read(const std::uint8_t* state, State& out) const;

  /// Redraws the region's cells of `grid`, a raw state of this level; cells outside the region stay as they are.
  void write(const State& state, std::uint8_t* grid) const;

 private:
  static constexpr std::uint8_t kGoalFlag = 1, kLiveFlag = 2;
  static std::size_t index(int i) noexcept { return static_cast<std::size_t>(i); }

  Level() = default;
  void flood(const std::uint8_t* state, int player);
  void crop();
  void link();
  void mark_live();
  void make_key();

  Shape shape_, box_;
  int top_ = 0, left_ = 0, goals_ = 0, live_ = 0;
  std::vector<std::uint8_t> still_;
  std::vector<std::uint16_t> cell_of_;
  std::vector<int> grid_of_;
  std::vector<std::array<std::uint16_t, kActions>> next_;
  std::vector<std::uint8_t> flags_;
  std::vector<std::uint8_t> key_;
};

/// What a cell is once player and boxes are taken away: kFloor, kWall or kGoal.
std::uint8_t without_movers(std::uint8_t cell) noexcept;

/// A platform-independent 64-bit hash of bytes, for sets of states (not cryptographic).
std::uint64_t hash_bytes(const std::uint8_t* bytes, std::size_t count) noexcept;

}  // namespace recommit::sokoban
