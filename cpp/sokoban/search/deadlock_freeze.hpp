// The first of the deadlock rules, frozen boxes, and what makes a rule sound.
#pragma once

#include <cstdint>
#include <vector>

#include "sokoban/search/push_graph.hpp"

/// Deadlock rules, here and in deadlock_corral.hpp: states that no play can solve, dropped before they cost a search. A
/// rule is *sound* if it never drops a state that can be solved; then it changes times and never lengths. The simplest
/// rule is that of dead cells (Level::is_live): a lone box there reaches no goal. PushGraph::side_lives refines it by
/// the side on which the player stands. tests/cpp/test_sokoban_search.cpp compares every combination with an
/// enumeration.
namespace recommit::sokoban {

/// Freeze deadlocks: boxes that hold each other, with walls, so that none of them can ever move again. Sound: the
/// frozen boxes are the largest set in which every box has, on both axes, a wall or a member of the set beside it, or
/// nothing but dead cells. The first of them to move would break its own condition. Not for several threads at once.
class Freeze {
 public:
  explicit Freeze(const PushGraph& graph) : graph_(graph), member_(static_cast<std::size_t>(graph.cells()) + 1) {}

  /// Whether the boxes connected with the one on `cell` hold some box frozen off its goal. occupied[c] != 0 for boxes
  /// and wall().
  bool dead(int cell, const std::vector<std::uint8_t>& occupied);

 private:
  template <class Held>
  bool can_move(int cell, Held held) const noexcept;

  const PushGraph& graph_;
  std::vector<std::uint8_t> member_;
  std::vector<std::uint16_t> cluster_;
};

}  // namespace recommit::sokoban
