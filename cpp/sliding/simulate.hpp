// The rules of sliding puzzles on raw boards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/outcomes.hpp"
#include "core/types.hpp"

/// Sliding puzzle on raw grids: cell values are tile numbers, 0 is the blank; the goal is 1..n-1 in reading order with
/// the blank last. Every function works on items [begin, end) of a batch and touches nothing outside them, so callers
/// may split a batch over threads at will.
namespace recommit::sliding {

inline constexpr int kMinSide = 2;
inline constexpr int kMaxSide = 5;
inline constexpr int kMaxCells = kMaxSide * kMaxSide;

/// Target cell of the blank for each cell and action; its own cell if blocked by the border.
struct Moves {
  explicit Moves(Shape shape) noexcept;
  std::array<std::array<std::uint8_t, kActions>, kMaxCells> to{};
};

void check_shape(Shape shape);

/// True iff the cells are a permutation of 0..n-1.
bool is_permutation(const std::uint8_t* state, Shape shape) noexcept;

/// Cell of the blank; throws ValueError, naming the batch index, unless the state is a permutation.
int find_blank(const std::uint8_t* state, Shape shape, std::size_t index);

/// True iff some sequence of moves reaches the goal: the sign of the permutation (blank included) must equal the
/// parity of the blank's taxicab distance from its goal cell.
bool is_solvable(const std::uint8_t* state, Shape shape) noexcept;

bool is_goal(const std::uint8_t* state, Shape shape) noexcept;

/// out[i] = states[i] after actions[i]; a blocked action leaves the state unchanged.
void step(const std::uint8_t* states, Shape shape, const std::uint8_t* actions, std::uint8_t* out, std::size_t begin,
          std::size_t end);

/// One open-loop commitment per state: up to depths[i] actions from row i of actions (`width` per row), with `stop` no
/// further than the goal.
void execute(const std::uint8_t* states, Shape shape, const std::uint8_t* actions, std::size_t width,
             const std::int32_t* depths, bool stop, Outcomes out, std::size_t begin, std::size_t end);

void is_solved(const std::uint8_t* states, Shape shape, std::uint8_t* out, std::size_t begin, std::size_t end);

/// masks[i][a]: 1 if action a would change states[i].
void action_masks(const std::uint8_t* states, Shape shape, std::uint8_t* masks, std::size_t begin, std::size_t end);

}  // namespace recommit::sliding
