// Random boards with a requested optimal length.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/threads/watch.hpp"
#include "core/types.hpp"
#include "sliding/solver.hpp"

namespace recommit::sliding {

/// Boards of exact optimal length. The length is drawn uniformly from those in lo..hi, then
///   - with complete tables (up to ten cells), the board uniformly from all boards of that length;
///   - on larger boards, by a walk from the goal of just so many steps without reversal, taken if a bounded search
///     shows no shorter way; where such walks keep failing (long lengths), by a longer walk, from whose end an optimal
///     plan is followed until the length is left. Not uniform among boards of that length.
/// Board i of the batch is instance start + i: a function of (shape, lo, hi, seed, start + i) alone. Immutable; any
/// number of threads may call it.
class Generator {
 public:
  /// Throws ValueError if no board of this shape has a length in the window.
  Generator(Shape shape, int lo, int hi, int threads, Watch* watch = nullptr);

  /// The part of this check that needs no table.
  static void check(Shape shape, int lo, int hi);

  /// states[i] and lengths[i] for i in [begin, end). Throws ValueError when kAttempts boards in a row failed.
  void generate(std::uint64_t seed, std::uint64_t start, std::uint8_t* states, Distance* lengths, std::size_t begin,
                std::size_t end, Watch* watch = nullptr) const;

  static constexpr int kAttempts = 256;

 private:
  class Walker;

  Shape shape_;
  int lo_, hi_;
  Solver solver_;
};

}  // namespace recommit::sliding
