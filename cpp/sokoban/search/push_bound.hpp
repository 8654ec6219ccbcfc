// Lower bounds on the remaining actions, including walks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sokoban/search/assignment.hpp"
#include "sokoban/search/push_graph.hpp"

namespace recommit::sokoban {

/// Admissible lower bounds on the remaining actions, including walks.
///
/// Let p be any function of cells that changes by at most 1 per step (a *potential*). Along a solution the sum of 1 +
/// p(after) - p(before) over all actions is its length + p(end) - p(start), and no term is negative. So the length is
/// at least p(start) - max p(possible ends) + the terms of the pushes alone, and these are at least the least-cost
/// assignment of boxes to goals, with a push costing 0, 1 or 2. p = 0 is the classic bound by pushes. A p that falls
/// towards the goals makes each push cost 2: the player has to come back for the next box. The bound is the largest of
/// several potentials. One object per search; not thread-safe.
class PushBound {
 public:
  static constexpr std::size_t kMost = 6;  ///< potentials

  /// Without `assignment` every box counts its nearest goal, even if shared.
  PushBound(const PushGraph& graph, std::size_t boxes, bool assignment);

  using Potential = std::vector<std::int16_t>;
  std::size_t count() const noexcept { return parts_.size(); }
  void add(Potential potential);
  PushBound empty_copy() const { return PushBound(graph_, boxes_.size(), assignment_); }
  const Potential& potential(std::size_t k) const noexcept { return parts_[k].potential; }

  /// Sets the boxes (live numbers) for exchanged(). False if they cannot all reach distinct goals.
  bool set_boxes(const std::vector<std::uint16_t>& boxes);
  int value(std::size_t k) const noexcept { return parts_[k].value; }

  /// The value with box i of set_boxes() moved to live cell `to`; -1 if unsolvable.
  int exchanged(std::size_t k, std::size_t i, int to);

  /// A cheaper lower bound on exchanged(); -1 only if that is -1.
  int exchanged_at_least(std::size_t k, std::size_t i, int to) const noexcept;

  /// Lower bound on the remaining actions by potential k, from its value and the player's cell.
  int bound(std::size_t k, int value, int player) const noexcept {
    return value + parts_[k].potential[static_cast<std::size_t>(player)] - parts_[k].end;
  }

  static std::size_t bytes_for(const PushGraph& graph) noexcept;  ///< per potential

 private:
  struct Part {
    Part(std::size_t goals) : assignment(goals) {}
    Potential potential;
    int end = 0;
    int value = 0;
    std::vector<std::uint16_t> costs;     ///< [live][goal]
    std::vector<std::uint16_t> nearest;   ///< [live], the lowest cost
    std::vector<std::uint16_t> cheapest;  ///< [live], its goal
    Assignment assignment;
  };
  const std::uint16_t* row(const Part& part, std::size_t live) const noexcept {
    return part.costs.data() + live * static_cast<std::size_t>(graph_.goals());
  }

  const PushGraph& graph_;
  bool assignment_;
  std::vector<std::uint16_t> boxes_;
  std::vector<const std::uint16_t*> rows_;
  std::vector<std::uint16_t> cheapest_;
  std::vector<Part> parts_;
};

}  // namespace recommit::sokoban
