// Random levels with a certificate: a known plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/types.hpp"

namespace recommit::sokoban {

/// A level with a known plan, and hence solvable. `state` is rows x cols cell codes; replaying `plan` with execute()
/// solves it, and no shorter prefix does. The plan is a certificate, not optimal.
struct CertifiedLevel {
  std::vector<std::uint8_t> state;
  std::vector<std::uint8_t> plan;
};

/// Throws ValueError, naming requested and possible values, unless levels of this shape can hold `boxes` boxes: 3..64
/// by 3..64 cells with the outer wall, one side at least 5, and boxes in 1..(rows - 2) * (cols - 2) - 2. These
/// conditions are also sufficient: a request that passes cannot fail later.
void check_reverse_request(Shape shape, int boxes);

/// out[i] for i in [begin, end) becomes instance start + i: a solved open room, played backwards by random pulls and
/// walks, then filled with walls off the recorded plan. Never solved at the start, exactly `boxes` boxes and goals,
/// enclosed by the outer wall, every floor cell connected to the player through non-walls. An instance is a function of
/// (shape, boxes, seed, its index) alone.
void generate_reverse(Shape shape, int boxes, std::uint64_t seed, std::uint64_t start, std::uint8_t* out,
                      std::size_t begin, std::size_t end);

/// One instance with its certificate; the same bytes as generate_reverse() writes.
CertifiedLevel reverse_level(Shape shape, int boxes, std::uint64_t seed, std::uint64_t index);

}  // namespace recommit::sokoban
