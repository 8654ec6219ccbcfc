// Boards by random walks from the goal, of arbitrary length.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/types.hpp"

namespace recommit::sliding {

/// Boards made by a random walk from the goal that never undoes its last move: solvable by construction, of no
/// particular optimal length. The number of steps is drawn uniformly from n*n/2 .. n*n for n cells, which is past
/// mixing for every size here; a walk that ends at the goal goes on until it does not. Board i of the batch is
/// instance start + i, a function of (shape, seed, start + i) alone.
void generate_walks(Shape shape, std::uint64_t seed, std::uint64_t start, std::uint8_t* out, std::size_t begin,
                    std::size_t end);

}  // namespace recommit::sliding
