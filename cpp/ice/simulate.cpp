// Slides on raw grids, one action or many.
#include "ice/simulate.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/actions.hpp"
#include "core/errors.hpp"

namespace recommit::ice {
namespace {

struct Census {
  int players = 0, goals = 0, bad = 0;
};

Census census(const std::uint8_t* state, int cells) noexcept {
  Census counts;
  for (int i = 0; i < cells; ++i) {  // branch-free, so that it is vectorised
    counts.players += has_player(state[i]);
    counts.goals += has_goal(state[i]);
    counts.bad += state[i] >= kCells;
  }
  return counts;
}

[[noreturn]] void refuse(const std::uint8_t* state, int cells, std::size_t index) {
  const std::string in = " in state " + std::to_string(index);
  const std::uint8_t* bad = std::find_if(state, state + cells, [](std::uint8_t cell) { return cell >= kCells; });
  if (bad != state + cells) throw ValueError("states: expected cell codes 0..4, got " + std::to_string(*bad) + in);
  const Census counts = census(state, cells);
  const bool players = counts.players != 1;
  throw ValueError(std::string("states: expected exactly one ") + (players ? "player" : "goal") + ", got " +
                   std::to_string(players ? counts.players : counts.goals) + in);
}

}  // namespace

void check_shape(Shape shape) {
  const auto bad = [](int side) { return side < 1 || side > kMaxSide; };
  if (bad(shape.rows) || bad(shape.cols)) {
    throw ValueError("states: expected icy caves of 1..64 by 1..64 cells, got " + std::to_string(shape.rows) + " by " +
                     std::to_string(shape.cols));
  }
}

bool is_state(const std::uint8_t* state, Shape shape) noexcept {
  const Census counts = census(state, shape.cells());
  return counts.players == 1 && counts.goals == 1 && counts.bad == 0;
}

int find_player(const std::uint8_t* state, Shape shape, std::size_t index) {
  const int cells = shape.cells();
  if (!is_state(state, shape)) refuse(state, cells, index);
  const std::uint8_t* player = std::find_if(state, state + cells, has_player);
  if (player == state + cells) refuse_changing(index);
  return static_cast<int>(player - state);
}

int slide(const std::uint8_t* state, Shape shape, int at, std::size_t action) noexcept {
  const int row = at / shape.cols, col = at % shape.cols;
  const int room = action == 0 ? row : action == 1 ? shape.rows - 1 - row : action == 2 ? col : shape.cols - 1 - col;
  const int stride = kRowStep[action] * shape.cols + kColStep[action];
  for (int left = room; left > 0 && state[at + stride] != kRock; --left) at += stride;
  return at;
}

bool move(std::uint8_t* state, Shape shape, int& player, std::size_t action) noexcept {
  const int to = slide(state, shape, player, action);
  if (to == player) return false;
  state[player] = has_goal(state[player]) ? kGoal : kIce;
  state[to] = has_goal(state[to]) ? kPlayerOnGoal : kPlayer;
  player = to;
  return true;
}

void step(const std::uint8_t* states, Shape shape, const std::uint8_t* actions, std::uint8_t* out, std::size_t begin,
          std::size_t end) {
  const auto n = static_cast<std::size_t>(shape.cells());
  for (std::size_t i = begin; i < end; ++i) {
    int player = find_player(states + i * n, shape, i);
    const auto action = static_cast<std::size_t>(checked_action(actions[i], i));
    std::memcpy(out + i * n, states + i * n, n);
    move(out + i * n, shape, player, action);
  }
}

void execute(const std::uint8_t* states, Shape shape, const std::uint8_t* actions, std::size_t width,
             const std::int32_t* depths, bool stop, Outcomes out, std::size_t begin, std::size_t end) {
  const auto n = static_cast<std::size_t>(shape.cells());
  for (std::size_t i = begin; i < end; ++i) {
    std::uint8_t* state = out.states + i * n;
    std::memcpy(state, states + i * n, n);
    int player = find_player(state, shape, i);
    const std::uint8_t* plan = actions + i * width;
    for (std::int32_t k = 0; k < depths[i]; ++k) checked_action(plan[k], i);
    std::int32_t executed = 0, moved = 0;
    for (; executed < depths[i] && !(stop && state[player] == kPlayerOnGoal); ++executed) {
      moved += move(state, shape, player, plan[executed]);
    }
    out.executed[i] = executed;
    out.moved[i] = moved;
    out.solved[i] = state[player] == kPlayerOnGoal;
  }
}

void is_solved(const std::uint8_t* states, Shape shape, std::uint8_t* out, std::size_t begin, std::size_t end) {
  const auto n = static_cast<std::size_t>(shape.cells());
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint8_t* state = states + i * n;
    out[i] = state[find_player(state, shape, i)] == kPlayerOnGoal;
  }
}

void action_masks(const std::uint8_t* states, Shape shape, std::uint8_t* masks, std::size_t begin, std::size_t end) {
  const auto n = static_cast<std::size_t>(shape.cells());
  for (std::size_t i = begin; i < end; ++i) {
    const int player = find_player(states + i * n, shape, i);
    for (std::size_t action = 0; action < kActions; ++action) {
      masks[i * kActions + action] = slide(states + i * n, shape, player, action) != player;
    }
  }
}

}  // namespace recommit::ice
