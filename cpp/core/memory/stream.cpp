// Non-temporal copies, for each processor and compiler.
#include "core/memory/stream.hpp"

#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define RECOMMIT_X86 1
#endif

namespace recommit {
namespace {

constexpr std::size_t kLine = 64;

#if defined(RECOMMIT_X86)

/// `to` is a multiple of 64, and so is `bytes`.
__attribute__((target("avx"))) void stream_lines_avx(std::uint8_t* to, const std::uint8_t* from,
                                                     std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < bytes; i += 64) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i + 32));
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i), a);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i + 32), b);
  }
}

void stream_lines_sse(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < bytes; i += 16) {
    const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), a);
  }
}

void stream_lines(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) noexcept {
  static const bool avx = __builtin_cpu_supports("avx") != 0;
  if (avx) return stream_lines_avx(to, from, bytes);
  stream_lines_sse(to, from, bytes);
}

#else

void stream_lines(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
}

#endif

/// Bytes from `to` up to the next multiple of a line.
std::size_t ragged(const std::uint8_t* to) noexcept { return (0 - reinterpret_cast<std::uintptr_t>(to)) & (kLine - 1); }

}  // namespace

void stream_copy(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) noexcept {
  const std::size_t head = ragged(to) < bytes ? ragged(to) : bytes;
  const std::size_t lines = (bytes - head) / kLine * kLine;
  std::memcpy(to, from, head);
  if (lines > 0) stream_lines(to + head, from + head, lines);
  std::memcpy(to + head + lines, from + head + lines, bytes - head - lines);
}

void stream_fence() noexcept {
#if defined(RECOMMIT_X86)
  _mm_sfence();
#endif
}

}  // namespace recommit
