// A byte copy that stays fast for addresses with similar page offsets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace recommit {

/// memcpy for more than 2 KB. C libraries use the processor's copy instruction for such lengths, which on Zen 3 is some
/// twenty times slower if both addresses have nearly the same page offset, as those of two big arrays usually do.
/// Shorter pieces are copied with ordinary loads and stores, by memmove: for bounded lengths GCC compiles memcpy to
/// that very instruction (`rep movsq`).
inline void copy_in_pieces(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) noexcept {
  constexpr std::size_t kPiece = 2048;
  for (std::size_t at = 0; at < bytes; at += kPiece) std::memmove(to + at, from + at, std::min(kPiece, bytes - at));
}

}  // namespace recommit
