// Branch-free rules of a Sokoban move.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/types.hpp"
#include "sokoban/simulate.hpp"

/// Branch-free rules of a move: a function of the codes of the two cells ahead of the player. Shared by the pure
/// functions of simulate.hpp and by the running episodes of episodes.hpp.
namespace recommit::sokoban {

/// Bit 8 * front + behind is set iff a player facing `front`, with `behind` next, may move: front is free, or a box
/// with behind free.
constexpr std::uint64_t may_move_bits() noexcept {
  std::uint64_t bits = 0;
  for (unsigned front = 0; front < kCells; ++front) {
    for (unsigned behind = 0; behind < kCells; ++behind) {
      const bool free = front == kFloor || front == kGoal;
      const bool push = (front == kBox || front == kBoxOnGoal) && (behind == kFloor || behind == kGoal);
      if (free || push) bits |= std::uint64_t{1} << (8 * front + behind);
    }
  }
  return bits;
}
inline constexpr std::uint64_t kMayMove = may_move_bits();

constexpr bool may_move(std::uint8_t front, std::uint8_t behind) noexcept {
  return (kMayMove >> (8 * front + behind) & 1) != 0;
}

/// The bits of kMayMove as bytes: one load instead of a shift and a test.
constexpr std::array<std::uint8_t, 64> may_move_bytes() noexcept {
  std::array<std::uint8_t, 64> table{};
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = kMayMove >> i & 1;
  return table;
}
inline constexpr std::array<std::uint8_t, 64> kMayMoveBytes = may_move_bytes();

/// Effect of a move on the two cells ahead, and on the number of boxes off goals.
struct Effect {
  std::int32_t moves, pushes;  ///< -1 (all bits) for yes, 0 for no
  std::int32_t left;           ///< change of the number of boxes off goals
  std::uint8_t front, behind;  ///< the new codes
};

/// Indexed like the bits of kMayMove.
constexpr std::array<Effect, 64> effects() noexcept {
  std::array<Effect, 64> table{};
  for (std::uint8_t front = 0; front < kCells; ++front) {
    for (std::uint8_t behind = 0; behind < kCells; ++behind) {
      Effect& effect = table[8U * front + behind];
      effect = {0, 0, 0, front, behind};
      if (!may_move(front, behind)) continue;
      effect.front = has_goal(front) ? kPlayerOnGoal : kPlayer;
      effect.moves = -1;
      if (!is_box(front)) continue;
      effect.behind = behind == kGoal ? kBoxOnGoal : kBox;
      effect.pushes = -1;
      effect.left = (behind == kGoal ? 0 : 1) - (front == kBoxOnGoal ? 0 : 1);
    }
  }
  return table;
}
inline constexpr std::array<Effect, 64> kEffects = effects();

/// Applies `effect` in direction `stride` and moves `player`. A blocked move rewrites the player's own cell, so that no
/// cell outside the level is touched.
inline void apply(const Effect& effect, std::uint8_t* state, std::int32_t& player, std::int32_t stride) noexcept {
  const std::int32_t here = state[player];
  const std::int32_t without = (here - kPlayer) * kGoal;
  const std::int32_t front = player + (stride & effect.moves);
  state[front + (stride & effect.pushes)] = effect.behind;
  state[front] = effect.front;
  state[player] = static_cast<std::uint8_t>(here ^ ((here ^ without) & effect.moves));
  player = front;
}

/// The two cells ahead of a player, as codes.
struct Ahead {
  std::uint8_t front, behind;
  const Effect& effect() const noexcept { return kEffects[8U * front + behind]; }
  std::uint8_t open() const noexcept { return kMayMoveBytes[8U * front + behind]; }
};

/// Look-ahead in levels whose outermost cells are all walls: the front cell is always inside, and the one behind it
/// only matters if it is inside too. Beyond the first or last row the nearest cell is read instead, since the wall in
/// front already blocks.
class WalledGrid {
 public:
  explicit WalledGrid(Shape shape) noexcept
      : stride_{-shape.cols, shape.cols, -1, 1}, last_(static_cast<std::ptrdiff_t>(shape.cells()) - 1) {}

  std::int32_t stride(std::size_t action) const noexcept { return static_cast<std::int32_t>(stride_[action]); }

  Ahead look(const std::uint8_t* state, std::int32_t player, std::size_t action) const noexcept {
    const std::ptrdiff_t front = player + stride_[action], behind = front + stride_[action];
    return {state[front], state[std::clamp<std::ptrdiff_t>(behind, 0, last_)]};
  }

  /// Whether the player may move, for all actions: cells two columns away are always within the array.
  std::array<std::uint8_t, kActions> open(const std::uint8_t* state, std::int32_t player) const noexcept {
    const std::uint8_t* here = state + player;
    const std::ptrdiff_t row = stride_[1];
    return {Ahead{here[-row], state[std::max<std::ptrdiff_t>(player - 2 * row, 0)]}.open(),
            Ahead{here[row], state[std::min<std::ptrdiff_t>(player + 2 * row, last_)]}.open(),
            Ahead{here[-1], here[-2]}.open(), Ahead{here[1], here[2]}.open()};
  }

 private:
  std::ptrdiff_t stride_[kActions];
  std::ptrdiff_t last_;
};

/// Look-ahead in any level, with walls outside the grid. Codes are masked to the tables' range, even under concurrent
/// writes to a checked state.
class OpenGrid {
 public:
  explicit OpenGrid(Shape shape) noexcept
      : shape_(shape),
        stride_{-shape.cols, shape.cols, -1, 1},
        reciprocal_((kOne + static_cast<std::uint32_t>(shape.cols) - 1) / static_cast<std::uint32_t>(shape.cols)) {}

  std::int32_t stride(std::size_t action) const noexcept { return stride_[action]; }

  Ahead look(const std::uint8_t* state, std::int32_t player, std::size_t action) const noexcept {
    // player / cols by multiplication: exact for up to 4096 cells in rows of up to 64.
    const auto row = static_cast<std::int32_t>(static_cast<std::uint32_t>(player) * reciprocal_ / kOne);
    const std::int32_t col = player - row * shape_.cols;
    const std::int32_t along = action < 2 ? row : col;
    const std::int32_t last = (action < 2 ? shape_.rows : shape_.cols) - 1;
    const std::int32_t room = (action & 1) != 0 ? last - along : along;
    const std::int32_t step = stride_[action];
    const std::uint8_t front = state[player + (room >= 1 ? step : 0)] & 7U,
                       behind = state[player + (room >= 2 ? 2 * step : 0)] & 7U;
    return {room >= 1 ? front : static_cast<std::uint8_t>(kWall),
            room >= 2 ? behind : static_cast<std::uint8_t>(kWall)};
  }

  std::array<std::uint8_t, kActions> open(const std::uint8_t* state, std::int32_t player) const noexcept {
    return {look(state, player, 0).open(), look(state, player, 1).open(), look(state, player, 2).open(),
            look(state, player, 3).open()};
  }

 private:
  static constexpr std::uint32_t kOne = 1U << 20;
  static_assert(kMaxSide <= 64);
  Shape shape_;
  std::int32_t stride_[kActions];
  std::uint32_t reciprocal_;
};

}  // namespace recommit::sokoban
