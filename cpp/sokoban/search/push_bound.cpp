// Bounds of a set of boxes, and of sets that differ by a single push.
#include "sokoban/search/push_bound.hpp"

#include <algorithm>
#include <utility>

namespace recommit::sokoban {

PushBound::PushBound(const PushGraph& graph, std::size_t boxes, bool assignment)
    : graph_(graph), assignment_(assignment), boxes_(boxes), rows_(boxes), cheapest_(boxes) {}

std::size_t PushBound::bytes_for(const PushGraph& graph) noexcept {
  const auto live = static_cast<std::size_t>(graph.live_cells()), goals = static_cast<std::size_t>(graph.goals());
  return live * (goals + 2) * 2 + static_cast<std::size_t>(graph.cells() + 1) * 2 + Assignment::bytes_for(goals);
}

void PushBound::add(Potential potential) {
  const auto live = static_cast<std::size_t>(graph_.live_cells()), goals = static_cast<std::size_t>(graph_.goals());
  Part part(goals);
  part.end = -PushGraph::kFar;
  for (const std::uint16_t cell : graph_.end_cells()) part.end = std::max<int>(part.end, potential[cell]);
  part.costs.resize(live * goals);
  graph_.costs(potential, part.costs.data());
  part.nearest.resize(live);
  part.cheapest.resize(live);
  for (std::size_t i = 0; i < live; ++i) {
    const std::uint16_t* best = std::min_element(row(part, i), row(part, i) + goals);
    part.nearest[i] = *best;
    part.cheapest[i] = static_cast<std::uint16_t>(best - row(part, i));
  }
  part.potential = std::move(potential);
  parts_.push_back(std::move(part));
}

bool PushBound::set_boxes(const std::vector<std::uint16_t>& boxes) {
  boxes_ = boxes;
  for (Part& part : parts_) {
    part.value = 0;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      rows_[i] = row(part, boxes[i]);
      cheapest_[i] = part.cheapest[boxes[i]];
      const int nearest = part.nearest[boxes[i]];
      if (nearest >= PushGraph::kFar) return false;
      part.value += nearest;
    }
    if (assignment_) part.value = part.assignment.solve(rows_, cheapest_);
    if (part.value >= Assignment::kImpossible) return false;
  }
  return true;
}

int PushBound::exchanged(std::size_t k, std::size_t i, int to) {
  Part& part = parts_[k];
  const auto live = static_cast<std::size_t>(to);
  if (part.nearest[live] >= PushGraph::kFar) return -1;
  if (!assignment_) return part.value - part.nearest[boxes_[i]] + part.nearest[live];
  const int total = part.assignment.exchanged(i, row(part, live));
  return total >= Assignment::kImpossible ? -1 : total;
}

int PushBound::exchanged_at_least(std::size_t k, std::size_t i, int to) const noexcept {
  const Part& part = parts_[k];
  const auto live = static_cast<std::size_t>(to);
  if (part.nearest[live] >= PushGraph::kFar) return -1;
  if (!assignment_) return part.value - part.nearest[boxes_[i]] + part.nearest[live];
  const int total = part.assignment.exchanged_at_least(i, row(part, live));
  return total >= Assignment::kImpossible ? -1 : total;
}

}  // namespace recommit::sokoban
