// Random levels whose solution has a length that was asked for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/threads/watch.hpp"
#include "core/types.hpp"

namespace recommit::sokoban {

/// Levels of rows x cols cells (outer wall included) with exactly `boxes` boxes and goals, whose optimal solution has
/// between `shortest` and `longest` actions.
struct Request {
  Shape shape;
  int boxes = 1;
  Distance shortest = 1;
  Distance longest = kLongest;
  /// Layouts are those of Boxoban: one random walk each, as large as it comes, with its goals anywhere.
  bool walked = false;

  static constexpr Distance kLongest = 254;
};

/// Throws ValueError, naming what was asked and what is possible, unless the request makes sense. One that does may
/// still be impossible to meet (no such length on so small a board): generate() finds out.
void check_request(const Request& request);

/// How many layouts are tried for one instance before generate() gives up with a ValueError.
inline constexpr int kLayoutTries = 4096;

/// states[i], lengths[i] for i in [begin, end): instance start + i. Its layout comes from one of several families of
/// random rooms, its start from the complete distances of that layout, so the length is exact; lengths are drawn evenly
/// from the window as far as layouts have them. An instance is a function of (request, seed, its index) alone.
/// Throws ValueError if kLayoutTries layouts hold no start in the window.
void generate(const Request& request, std::uint64_t seed, std::uint64_t start, std::uint8_t* states, Distance* lengths,
              std::size_t begin, std::size_t end, Watch* watch = nullptr);

}  // namespace recommit::sokoban
