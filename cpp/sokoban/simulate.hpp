// The rules of Sokoban on raw grids of cell codes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/outcomes.hpp"
#include "core/types.hpp"

/// Sokoban on raw grids of cell codes. Outside the grid is wall. Every function works on items [begin, end) of a batch
/// and touches nothing outside them, so callers may split a batch over threads at will.
namespace recommit::sokoban {

inline constexpr int kMaxSide = 64;

enum Cell : std::uint8_t { kFloor = 0, kWall, kGoal, kBox, kBoxOnGoal, kPlayer, kPlayerOnGoal };
inline constexpr int kCells = 7;  ///< number of cell codes

inline constexpr bool is_box(std::uint8_t cell) noexcept { return cell == kBox || cell == kBoxOnGoal; }
inline constexpr bool has_goal(std::uint8_t cell) noexcept {
  return cell == kGoal || cell == kBoxOnGoal || cell == kPlayerOnGoal;
}

void check_shape(Shape shape);

/// Cell of the player; throws ValueError, naming the batch index, unless every code is 0..6 and there is one player.
int find_player(const std::uint8_t* state, Shape shape, std::size_t index);

/// True iff no box is off a goal.
bool is_goal(const std::uint8_t* state, Shape shape) noexcept;

/// Moves the player in place, pushing a box if there is one with room behind it. Returns true if the state changed.
bool move(std::uint8_t* state, Shape shape, int& player, int action) noexcept;

/// out[i] = states[i] after actions[i].
void step(const std::uint8_t* states, Shape shape, const std::uint8_t* actions, std::uint8_t* out, std::size_t begin,
          std::size_t end);

/// One open-loop commitment per state: up to depths[i] actions from row i of actions (`width` per row), with `stop` no
/// further than the goal.
void execute(const std::uint8_t* states, Shape shape, const std::uint8_t* actions, std::size_t width,
             const std::int32_t* depths, bool stop, Outcomes out, std::size_t begin, std::size_t end);

void is_solved(const std::uint8_t* states, Shape shape, std::uint8_t* out, std::size_t begin, std::size_t end);

/// masks[i][a]: 1 if action a would change states[i].
void action_masks(const std::uint8_t* states, Shape shape, std::uint8_t* masks, std::size_t begin, std::size_t end);

}  // namespace recommit::sokoban
