// Boxes that block one another on both axes.
#include "sokoban/search/deadlock_freeze.hpp"

namespace recommit::sokoban {

/// True if on some axis neither neighbour is held and at least one of them is live.
template <class Held>
bool Freeze::can_move(int cell, Held held) const noexcept {
  for (const int action : {0, 2}) {
    const int one = graph_.next(cell, action), other = graph_.next(cell, action + 1);
    if (!held(one) && !held(other) && (graph_.is_live(one) || graph_.is_live(other))) return true;
  }
  return false;
}

bool Freeze::dead(int cell, const std::vector<std::uint8_t>& occupied) {
  const auto at = [](int c) { return static_cast<std::size_t>(c); };
  if (can_move(cell, [&](int c) { return occupied[at(c)] != 0; })) return false;
  cluster_.assign(1, static_cast<std::uint16_t>(cell));
  member_[at(cell)] = 1;
  for (std::size_t i = 0; i < cluster_.size(); ++i) {  // all boxes connected to this one
    for (int action = 0; action < kActions; ++action) {
      const int there = graph_.next(cluster_[i], action);
      if (there == graph_.wall() || occupied[at(there)] == 0 || member_[at(there)] != 0) continue;
      member_[at(there)] = 1;
      cluster_.push_back(static_cast<std::uint16_t>(there));
    }
  }
  const auto held = [&](int c) { return c == graph_.wall() || member_[at(c)] != 0; };
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint16_t box : cluster_) {
      if (member_[box] != 0 && can_move(box, held)) {
        member_[box] = 0;
        changed = true;
      }
    }
  }
  bool off_goal = false;
  for (const std::uint16_t box : cluster_) {
    off_goal |= member_[box] != 0 && !graph_.is_goal(box);
    member_[box] = 0;
  }
  return off_goal;
}

}  // namespace recommit::sokoban
