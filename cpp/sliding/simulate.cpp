// Moves of the blank on raw boards, one action or many.
#include "sliding/simulate.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "core/actions.hpp"
#include "core/errors.hpp"

namespace recommit::sliding {

Moves::Moves(Shape shape) noexcept {
  for (int cell = 0; cell < shape.cells(); ++cell) {
    for (int action = 0; action < kActions; ++action) {
      const int row = cell / shape.cols + kRowStep[action];
      const int col = cell % shape.cols + kColStep[action];
      const bool inside = row >= 0 && row < shape.rows && col >= 0 && col < shape.cols;
      to[static_cast<std::size_t>(cell)][static_cast<std::size_t>(action)] =
          static_cast<std::uint8_t>(inside ? row * shape.cols + col : cell);
    }
  }
}

void check_shape(Shape shape) {
  const auto bad = [](int side) { return side < kMinSide || side > kMaxSide; };
  if (bad(shape.rows) || bad(shape.cols)) {
    throw ValueError("states: expected sliding boards of 2..5 by 2..5 cells, got " + std::to_string(shape.rows) +
                     " by " + std::to_string(shape.cols));
  }
}

bool is_permutation(const std::uint8_t* state, Shape shape) noexcept {
  const int n = shape.cells();
  std::uint32_t seen = 0;
  std::uint8_t largest = 0;
  for (int i = 0; i < n; ++i) {
    largest = largest < state[i] ? state[i] : largest;
    seen |= std::uint32_t{1} << (state[i] & 31);
  }
  return largest < n && seen == (std::uint32_t{1} << n) - 1;
}

int find_blank(const std::uint8_t* state, Shape shape, std::size_t index) {
  if (!is_permutation(state, shape)) {
    throw ValueError("states: expected every tile 0.." + std::to_string(shape.cells() - 1) +
                     " exactly once, got something else in state " + std::to_string(index));
  }
  const void* blank = std::memchr(state, 0, static_cast<std::size_t>(shape.cells()));
  if (blank == nullptr) refuse_changing(index);
  return static_cast<int>(static_cast<const std::uint8_t*>(blank) - state);
}

bool is_solvable(const std::uint8_t* state, Shape shape) noexcept {
  const int n = shape.cells();
  int swaps = 0;  // transpositions that take the state to the goal
  std::uint32_t seen = 0;
  int blank = 0;
  for (int start = 0; start < n; ++start) {
    if (state[start] == 0) blank = start;
    for (int cell = start; (seen >> cell & 1) == 0;) {
      seen |= std::uint32_t{1} << cell;
      const int next = state[cell] == 0 ? n - 1 : state[cell] - 1;
      if ((seen >> next & 1) == 0) ++swaps;
      cell = next;
    }
  }
  const int taxicab = (shape.rows - 1 - blank / shape.cols) + (shape.cols - 1 - blank % shape.cols);
  return ((swaps ^ taxicab) & 1) == 0;
}

bool is_goal(const std::uint8_t* state, Shape shape) noexcept {
  const int n = shape.cells();
  int wrong = 0;
  for (int i = 0; i < n - 1; ++i) wrong |= state[i] ^ (i + 1);
  return wrong == 0;
}

void step(const std::uint8_t* states, Shape shape, const std::uint8_t* actions, std::uint8_t* out, std::size_t begin,
          std::size_t end) {
  const Moves moves(shape);
  const auto n = static_cast<std::size_t>(shape.cells());
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint8_t* from = states + i * n;
    std::uint8_t* to = out + i * n;
    const auto blank = static_cast<std::size_t>(find_blank(from, shape, i));
    const std::size_t target = moves.to[blank][static_cast<std::size_t>(checked_action(actions[i], i))];
    std::memcpy(to, from, n);
    to[blank] = from[target];
    to[target] = 0;
  }
}

void execute(const std::uint8_t* states, Shape shape, const std::uint8_t* actions, std::size_t width,
             const std::int32_t* depths, bool stop, Outcomes out, std::size_t begin, std::size_t end) {
  const Moves moves(shape);
  const auto n = static_cast<std::size_t>(shape.cells());
  for (std::size_t i = begin; i < end; ++i) {
    std::uint8_t* state = out.states + i * n;
    std::memcpy(state, states + i * n, n);
    auto blank = static_cast<std::size_t>(find_blank(state, shape, i));
    const auto depth = static_cast<std::size_t>(depths[i]);
    for (std::size_t k = 0; k < depth; ++k) checked_action(actions[i * width + k], i);
    bool solved = is_goal(state, shape);
    std::int32_t executed = 0, moved = 0;
    while (!(stop && solved) && static_cast<std::size_t>(executed) < depth) {
      const std::size_t target = moves.to[blank][actions[i * width + static_cast<std::size_t>(executed)]];
      std::swap(state[blank], state[target]);
      moved += target != blank;
      ++executed;
      blank = target;
      solved = blank == n - 1 && is_goal(state, shape);
    }
    out.executed[i] = executed;
    out.moved[i] = moved;
    out.solved[i] = solved;
  }
}

void is_solved(const std::uint8_t* states, Shape shape, std::uint8_t* out, std::size_t begin, std::size_t end) {
  const auto n = static_cast<std::size_t>(shape.cells());
  for (std::size_t i = begin; i < end; ++i) {
    find_blank(states + i * n, shape, i);
    out[i] = is_goal(states + i * n, shape);
  }
}

void action_masks(const std::uint8_t* states, Shape shape, std::uint8_t* masks, std::size_t begin, std::size_t end) {
  const Moves moves(shape);
  const auto n = static_cast<std::size_t>(shape.cells());
  for (std::size_t i = begin; i < end; ++i) {
    const auto blank = static_cast<std::size_t>(find_blank(states + i * n, shape, i));
    for (std::size_t a = 0; a < kActions; ++a) masks[i * kActions + a] = moves.to[blank][a] != blank;
  }
}

}  // namespace recommit::sliding
