// Random numbers as functions of a key: purpose, seed and index.
#pragma once

#include <cstdint>
#include <utility>

namespace recommit {

/// Purpose of a stream. Two purposes never share a stream, for any seeds. Numbers are part of the format.
enum class Purpose : std::uint64_t {
  Test = 0,
  SlidingGenerate = 1,
  SokobanGenerate = 2,
  Episode = 3,
  Ties = 4,
  Bench = 5,
  Generate = 6,  ///< of every further puzzle; each mixes a tag of its own into the seed
};

/// Counter-based randomness: draw n of the stream (seed, purpose, index) is a pure function of these four numbers,
/// so any slice of any batch on any thread sees the same values. The generator is SplitMix64 on a hashed key.
class Rng {
 public:
  constexpr Rng(std::uint64_t seed, Purpose purpose, std::uint64_t index) noexcept
      : state_(mix(mix(mix(seed + kGolden) ^ (static_cast<std::uint64_t>(purpose) + kGolden)) ^ (index + kGolden))) {}

  constexpr std::uint64_t next() noexcept { return mix(state_ += kGolden); }

  /// Uniform in 0..bound-1 without bias (Lemire's rejection on 32 bits); bound >= 1.
  constexpr std::uint32_t below(std::uint32_t bound) noexcept {
    std::uint64_t product = (next() >> 32) * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t threshold = (0U - bound) % bound;
      while (static_cast<std::uint32_t>(product) < threshold) product = (next() >> 32) * bound;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

  /// Fisher-Yates from the back; the order of draws is part of the format.
  template <class Sequence>
  constexpr void shuffle(Sequence& items) noexcept {
    for (std::uint32_t i = static_cast<std::uint32_t>(items.size()); i > 1; --i) {
      std::swap(items[i - 1], items[below(i)]);
    }
  }

  static constexpr std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

 private:
  static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  std::uint64_t state_;
};

}  // namespace recommit
