// Types common to all puzzles: shape, action, distance.
#pragma once

#include <cstddef>
#include <cstdint>

namespace recommit {

/// The four primitive actions, in the order of every action array, mask and tie-break.
enum class Action : std::uint8_t { Up, Down, Left, Right };
inline constexpr int kActions = 4;
inline constexpr int kRowStep[kActions] = {-1, 1, 0, 0};
inline constexpr int kColStep[kActions] = {0, 0, -1, 1};

/// Exact number of actions to the goal, or one of the two negative verdicts.
using Distance = std::int32_t;
inline constexpr Distance kUnsolvable = -1;  ///< proven: no sequence of actions reaches the goal
inline constexpr Distance kUnknown = -2;     ///< a limit was hit

/// The size of one state. A batch is `count` grids of rows x cols bytes in C order.
struct Shape {
  int rows = 0;
  int cols = 0;
  constexpr int cells() const noexcept { return rows * cols; }
  constexpr bool operator==(const Shape&) const = default;
};

}  // namespace recommit
