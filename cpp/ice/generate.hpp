// Random caves whose solution has a length that was asked for.
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

/// Throws ValueError, naming what was asked and what is possible, unless the request makes sense. One that does may
/// still be impossible to meet (no such length on so small a grid): generate() finds out.
void check_request(const Request& request);

/// Caves that must hold the very length drawn, and caves in all, before generate() gives up with a ValueError.
inline constexpr int kAimedTries = 1024, kTries = 1 << 14;

/// states[i], lengths[i] for i in [begin, end): instance start + i, a function of (request, seed, its index) alone.
///
/// A length is drawn evenly from the window. Then caves are drawn until one holds a start of this length: a share of
/// rocks between 4 and 16 of 64, evenly; every inner cell a rock with that chance; the goal evenly on one of the
/// others. The start is drawn evenly from those cells of the cave that have the length. So all caves of one number of
/// rocks that hold the length at all are equally likely. Where kAimedTries caves do not hold it, and where the window
/// is all there is, lengths of the window that a cave has are taken, evenly. Throws ValueError if kTries caves hold
/// none.
void generate(const Request& request, std::uint64_t seed, std::uint64_t start, std::uint8_t* states, Distance* lengths,
              std::size_t begin, std::size_t end, Watch* watch = nullptr);

}  // namespace recommit::ice
