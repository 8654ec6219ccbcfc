// Potentials for lower bounds.
#pragma once

#include <cstdint>
#include <vector>

#include "core/rng.hpp"
#include "sokoban/level.hpp"
#include "sokoban/search/push_bound.hpp"
#include "sokoban/search/push_graph.hpp"

namespace recommit::sokoban {

/// A state on which potentials are fitted.
struct BoundSample {
  std::vector<std::uint16_t> boxes;  ///< live numbers
  std::uint16_t player = 0;
};

/// Initial candidates: slopes along and across the grid, and distance to (and from) the goals.
std::vector<PushBound::Potential> simple_potentials(const Level& level, const PushGraph& graph);

/// Adds the simple potential with the largest bound for `sample`.
void add_best_simple(const Level& level, const PushGraph& graph, PushBound& bound, const BoundSample& sample);

/// Adds a potential found by hill climbing from the best one for the samples: cones are raised or lowered (keeping
/// steps of at most 1) if that does not lower the sum, over the samples, of the largest bound of all potentials.
/// Deterministic.
void add_climbed(const PushGraph& graph, PushBound& bound, const std::vector<BoundSample>& samples, int tries, Rng rng);

}  // namespace recommit::sokoban
