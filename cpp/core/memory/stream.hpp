// Copies past the caches, for results that would evict everything else.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recommit {

/// Results from this size on go past the caches: they would evict everything else, and a store that bypasses the cache
/// does not have to read the line it overwrites.
inline constexpr std::size_t kStreamBytes = std::size_t{8} << 20;

/// memcpy whose stores bypass the caches where the processor can. Call stream_fence() once after the last one, before
/// another thread looks.
void stream_copy(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) noexcept;
void stream_fence() noexcept;

}  // namespace recommit
