// Ranking of permutations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace recommit::sliding {

/// Numbers the permutations of 0..n-1 in lexicographic order, n <= 12.
inline std::uint32_t permutation_rank(const std::uint8_t* items, int n) noexcept {
  std::uint32_t rank = 0, used = 0;
  for (int i = 0; i < n; ++i) {
    std::uint32_t digit = items[i];
    for (std::uint32_t below = used & ((1U << items[i]) - 1); below != 0; below &= below - 1) --digit;
    used |= 1U << items[i];
    rank = rank * static_cast<std::uint32_t>(n - i) + digit;
  }
  return rank;
}

inline void permutation_unrank(std::uint32_t rank, int n, std::uint8_t* out) noexcept {
  std::array<std::uint32_t, 12> digits{};
  for (int i = n - 1; i >= 0; --i) {
    digits[static_cast<std::size_t>(i)] = rank % static_cast<std::uint32_t>(n - i);
    rank /= static_cast<std::uint32_t>(n - i);
  }
  std::uint32_t used = 0;
  for (int i = 0; i < n; ++i) {
    std::uint32_t left = digits[static_cast<std::size_t>(i)];
    std::uint8_t item = 0;
    for (;; ++item) {
      if ((used >> item & 1) == 0 && left-- == 0) break;
    }
    used |= 1U << item;
    out[i] = item;
  }
}

/// The same for kLanes permutations at once, written so that a compiler turns every line into vector instructions.
/// Cell c of permutation l is column[c][l].
template <int N>
class LaneRanks {
 public:
  static constexpr std::size_t kLanes = 32;
  using Bytes = std::array<std::uint8_t, kLanes>;
  using Words = std::array<std::uint16_t, kLanes>;

  explicit LaneRanks(const std::uint8_t* states) noexcept {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      for (std::size_t c = 0; c < N; ++c) column_[c][lane] = states[lane * N + c];
    }
  }

  /// Writes the ranks; false if a lane is not a permutation.
  bool ranks(std::array<std::uint32_t, kLanes>& out) const noexcept {
    Bytes wrong{};
    Words high{}, low{};
    for (std::size_t i = 0; i < N; ++i) {
      // One statement per loop and no conditions: compilers turn two comparisons of the same bytes into a branch, which
      // is thirty times slower.
      Bytes digit{};
      for (std::size_t j = i + 1; j < N; ++j) add_less(digit, column_[j], column_[i]);
      for (std::size_t j = i + 1; j < N; ++j) note_equal(wrong, column_[j], column_[i]);
      note_large(wrong, column_[i]);
      // Two halves of 16 bits are enough up to ten cells: 10*9*8*7*6 and 5*4*3*2.
      Words& half = i < kHigh ? high : low;
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        half[lane] = static_cast<std::uint16_t>(half[lane] * (N - i) + digit[lane]);
      }
    }
    std::uint8_t any = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      any = static_cast<std::uint8_t>(any | wrong[lane]);
      out[lane] = std::uint32_t{high[lane]} * kLowSize + low[lane];
    }
    return any == 0;
  }

 private:
  static void add_less(Bytes& to, const Bytes& a, const Bytes& b) noexcept {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      to[lane] = static_cast<std::uint8_t>(to[lane] + (a[lane] < b[lane]));
  }
  static void note_equal(Bytes& to, const Bytes& a, const Bytes& b) noexcept {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      to[lane] = static_cast<std::uint8_t>(to[lane] | (a[lane] == b[lane]));
  }
  static void note_large(Bytes& to, const Bytes& a) noexcept {
    for (std::size_t lane = 0; lane < kLanes; ++lane) to[lane] = static_cast<std::uint8_t>(to[lane] | (a[lane] >= N));
  }

  static constexpr std::size_t kHigh = N > 5 ? N - 5 : 0;
  static constexpr std::uint32_t kLowSize = N > 5 ? 120 : 1;
  std::array<Bytes, N> column_;
};

}  // namespace recommit::sliding
