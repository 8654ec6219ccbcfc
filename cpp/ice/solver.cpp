// Distances and optimal plans, read from the distances of each cave.
#include "ice/solver.hpp"

#include <bit>

#include "core/rng.hpp"
#include "ice/distances.hpp"

namespace recommit::ice {
namespace {

/// The first action of the mask, or any of them.
std::size_t pick(unsigned mask, Ties ties, Rng& rng) noexcept {
  std::uint32_t skip = ties == Ties::Random ? rng.below(static_cast<std::uint32_t>(std::popcount(mask))) : 0;
  for (; skip > 0; --skip) mask &= mask - 1;
  return static_cast<std::size_t>(std::countr_zero(mask));
}

}  // namespace

void distance(const std::uint8_t* states, Shape shape, Distance* out, std::size_t begin, std::size_t end) {
  Distances distances;
  for (std::size_t i = begin; i < end; ++i) {
    distances.read(states, shape, i);
    out[i] = distances.at(distances.player());
  }
}

void optimal_actions(const std::uint8_t* states, Shape shape, std::uint8_t* masks, std::size_t begin, std::size_t end) {
  Distances distances;
  for (std::size_t i = begin; i < end; ++i) {
    distances.read(states, shape, i);
    const unsigned mask = distances.optimal_actions(distances.player());
    for (std::size_t action = 0; action < kActions; ++action) masks[i * kActions + action] = mask >> action & 1;
  }
}

void solve(const std::uint8_t* states, Shape shape, Ties ties, std::uint64_t seed, std::vector<std::uint8_t>* plans,
           Distance* lengths, std::size_t begin, std::size_t end) {
  Distances distances;
  for (std::size_t i = begin; i < end; ++i) {
    distances.read(states, shape, i);
    Rng rng(seed, Purpose::Ties, i);
    int here = distances.player();
    lengths[i] = distances.at(here);
    for (Distance left = lengths[i]; left > 0; --left) {
      const std::size_t action = pick(distances.optimal_actions(here), ties, rng);
      plans[i].push_back(static_cast<std::uint8_t>(action));
      here = distances.slide(here, action);
    }
  }
}

}  // namespace recommit::ice
