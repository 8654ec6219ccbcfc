// The push graph of a lone box in a level.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/types.hpp"
#include "sokoban/level.hpp"

namespace recommit::sokoban {

/// A cell, action or box as an index.
inline std::size_t at(int i) noexcept { return static_cast<std::size_t>(i); }

/// The push graph of a lone box: the search's representation of a Level.
///
/// Cells keep the Level's numbers; all walls are the one extra cell `wall()`, so that neighbours need no test. Live
/// cells also have dense numbers. A *side* of a live cell is the direction of a player standing beside a box on it; two
/// sides in one *part* are connected by a walk around a lone box. An arc is one push of a lone box: from (cell, part)
/// to (cell, part), with the player's step. Immutable and thread-safe.
class PushGraph {
 public:
  struct Arc {
    std::uint16_t from, to;                ///< states: live number * 4 + part
    std::uint16_t player_from, player_to;  ///< cells
  };

  /// Without `sides` every cell is one part, as if the player could pass any box (weaker bounds, for tests).
  explicit PushGraph(const Level& level, bool sides = true);

  int cells() const noexcept { return cells_; }
  int wall() const noexcept { return cells_; }
  int live_cells() const noexcept { return static_cast<int>(cell_of_live_.size()); }
  int goals() const noexcept { return static_cast<int>(goals_.size()); }
  int next(int cell, int action) const noexcept { return next_[at(cell)][at(action)]; }
  bool is_goal(int cell) const noexcept { return goal_[at(cell)] != 0; }
  bool is_live(int cell) const noexcept { return live_of_[at(cell)] != kNoCell; }  ///< false for wall()
  int live_of(int cell) const noexcept { return live_of_[at(cell)]; }
  int cell_of(int live) const noexcept { return cell_of_live_[at(live)]; }
  const std::vector<std::uint16_t>& goal_cells() const noexcept { return goals_; }

  /// False if a lone box on live cell `live` is lost with the player on side `side`.
  bool side_lives(int live, int side) const noexcept { return side_lives_[at(live)][at(side)]; }

  /// Cells where the player may stand after the last push of a solution.
  const std::vector<std::uint16_t>& end_cells() const noexcept { return ends_; }

  /// Minimum cost of pushing a lone box from live cell i to goal g, out[i * goals() + g]; kFar if impossible. An arc
  /// costs 1 + potential[player_to] - potential[player_from], which must be 0, 1 or 2; walks are free.
  void costs(const std::vector<std::int16_t>& potential, std::uint16_t* out) const;
  static constexpr std::uint16_t kFar = 0x7FFF;

  /// Bytes of the largest member, known before construction.
  static std::size_t bytes_for(const Level& level) noexcept;

 private:
  void number(const Level& level);
  void find_parts(bool sides);
  void link();
  void mark_sides();

  int cells_ = 0;
  std::vector<std::array<std::uint16_t, kActions>> next_;
  std::vector<std::uint8_t> goal_;
  std::vector<std::uint16_t> live_of_, cell_of_live_, goals_, ends_;
  std::vector<std::array<std::uint8_t, kActions>> part_;  ///< of each side of each live cell
  std::vector<std::array<bool, kActions>> side_lives_;
  std::vector<Arc> arcs_;                  ///< ordered by `to`
  std::vector<std::uint32_t> arcs_begin_;  ///< first arc of each `to`
};

}  // namespace recommit::sokoban
