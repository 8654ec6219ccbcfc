// Lower bounds on the actions left, walks included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sokoban/search/assignment.hpp"
#include "sokoban/search/push_graph.hpp"

namespace recommit::sokoban {

/// Admissible lower bounds on the actions left, walks included.
///
/// Let p be any function of cells that changes by at most 1 per step (a *potential*). Along a solution the sum of
/// 1 + p(after) - p(before) over all actions is its length + p(end) - p(start), and no term is negative. So the length
/// is at least p(start) - max p(possible ends) + the terms of the pushes alone, and these are at least the least-cost
/// assignment of boxes to goals, with a push costing 0, 1 or 2. p = 0 is the classic bound by pushes. A p that falls
/// towards the goals makes each push cost 2: the player has to come back for the next box. The bound is the largest of
/// several potentials. One object per search; not for several threads at once.
class PushBound {
 public:
  static constexpr std::size_t kMost = 6;  ///< potentials

  /// `assignment` off: every box takes its nearest goal, also if it is taken.
  PushBound(const PushGraph& graph, std::size_t boxes, bool assignment);

  using Potential = std::vector<std::int16_t>;
  std::size_t count() const noexcept { return parts_.size(); }
  void add(Potential potential);
  PushBound empty_copy() const { return PushBound(graph_, boxes_.size(), assignment_); }
  const Potential& potential(std::size_t k) const noexcept { return parts_[k].potential; }

  /// Boxes (live numbers) from which exchanged() departs. False if they cannot all reach goals of their own.
  bool set_boxes(const std::vector<std::uint16_t>& boxes);
  int value(std::size_t k) const noexcept { return parts_[k].value; }

  /// The same value with box number i of set_boxes() moved to live cell `to`; -1 if that cannot be solved.
  int exchanged(std::size_t k, std::size_t i, int to);

  /// Never more than exchanged(), and cheaper; -1 only if that is -1.
  int exchanged_at_least(std::size_t k, std::size_t i, int to) const noexcept;

  /// Least actions left by potential k, from a value of it and the player's cell.
  int bound(std::size_t k, int value, int player) const noexcept {
    return value + parts_[k].potential[static_cast<std::size_t>(player)] - parts_[k].end;
  }

  static std::size_t bytes_for(const PushGraph& graph) noexcept;  ///< of one potential

 private:
  struct Part {
    Part(std::size_t goals) : assignment(goals) {}
    Potential potential;
    int end = 0;
    int value = 0;
    std::vector<std::uint16_t> costs;     ///< [live][goal]
    std::vector<std::uint16_t> nearest;   ///< [live], the least of them
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
