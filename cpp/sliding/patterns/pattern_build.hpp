// Construction of a pattern's table.
#pragma once

#include "core/memory/buffer.hpp"
#include "core/threads/watch.hpp"
#include "sliding/patterns/pattern.hpp"

namespace recommit::sliding {

/// Table values have two bits each, the lowest placement in the lowest bits.
inline constexpr int kValueBits = 2;
inline constexpr int kMaxValue = (1 << kValueBits) - 1;
inline constexpr std::uint32_t kPerByte = 8 / kValueBits;

inline std::size_t packed_bytes(const Pattern& pattern) noexcept {
  return (std::size_t{pattern.size()} + kPerByte - 1) / kPerByte;
}

inline int packed_value(const std::uint8_t* table, std::uint32_t index) noexcept {
  return table[index / kPerByte] >> (index % kPerByte * kValueBits) & kMaxValue;
}

/// (d - m) / 2, at most kMaxValue, of every placement of the pattern, packed: d is the least number of moves *of
/// pattern tiles* that bring them home, wherever the blank is, and m their taxicab distance. (d - m is never negative
/// and always even.) Moves of other tiles are free, so the values of patterns that share no tile add up to a lower
/// bound; capping keeps that true, and costs little: 3 is exceeded by 0.2 % of the placements of six tiles.
///
/// Breadth-first over (placement, region of the blank), level by level, in the order of the placements: a move changes
/// one digit, so neighbouring placements write to neighbouring addresses. Placements are split into slabs by the cell
/// of the first tile, and only the owner of a slab writes to it: no locks, and the same bytes for any thread count.
/// Needs 3.25 bytes per placement. `watch` counts placements.
Buffer build_pattern(const Pattern& pattern, int threads, Watch* watch = nullptr);

}  // namespace recommit::sliding
