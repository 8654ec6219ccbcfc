// The retrograde search for processors with 32-byte registers.
#include "sokoban/table/retrograde.hpp"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#define RECOMMIT_TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define RECOMMIT_INLINE __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"), always_inline)) inline
#define RECOMMIT_PREFETCH(address) _mm_prefetch(reinterpret_cast<const char*>(address), _MM_HINT_T0)

namespace recommit::sokoban::retrograde {
namespace {

/// Sets the bytes of row[0..31] whose bit is set in `bits`.
RECOMMIT_INLINE void blend(std::uint8_t* row, std::uint32_t bits, std::uint8_t level) noexcept {
  const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,  //
                                          2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
  const __m256i each = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
  const __m256i copies = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(bits)), spread);
  const __m256i chosen = _mm256_cmpeq_epi8(_mm256_and_si256(copies, each), each);
  auto* target = reinterpret_cast<__m256i*>(row);
  const __m256i old = _mm256_loadu_si256(target);
  _mm256_storeu_si256(target, _mm256_blendv_epi8(old, _mm256_set1_epi8(static_cast<char>(level)), chosen));
}

/// The same for row[0..15] of two bytes each.
RECOMMIT_INLINE void blend(std::uint16_t* row, std::uint32_t bits, std::uint16_t level) noexcept {
  const __m256i each = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384,
                                         static_cast<short>(0x8000));
  const __m256i copies = _mm256_set1_epi16(static_cast<short>(bits));
  const __m256i chosen = _mm256_cmpeq_epi16(_mm256_and_si256(copies, each), each);
  auto* target = reinterpret_cast<__m256i*>(row);
  const __m256i old = _mm256_loadu_si256(target);
  _mm256_storeu_si256(target, _mm256_blendv_epi8(old, _mm256_set1_epi16(static_cast<short>(level)), chosen));
}

/// row[cell] = level for every place of the word that is set in `fresh`.
template <class Dist, class Word>
RECOMMIT_INLINE void store_level(Dist* row, const Word& word, std::uint64_t fresh, Dist level) noexcept {
  constexpr int kLanes = 32 / static_cast<int>(sizeof(Dist));
  std::uint64_t bits = _pext_u64(fresh, word.open);
  row += word.first_cell;
  // Always as many iterations as a whole word needs, which makes the loop count predictable.
  for (int cells = word.cells; cells > 0; cells -= kLanes) {
    blend(row, static_cast<std::uint32_t>(bits), level);
    bits >>= kLanes;
    row += kLanes;
  }
}

#include "sokoban/table/retrograde_kernel.inc"

}  // namespace

bool has_fast_kernel() noexcept {
  // Before Zen 3, AMD runs pext in microcode, slower than the portable loop.
  static const bool fast = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") &&
                           !__builtin_cpu_is("znver1") && !__builtin_cpu_is("znver2");
  return fast;
}

RECOMMIT_TARGET End run_fast(const Ground& ground, Progress& progress, std::uint8_t* distances, Pause& pause) {
  return run_search(ground, progress, distances, pause);
}

RECOMMIT_TARGET End run_fast(const Ground& ground, Progress& progress, std::uint16_t* distances, Pause& pause) {
  return run_search(ground, progress, distances, pause);
}

}  // namespace recommit::sokoban::retrograde

#else

namespace recommit::sokoban::retrograde {

bool has_fast_kernel() noexcept { return false; }

End run_fast(const Ground& ground, Progress& progress, std::uint8_t* distances, Pause& pause) {
  return run_portable(ground, progress, distances, pause);
}

End run_fast(const Ground& ground, Progress& progress, std::uint16_t* distances, Pause& pause) {
  return run_portable(ground, progress, distances, pause);
}

}  // namespace recommit::sokoban::retrograde

#endif
