// The static part of a level: numbered cells, goals, live cells.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/types.hpp"

namespace recommit::sokoban {

inline constexpr std::uint16_t kNoCell = 0xFFFF;  ///< no such cell: a wall, or outside the region

/// The movable part of a state, in the cell numbers of its Level.
struct State {
  std::uint16_t player = kNoCell;
  std::vector<std::uint16_t> boxes;  ///< ascending
  bool operator==(const State&) const = default;
};

/// The static part of a state, as far as its player can ever reach.
///
/// The *region* is every open cell connected with the player, boxes ignored. Its cells are numbered 0.. in row-major
/// order; everything outside it counts as wall. A box outside the region can never be moved: on a goal it is
/// irrelevant, off a goal it makes the state unsolvable (see `read`). A cell is *live* if a lone box on it can be
/// pushed onto some goal of the region by a player free to stand anywhere; a box on any other cell is lost. Immutable
/// after construction, so any number of threads may read it.
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

  /// Equal for regions with equal shape and goals, regardless of surrounding walls: rows and columns of box(), then one
  /// byte per cell of it (kFloor, kWall or kGoal). Levels with equal keys have equal cell numbers.
  const std::vector<std::uint8_t>& key() const noexcept { return key_; }

  /// True if a well-formed raw state has this level's walls and goals, and its player inside the region.
  bool matches(const std::uint8_t* state) const noexcept;

  /// Reads the movable part of a raw state that `matches`. False if a box is off a goal outside the region, which makes
  /// the state unsolvable (`out` is filled anyway).
  bool read(const std::uint8_t* state, State& out) const;

  /// Writes a state to the region's cells of `grid`, a raw state of this level; other cells are unchanged.
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

/// A cell's code without player and box: kFloor, kWall or kGoal.
std::uint8_t without_movers(std::uint8_t cell) noexcept;

/// A platform-independent 64-bit hash of bytes, for sets of states (not cryptographic).
std::uint64_t hash_bytes(const std::uint8_t* bytes, std::size_t count) noexcept;

}  // namespace recommit::sokoban
