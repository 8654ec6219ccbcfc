// Access to a table by raw states of one grid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/limits.hpp"
#include "sokoban/level.hpp"
#include "sokoban/table/planes.hpp"
#include "sokoban/table/table.hpp"

namespace recommit::sokoban {

/// A raw state's table entry; kDeadEntry if it is unsolvable regardless of the table.
inline constexpr std::uint64_t kDeadEntry = ~std::uint64_t{0};

/// A table with the raw grid of its level, for lookup of raw states. Immutable after construction.
class LevelTable {
 public:
  /// `table` must be that of `level` and `boxes` (boxes inside the region). It may be null, if too large: `fits`,
  /// `read` and `act` still work.
  LevelTable(const Level& level, int boxes, std::shared_ptr<const Table> table);

  const Level& level() const noexcept { return level_; }
  int boxes() const noexcept { return boxes_; }
  const Table& table() const noexcept { return *table_; }
  bool has_table() const noexcept { return table_ != nullptr; }
  /// Status::Exact if the limits allow the table, whether or not it exists; else the limit that forbids it. Assumes one
  /// byte per entry unless two are known to be needed.
  Status allowed(const Limits& limits) const noexcept;
  std::uint64_t bytes() const noexcept;  ///< memory, including the table

  /// True if a state has this level's walls, goals, player's region and number of boxes.
  bool fits(const Planes& planes, int player) const noexcept;

  /// True if a box of a fitting state can never reach a goal, wherever the others are.
  bool lost(const Planes& planes) const noexcept;

  /// `fits`, and the state's table entry; for levels with a table.
  bool locate(const Planes& planes, int player, std::uint64_t& entry) const noexcept;

  /// The movable part of a fitting state, without unreachable boxes.
  void read(const Planes& planes, int player, State& out) const;

  /// The state after an action; false if it is blocked.
  bool act(const State& state, int action, State& out) const;

  /// Bit a is set iff action a is optimal; 0 if solved or unsolvable.
  unsigned optimal_actions(const State& state, Distance distance, State& scratch) const;

  /// The same with the player of `state` on every cell: bits [cell], 0 inside boxes. `rank` is that of the state's
  /// boxes; its player is ignored.
  void optimal_actions_everywhere(const State& state, std::uint32_t rank, std::uint8_t* masks) const;

  Distance at(std::uint64_t entry) const noexcept { return entry == kDeadEntry ? kUnsolvable : table_->at(entry); }
  void prefetch(std::uint64_t entry) const noexcept;

 private:
  /// Data of one word of 64 grid positions, contiguous in memory.
  struct Word {
    std::uint64_t walls = 0, goals = 0, region = 0;
    std::uint64_t harmless = 0;  // where a box does not imply unsolvable: live cells, goals out of reach
  };

  std::uint64_t sets_, entries_, build_bytes_;

  bool same_place(const Planes& planes, int player) const noexcept;

  Level level_;
  int boxes_;
  std::shared_ptr<const Table> table_;
  std::vector<Word> words_;
  std::vector<std::uint32_t> share_;  // [boxes][grid positions]
};

}  // namespace recommit::sokoban
