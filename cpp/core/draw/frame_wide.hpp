// Rendering on processors with 32-byte registers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/draw/frame.hpp"

namespace recommit {

/// draw_frames for processors with 32-byte registers, in whole aligned stores. Returns false, having drawn nothing, on
/// other processors and for pictures too narrow to gain.
bool draw_frames_wide(const Atlas& atlas, const View& view, const std::uint8_t* states, std::uint8_t* images,
                      bool stream, std::size_t begin, std::size_t end) noexcept;

}  // namespace recommit
