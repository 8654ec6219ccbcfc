// Random caves with a requested optimal length.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/threads/watch.hpp"
#include "core/types.hpp"

namespace recommit::ice {

/// Caves of rows x cols cells (outer rock included) whose optimal solution has `shortest` to `longest` actions.
struct Request {
  Shape shape;
  Distance shortest = 1;
  Distance longest = kLongest;

  static constexpr Distance kLongest = 254;
};

/// Throws ValueError, naming requested and possible values, unless the request is valid. A valid one may still be
/// unsatisfiable (no such length on so small a grid), which generate() detects.
void check_request(const Request& request);

/// Caves tried for the drawn length, and caves tried in total, before generate() throws ValueError.
inline constexpr int kAimedTries = 1024, kTries = 1 << 14;

/// states[i], lengths[i] for i in [begin, end): instance start + i, a function of (request, seed, its index) alone.
///
/// A length is drawn uniformly from the window. Then caves are drawn until one has a start of this length: a rock
/// probability uniform in 4/64..16/64, applied to every inner cell; the goal uniform on the others. The start is
/// uniform among the cells with this length. So, given the number of rocks, all caves with such a start are equally
/// likely. If kAimedTries caves have none, or if the window is unrestricted, the length is drawn uniformly from a
/// cave's lengths in the window. Throws ValueError if kTries caves have none.
void generate(const Request& request, std::uint64_t seed, std::uint64_t start, std::uint8_t* states, Distance* lengths,
              std::size_t begin, std::size_t end, Watch* watch = nullptr);

}  // namespace recommit::ice
