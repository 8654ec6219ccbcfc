// Non-temporal copies, for results that would evict everything else.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recommit {

/// Results from this size on bypass the caches: they would evict everything else, and a non-temporal store need not
/// read the line it overwrites.
inline constexpr std::size_t kStreamBytes = std::size_t{8} << 20;

/// memcpy with non-temporal stores if the processor has them. Call stream_fence() after the last one, before other
/// threads read.
void stream_copy(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes) noexcept;
void stream_fence() noexcept;

}  // namespace recommit
