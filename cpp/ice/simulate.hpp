// The rules of the icy cave on raw grids of cell codes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/outcomes.hpp"
#include "core/types.hpp"

/// The icy cave on raw grids of cell codes: an action sends the player sliding until a rock is in the way. The cave is
/// solved iff the player stands on the goal at the end of a slide; sliding over the goal does not count. Outside the
/// grid is rock. Every function works on items [begin, end) of a batch and touches nothing outside them.
namespace recommit::ice {

inline constexpr int kMaxSide = 64;

enum Cell : std::uint8_t { kIce = 0, kRock, kGoal, kPlayer, kPlayerOnGoal };
inline constexpr int kCells = 5;  ///< number of cell codes

inline constexpr bool has_player(std::uint8_t cell) noexcept { return cell == kPlayer || cell == kPlayerOnGoal; }
inline constexpr bool has_goal(std::uint8_t cell) noexcept { return cell == kGoal || cell == kPlayerOnGoal; }

void check_shape(Shape shape);

/// True if all codes are 0..4, with one player and one goal.
bool is_state(const std::uint8_t* state, Shape shape) noexcept;

/// Cell of the player; throws ValueError, naming the batch index, unless the state is valid.
int find_player(const std::uint8_t* state, Shape shape, std::size_t index);

/// The cell where a player at `at` comes to rest; `at` itself if blocked by a rock.
int slide(const std::uint8_t* state, Shape shape, int at, std::size_t action) noexcept;

/// Slides the player in place. Returns true if the state changed.
bool move(std::uint8_t* state, Shape shape, int& player, std::size_t action) noexcept;

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

}  // namespace recommit::ice
