// A copy of bytes that stays fast where both addresses are alike.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace recommit {

/// memcpy for more than 2 KB. C libraries hand such a length to the processor's own copy instruction, and Zen 3 takes
/// some twenty times as long over it where both addresses are nearly the same within their pages, as those of two big
/// arrays usually are. Shorter pieces are copied with ordinary loads and stores, by memmove: where the length has a
/// bound, GCC makes that very instruction (`rep movsq`) of memcpy.
inline void copy_in_pieces(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) noexcept {
  constexpr std::size_t kPiece = 2048;
  for (std::size_t at = 0; at < bytes; at += kPiece) std::memmove(to + at, from + at, std::min(kPiece, bytes - at));
}

}  // namespace recommit
