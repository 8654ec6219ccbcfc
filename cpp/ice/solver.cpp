// Distances and optimal plans, from the distances of each cave.
#include "ice/solver.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/rng.hpp"
#include "ice/distances.hpp"

namespace recommit::ice {
namespace {

/// The first action of the mask, or a random one.
std::size_t pick(unsigned mask, Ties ties, Rng& rng) noexcept {
  std::uint32_t skip = ties == Ties::Random ? rng.below(static_cast<std::uint32_t>(std::popcount(mask))) : 0;
  for (; skip > 0; --skip) mask &= mask - 1;
  return static_cast<std::size_t>(std::countr_zero(mask));
}

/// A thread's cache of recent caves, some megabytes: running episodes query the same ones repeatedly.
class Recent {
 public:
  /// The cave of states[index]; its player goes to `player`.
  const Distances& cave(const std::uint8_t* states, Shape shape, std::size_t index, int& player) {
    player = Distances::strip(states, shape, index, cave_);
    Distances& cave = caves_[place(shape)];
    cave.take(cave_, shape);
    return cave;
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{8} << 20, kMost = 4096;

  /// The cache slot of the cave.
  std::size_t place(Shape shape) const noexcept {
    std::uint64_t hash = 0;
    for (std::size_t at = 0; at < cave_.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, cave_.data() + at, std::min<std::size_t>(8, cave_.size() - at));
      hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
      hash ^= hash >> 29;
    }
    const std::size_t each = 256 + 16 * static_cast<std::size_t>(shape.cells());
    return hash & (std::bit_floor(std::min(kMost, kBytes / each)) - 1);
  }

  std::vector<std::uint8_t> cave_;
  std::vector<Distances> caves_ = std::vector<Distances>(kMost);
};

Recent& recent() {
  thread_local Recent recent;
  return recent;
}

}  // namespace

void distance(const std::uint8_t* states, Shape shape, Distance* out, std::size_t begin, std::size_t end) {
  Recent& caves = recent();
  int player = 0;
  for (std::size_t i = begin; i < end; ++i) out[i] = caves.cave(states, shape, i, player).at(player);
}

void optimal_actions(const std::uint8_t* states, Shape shape, std::uint8_t* masks, std::size_t begin, std::size_t end) {
  Recent& caves = recent();
  int player = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const unsigned mask = caves.cave(states, shape, i, player).optimal_actions(player);
    for (std::size_t action = 0; action < kActions; ++action) masks[i * kActions + action] = mask >> action & 1;
  }
}

void solve(const std::uint8_t* states, Shape shape, Ties ties, std::uint64_t seed, std::vector<std::uint8_t>* plans,
           Distance* lengths, std::size_t begin, std::size_t end) {
  Recent& caves = recent();
  for (std::size_t i = begin; i < end; ++i) {
    Rng rng(seed, Purpose::Ties, i);
    int here = 0;
    const Distances& distances = caves.cave(states, shape, i, here);
    lengths[i] = distances.at(here);
    for (Distance left = lengths[i]; left > 0; --left) {
      const std::size_t action = pick(distances.optimal_actions(here), ties, rng);
      plans[i].push_back(static_cast<std::uint8_t>(action));
      here = distances.slide(here, action);
    }
  }
}

}  // namespace recommit::ice
