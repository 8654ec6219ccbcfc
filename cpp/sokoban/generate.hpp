// Random levels with a requested optimal length.
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
  /// Layouts as in Boxoban: one random walk each, of any size, with goals anywhere.
  bool walked = false;

  static constexpr Distance kLongest = 254;
};

/// Throws ValueError, naming requested and possible values, unless the request is valid. A valid one may still be
/// unsatisfiable (no such length on so small a board), which generate() detects.
void check_request(const Request& request);

/// Layouts tried for one instance before generate() throws ValueError.
inline constexpr int kLayoutTries = 4096;

/// states[i], lengths[i] for i in [begin, end): instance start + i. Its layout comes from one of several families of
/// random rooms, its start from the complete distances of that layout, so the length is exact; lengths are uniform over
/// the window as far as layouts have them. An instance is a function of (request, seed, its index) alone. Throws
/// ValueError if kLayoutTries layouts hold no start in the window.
void generate(const Request& request, std::uint64_t seed, std::uint64_t start, std::uint8_t* states, Distance* lengths,
              std::size_t begin, std::size_t end, Watch* watch = nullptr);

}  // namespace recommit::sokoban
