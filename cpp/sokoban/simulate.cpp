// Walks and pushes on raw grids, one action or many.
#include "sokoban/simulate.hpp"

#include <bit>
#include <cstring>
#include <string>

#include "core/actions.hpp"
#include "core/errors.hpp"
#include "sokoban/rules.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace recommit::sokoban {
namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
constexpr std::uint64_t kHighs = 0x8080808080808080ULL;

std::uint64_t load8(const std::uint8_t* from) noexcept {
  std::uint64_t word;
  std::memcpy(&word, from, 8);
  return word;
}

/// Counts players and invalid codes, several cells at a time and branch-free, since the player's position is
/// unpredictable.
class Census {
 public:
#if defined(__SSE2__)
  /// Processes 16 cells from index `first` on, skipping the lowest `skip`, already counted.
  void take16(const std::uint8_t* cells, int first, int skip) noexcept {
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(cells));
    largest_ = _mm_max_epu8(largest_, codes);
    const auto all = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpgt_epi8(codes, _mm_set1_epi8(kPlayer - 1))));
    const unsigned marks = all >> skip << skip;
    players_ += (marks != 0) + ((marks & (marks - 1)) != 0);
    player_ = marks != 0 ? first + std::countr_zero(marks | 0x10000U) : player_;
  }
#endif

  void take8(const std::uint8_t* cells, int first) noexcept {
    const std::uint64_t word = load8(cells);
    bad_ |= (word | ((word & ~kHighs) + kOnes * (128 - kCells))) & kHighs;
    const std::uint64_t marks = ((word & ~kHighs) + kOnes * (128 - kPlayer)) & kHighs;
    if (marks == 0) return;
    players_ += std::popcount(marks);
    const bool little = std::endian::native == std::endian::little;
    player_ = first + (little ? std::countr_zero(marks) : std::countl_zero(marks)) / 8;
  }

  void take(std::uint8_t cell, int number) noexcept {
    bad_ |= cell >= kCells ? 1U : 0U;
    players_ += cell >= kPlayer;
    player_ = cell >= kPlayer ? number : player_;
  }

  bool valid() const noexcept {
#if defined(__SSE2__)
    const __m128i bad = _mm_cmpeq_epi8(_mm_max_epu8(largest_, _mm_set1_epi8(kCells)), largest_);
    if (_mm_movemask_epi8(bad) != 0) return false;
#endif
    return bad_ == 0 && players_ == 1;
  }
  int player() const noexcept { return player_; }

 private:
#if defined(__SSE2__)
  __m128i largest_ = _mm_setzero_si128();
#endif
  std::uint64_t bad_ = 0;
  int players_ = 0;  // with several, only known not to be one
  int player_ = 0;
};

/// Counts boxes off goals, several cells at a time.
std::int32_t boxes_left(const std::uint8_t* state, std::size_t cells) noexcept {
  static_assert(kMaxSide * kMaxSide <= 0xFFFF);
  std::uint16_t left = 0;
  for (std::size_t i = 0; i < cells; ++i) left = static_cast<std::uint16_t>(left + (state[i] == kBox));
  return left;
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
  Census census;
  int i = 0;
#if defined(__SSE2__)
  for (; i + 16 <= cells; i += 16) census.take16(state + i, i, 0);
  if (i < cells && cells >= 16) {  // the last 16 cells, skipping those already counted
    census.take16(state + cells - 16, cells - 16, i - (cells - 16));
    i = cells;
  }
#endif
  for (; i + 8 <= cells; i += 8) census.take8(state + i, i);
  for (; i < cells; ++i) census.take(state[i], i);
  if (!census.valid()) bad_state(state, cells, index);
  return census.player();
}

bool is_goal(const std::uint8_t* state, Shape shape) noexcept {
  return std::memchr(state, kBox, static_cast<std::size_t>(shape.cells())) == nullptr;
}

bool move(std::uint8_t* state, Shape shape, int& player, int action) noexcept {
  const OpenGrid grid(shape);
  const auto direction = static_cast<std::size_t>(action);
  const Effect& effect = grid.look(state, player, direction).effect();
  apply(effect, state, player, grid.stride(direction));
  return effect.moves != 0;
}

void step(const std::uint8_t* states, Shape shape, const std::uint8_t* actions, std::uint8_t* out, std::size_t begin,
          std::size_t end) {
  const OpenGrid grid(shape);
  const auto n = static_cast<std::size_t>(shape.cells());
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint8_t* from = states + i * n;
    std::int32_t player = find_player(from, shape, i);
    const auto action = static_cast<std::size_t>(checked_action(actions[i], i));
    const Effect& effect = grid.look(from, player, action).effect();
    std::uint8_t* state = out + i * n;
    std::memcpy(state, from, n);
    apply(effect, state, player, grid.stride(action));
  }
}

void execute(const std::uint8_t* states, Shape shape, const std::uint8_t* actions, std::size_t width,
             const std::int32_t* depths, bool stop, Outcomes out, std::size_t begin, std::size_t end) {
  const OpenGrid grid(shape);
  const auto n = static_cast<std::size_t>(shape.cells());
  for (std::size_t i = begin; i < end; ++i) {
    std::uint8_t* state = out.states + i * n;
    std::memcpy(state, states + i * n, n);
    int player = find_player(state, shape, i);
    const std::uint8_t* plan = actions + i * width;
    for (std::int32_t k = 0; k < depths[i]; ++k) checked_action(plan[k], i);
    std::int32_t executed = 0, moved = 0, left = boxes_left(state, n);
    for (; executed < depths[i] && !(stop && left == 0); ++executed) {
      const std::size_t action = plan[executed];
      const Effect& effect = grid.look(state, player, action).effect();
      apply(effect, state, player, grid.stride(action));
      moved -= effect.moves;
      left += effect.left;
    }
    out.executed[i] = executed;
    out.moved[i] = moved;
    out.solved[i] = left == 0;
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
  const OpenGrid grid(shape);
  const auto n = static_cast<std::size_t>(shape.cells());
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint8_t* state = states + i * n;
    const auto open = grid.open(state, find_player(state, shape, i));
    std::memcpy(masks + i * kActions, open.data(), kActions);
  }
}

}  // namespace recommit::sokoban
