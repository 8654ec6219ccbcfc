#include "sokoban/simulate.hpp"

#include <bit>
#include <cstring>
#include <string>

#include "core/actions.hpp"
#include "core/errors.hpp"

namespace recommit::sokoban {
namespace {

/// Bit 8 * front + behind is set iff a player facing `front`, with `behind` one further, may move: front is free, or
/// it is a box and behind is free.
constexpr std::uint64_t may_move_bits() {
  std::uint64_t bits = 0;
  for (int front = 0; front < kCells; ++front) {
    for (int behind = 0; behind < kCells; ++behind) {
      const bool free = front == kFloor || front == kGoal;
      const bool push = (front == kBox || front == kBoxOnGoal) && (behind == kFloor || behind == kGoal);
      if (free || push) bits |= std::uint64_t{1} << (8 * front + behind);
    }
  }
  return bits;
}
constexpr std::uint64_t kMayMove = may_move_bits();

constexpr std::uint8_t leave(std::uint8_t cell) { return cell == kPlayer ? kFloor : kGoal; }
constexpr std::uint8_t enter(std::uint8_t cell) { return has_goal(cell) ? kPlayerOnGoal : kPlayer; }
constexpr std::uint8_t put_box(std::uint8_t cell) { return cell == kGoal ? kBoxOnGoal : kBox; }

constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
constexpr std::uint64_t kHighs = 0x8080808080808080ULL;

std::uint64_t load8(const std::uint8_t* from) noexcept {
  std::uint64_t word;
  std::memcpy(&word, from, 8);
  return word;
}

int first_marked_byte(std::uint64_t marks) noexcept {
  return (std::endian::native == std::endian::little ? std::countr_zero(marks) : std::countl_zero(marks)) / 8;
}

[[noreturn]] void bad_state(const std::uint8_t* state, int cells, std::size_t index) {
  int players = 0;
  for (int i = 0; i < cells; ++i) {
    if (state[i] >= kCells) {
      throw ValueError("states: expected cell codes 0..6, got " + std::to_string(state[i]) + " in state " +
                       std::to_string(index));
    }
    players += state[i] >= kPlayer;
  }
  throw ValueError("states: expected exactly one player, got " + std::to_string(players) + " in state " +
                   std::to_string(index));
}

/// The two cells in front of the player; wall where they lie outside.
struct Ahead {
  int front, behind;  // cell numbers; -1 outside
};

Ahead look(Shape shape, int player, int action) noexcept {
  const int row = player / shape.cols, col = player - row * shape.cols;
  const int room = action == 0 ? row : action == 1 ? shape.rows - 1 - row : action == 2 ? col : shape.cols - 1 - col;
  const int stride = kRowStep[action] * shape.cols + kColStep[action];
  return {room >= 1 ? player + stride : -1, room >= 2 ? player + 2 * stride : -1};
}

std::uint8_t at(const std::uint8_t* state, int cell) noexcept {
  return cell < 0 ? static_cast<std::uint8_t>(kWall) : state[cell];
}

bool may_move(std::uint8_t front, std::uint8_t behind) noexcept { return (kMayMove >> (8 * front + behind) & 1) != 0; }

}  // namespace

void check_shape(Shape shape) {
  const auto bad = [](int side) { return side < 1 || side > kMaxSide; };
  if (bad(shape.rows) || bad(shape.cols)) {
    throw ValueError("states: expected Sokoban levels of 1..64 by 1..64 cells, got " + std::to_string(shape.rows) +
                     " by " + std::to_string(shape.cols));
  }
}

int find_player(const std::uint8_t* state, Shape shape, std::size_t index) {
  const int cells = shape.cells();
  std::uint64_t bad = 0;  // high bit of a byte: some code above 6
  int players = 0, player = 0, i = 0;
  for (; i + 8 <= cells; i += 8) {
    const std::uint64_t word = load8(state + i);
    bad |= (word | ((word & ~kHighs) + kOnes * (128 - kCells))) & kHighs;
    const std::uint64_t marks = ((word & ~kHighs) + kOnes * (128 - kPlayer)) & kHighs;
    if (marks != 0) {
      players += std::popcount(marks);
      player = i + first_marked_byte(marks);
    }
  }
  for (; i < cells; ++i) {
    if (state[i] >= kCells) bad = 1;
    if (state[i] >= kPlayer) {
      ++players;
      player = i;
    }
  }
  if (bad != 0 || players != 1) bad_state(state, cells, index);
  return player;
}

bool is_goal(const std::uint8_t* state, Shape shape) noexcept {
  return std::memchr(state, kBox, static_cast<std::size_t>(shape.cells())) == nullptr;
}

bool move(std::uint8_t* state, Shape shape, int& player, int action) noexcept {
  const Ahead ahead = look(shape, player, action);
  const std::uint8_t front = at(state, ahead.front), behind = at(state, ahead.behind);
  if (!may_move(front, behind)) return false;
  if (is_box(front)) state[ahead.behind] = put_box(behind);
  state[player] = leave(state[player]);
  state[ahead.front] = enter(front);
  player = ahead.front;
  return true;
}

void step(const std::uint8_t* states, Shape shape, const std::uint8_t* actions, std::uint8_t* out, std::size_t begin,
          std::size_t end) {
  const auto n = static_cast<std::size_t>(shape.cells());
  for (std::size_t i = begin; i < end; ++i) {
    int player = find_player(states + i * n, shape, i);
    const int action = checked_action(actions[i], i);
    std::memcpy(out + i * n, states + i * n, n);
    move(out + i * n, shape, player, action);
  }
}

void execute(const std::uint8_t* states, Shape shape, const std::uint8_t* actions, std::size_t width,
             const std::int32_t* depths, Outcomes out, std::size_t begin, std::size_t end) {
  const auto n = static_cast<std::size_t>(shape.cells());
  for (std::size_t i = begin; i < end; ++i) {
    std::uint8_t* state = out.states + i * n;
    std::memcpy(state, states + i * n, n);
    int player = find_player(state, shape, i);
    const auto depth = static_cast<std::size_t>(depths[i]);
    for (std::size_t k = 0; k < depth; ++k) checked_action(actions[i * width + k], i);
    bool solved = is_goal(state, shape);
    std::int32_t executed = 0, moved = 0;
    while (!solved && static_cast<std::size_t>(executed) < depth) {
      const bool changed = move(state, shape, player, actions[i * width + static_cast<std::size_t>(executed)]);
      moved += changed;
      ++executed;
      solved = changed && is_goal(state, shape);
    }
    out.executed[i] = executed;
    out.moved[i] = moved;
    out.solved[i] = solved;
  }
}

void is_solved(const std::uint8_t* states, Shape shape, std::uint8_t* out, std::size_t begin, std::size_t end) {
  const auto n = static_cast<std::size_t>(shape.cells());
  for (std::size_t i = begin; i < end; ++i) {
    find_player(states + i * n, shape, i);
    out[i] = is_goal(states + i * n, shape);
  }
}

void action_masks(const std::uint8_t* states, Shape shape, std::uint8_t* masks, std::size_t begin, std::size_t end) {
  const auto n = static_cast<std::size_t>(shape.cells());
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint8_t* state = states + i * n;
    const int player = find_player(state, shape, i);
    for (int action = 0; action < kActions; ++action) {
      const Ahead ahead = look(shape, player, action);
      masks[i * kActions + static_cast<std::size_t>(action)] = may_move(at(state, ahead.front), at(state, ahead.behind));
    }
  }
}

}  // namespace recommit::sokoban
