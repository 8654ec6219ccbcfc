// The potentials that lower bounds are made of.
#pragma once

#include <cstdint>
#include <vector>

#include "core/rng.hpp"
#include "sokoban/level.hpp"
#include "sokoban/search/push_bound.hpp"
#include "sokoban/search/push_graph.hpp"

namespace recommit::sokoban {

/// A state for which a potential should give a good bound.
struct BoundSample {
  std::vector<std::uint16_t> boxes;  ///< live numbers
  std::uint16_t player = 0;
};

/// The shapes worth trying first: slopes along and across the grid, and distance to (and from) the goals.
std::vector<PushBound::Potential> simple_potentials(const Level& level, const PushGraph& graph);

/// Adds the simple potential that gives the largest bound for `sample`.
void add_best_simple(const Level& level, const PushGraph& graph, PushBound& bound, const BoundSample& sample);

/// Adds a potential found by hill climbing from the one that serves the samples best: cones are raised or lowered
/// (which keeps steps of at most 1) wherever that does not lower the sum, over the samples, of the largest bound that
/// all potentials together give. A pure function of its arguments.
void add_climbed(const PushGraph& graph, PushBound& bound, const std::vector<BoundSample>& samples, int tries, Rng rng);

}  // namespace recommit::sokoban
