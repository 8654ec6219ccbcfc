// Simple potentials, and hill climbing on the bounds of sampled states.
#include "sokoban/search/potentials.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace recommit::sokoban {
namespace {

using Potential = PushBound::Potential;

/// Distance in steps from the nearest cell of `from`, ignoring boxes.
Potential steps_from(const PushGraph& graph, std::vector<std::uint16_t> from) {
  Potential steps(at(graph.cells()) + 1, -1);
  for (const std::uint16_t cell : from) steps[cell] = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (int action = 0; action < kActions; ++action) {
      const int there = graph.next(from[i], action);
      if (there == graph.wall() || steps[at(there)] >= 0) continue;
      steps[at(there)] = static_cast<std::int16_t>(steps[from[i]] + 1);
      from.push_back(static_cast<std::uint16_t>(there));
    }
  }
  steps.back() = 0;
  return steps;
}

Potential negated(Potential potential) {
  for (std::int16_t& value : potential) value = static_cast<std::int16_t>(-value);
  return potential;
}

/// The goal with the least sum of steps to all others.
std::uint16_t middle_goal(const PushGraph& graph) {
  std::uint16_t middle = graph.goal_cells().front();
  int least = -1;
  const std::size_t some = std::min<std::size_t>(graph.goal_cells().size(), 32);  // enough for an estimate
  for (std::size_t i = 0; i < some; ++i) {
    const Potential steps = steps_from(graph, {graph.goal_cells()[i]});
    int sum = 0;
    for (const std::uint16_t other : graph.goal_cells()) sum += steps[other];
    if (least >= 0 && sum >= least) continue;
    least = sum;
    middle = graph.goal_cells()[i];
  }
  return middle;
}

/// Raises (by > 0) or lowers the potential at `centre`, and around it as far as needed for steps of at most 1.
Potential with_cone(const PushGraph& graph, const Potential& potential, std::uint16_t centre, int by) {
  const Potential steps = steps_from(graph, {centre});
  Potential out = potential;
  for (std::size_t cell = 0; cell < at(graph.cells()); ++cell) {
    const int peak = potential[centre] + by, value = out[cell];
    out[cell] =
        static_cast<std::int16_t>(by > 0 ? std::max(value, peak - steps[cell]) : std::min(value, peak + steps[cell]));
  }
  return out;
}

/// Bound of potential k alone for a sample, whose boxes are set in `bound`.
int bound_of(const PushBound& bound, std::size_t k, const BoundSample& sample) {
  return bound.bound(k, bound.value(k), sample.player);
}

class Climb {
 public:
  Climb(const PushGraph& graph, PushBound& bound, const std::vector<BoundSample>& samples)
      : graph_(graph), bound_(bound), samples_(samples), floor_(samples.size()) {}

  void run(int tries, Rng& rng) {
    const std::size_t from = best_so_far();
    Potential best = bound_.potential(from);
    Score best_score = score(best);
    for (int i = 0; i < tries; ++i) {
      const auto centre = static_cast<std::uint16_t>(rng.below(static_cast<std::uint32_t>(graph_.cells())));
      const int size = 1 + static_cast<int>(rng.below(4));
      const bool up = rng.below(2) == 1;
      Potential next = with_cone(graph_, best, centre, up ? size : -size);
      const Score next_score = score(next);
      if (next_score < best_score) continue;
      best_score = next_score;
      best = std::move(next);
    }
    bound_.add(std::move(best));
  }

 private:
  using Score = std::pair<int, int>;  // combined with the others first, then alone, to break ties on plateaus

  /// Also records each sample's bound under the existing potentials.
  std::size_t best_so_far() {
    std::vector<int> sums(bound_.count());
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      bound_.set_boxes(samples_[i].boxes);
      for (std::size_t k = 0; k < sums.size(); ++k) {
        const int value = bound_of(bound_, k, samples_[i]);
        sums[k] += value;
        floor_[i] = std::max(floor_[i], value);
      }
    }
    return static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
  }

  Score score(const Potential& potential) {
    PushBound alone = bound_.empty_copy();
    alone.add(potential);
    Score sum{};
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      if (!alone.set_boxes(samples_[i].boxes)) continue;
      const int value = bound_of(alone, 0, samples_[i]);
      sum.first += std::max(floor_[i], value);
      sum.second += value;
    }
    return sum;
  }

  const PushGraph& graph_;
  PushBound& bound_;
  const std::vector<BoundSample>& samples_;
  std::vector<int> floor_;
};

}  // namespace

std::vector<Potential> simple_potentials(const Level& level, const PushGraph& graph) {
  std::vector<Potential> all;
  for (int down = -1; down <= 1; ++down) {
    for (int right = -1; right <= 1; ++right) {
      if (down == 0 && right == 0) continue;
      Potential slope(at(graph.cells()) + 1);
      for (int cell = 0; cell < graph.cells(); ++cell) {
        slope[at(cell)] = static_cast<std::int16_t>(down * level.row_of(cell) + right * level.col_of(cell));
      }
      all.push_back(std::move(slope));
    }
  }
  for (const Potential& steps : {steps_from(graph, graph.goal_cells()), steps_from(graph, {middle_goal(graph)})}) {
    all.push_back(steps);
    all.push_back(negated(steps));
  }
  return all;
}

void add_best_simple(const Level& level, const PushGraph& graph, PushBound& bound, const BoundSample& sample) {
  Potential best;
  int most = -PushGraph::kFar;
  for (Potential& potential : simple_potentials(level, graph)) {
    PushBound alone = bound.empty_copy();
    alone.add(potential);
    if (!alone.set_boxes(sample.boxes)) continue;
    const int value = bound_of(alone, 0, sample);
    if (value <= most) continue;
    most = value;
    best = std::move(potential);
  }
  if (!best.empty()) bound.add(std::move(best));
}

void add_climbed(const PushGraph& graph, PushBound& bound, const std::vector<BoundSample>& samples, int tries,
                 Rng rng) {
  if (!samples.empty()) Climb(graph, bound, samples).run(tries, rng);
}

}  // namespace recommit::sokoban
