// The first deadlock rule, frozen boxes, and the soundness of rules.
#pragma once

#include <cstdint>
#include <vector>

#include "sokoban/search/push_graph.hpp"

/// Deadlock rules, here and in deadlock_corral.hpp, prune unsolvable states before they are searched. A rule is *sound*
/// if it never prunes a solvable state; then it affects times but never lengths. The simplest rule is that of dead
/// cells (Level::is_live): a lone box there reaches no goal. PushGraph::side_lives refines it by the player's side.
/// tests/cpp/test_sokoban_search.cpp compares every combination with an enumeration.
namespace recommit::sokoban {

/// Freeze deadlocks: boxes that block each other, together with walls, so that none can ever move again. Sound: the
/// frozen boxes are the largest set in which every box has, on both axes, a wall or a member of the set beside it, or
/// only dead cells. The first of them to move would violate its own condition. Not thread-safe.
class Freeze {
 public:
  explicit Freeze(const PushGraph& graph) : graph_(graph), member_(static_cast<std::size_t>(graph.cells()) + 1) {}

  /// True if some box connected to the one on `cell` is frozen off a goal. occupied[c] != 0 for boxes and wall().
  bool dead(int cell, const std::vector<std::uint8_t>& occupied);

 private:
  template <class Held>
  bool can_move(int cell, Held held) const noexcept;

  const PushGraph& graph_;
  std::vector<std::uint8_t> member_;
  std::vector<std::uint16_t> cluster_;
};

}  // namespace recommit::sokoban
