// A table as raw states of one grid read it.
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

/// Where a raw state lies in its table; kDeadEntry if it cannot be solved whatever the table says.
inline constexpr std::uint64_t kDeadEntry = ~std::uint64_t{0};

/// A table together with one raw shape in which its level appears: reads raw states. Immutable after construction.
class LevelTable {
 public:
  /// `table` must be the one of `level` and `boxes` (boxes inside the region). It may be null, for a level whose table
  /// would be too large: then `fits`, `read` and `act` still work.
  LevelTable(const Level& level, int boxes, std::shared_ptr<const Table> table);

  const Level& level() const noexcept { return level_; }
  int boxes() const noexcept { return boxes_; }
  const Table& table() const noexcept { return *table_; }
  bool has_table() const noexcept { return table_ != nullptr; }
  /// Status::Exact if the limits allow the table, there or not; else which one forbids it. What is not known to need
  /// two bytes per entry is judged as if one were enough.
  Status allowed(const Limits& limits) const noexcept;
  std::uint64_t bytes() const noexcept;  ///< held in memory, the table included

  /// Whether a state has this level's walls, goals, player's region and number of boxes in it.
  bool fits(const Planes& planes, int player) const noexcept;

  /// Whether a box of a state that fits can never reach a goal, wherever the others are.
  bool lost(const Planes& planes) const noexcept;

  /// `fits`, and the state's table position; for levels that have a table.
  bool locate(const Planes& planes, int player, std::uint64_t& entry) const noexcept;

  /// The moving part of a state that fits, boxes out of reach left out.
  void read(const Planes& planes, int player, State& out) const;

  /// The state after an action; false if it is blocked.
  bool act(const State& state, int action, State& out) const;

  /// Bit a is set iff action a lies on a shortest way to the goal; 0 at the goal and where there is no way.
  unsigned optimal_actions(const State& state, Distance distance, State& scratch) const;

  /// The same for the player of `state` on every cell: bits [cell], 0 inside boxes. `rank` is that of the state's boxes
  /// in the table, and the player does not count.
  void optimal_actions_everywhere(const State& state, std::uint32_t rank, std::uint8_t* masks) const;

  Distance at(std::uint64_t entry) const noexcept { return entry == kDeadEntry ? kUnsolvable : table_->at(entry); }
  void prefetch(std::uint64_t entry) const noexcept;

 private:
  /// What one word of 64 grid positions holds, side by side in memory.
  struct Word {
    std::uint64_t walls = 0, goals = 0, region = 0;
    std::uint64_t harmless = 0;  // where a box does not decide the verdict: live cells, goals out of reach
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
