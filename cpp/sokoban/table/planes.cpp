// Conversion of raw states to bit planes, sixteen cells at a time.
#include "sokoban/table/planes.hpp"

#include <bit>
#include <cstring>

#include "core/errors.hpp"
#include "core/rng.hpp"

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define RECOMMIT_SSE2
#endif

namespace recommit::sokoban {
namespace {

/// Masks of up to 64 cells; `bad` is set for codes above 6.
struct Marks {
  std::uint64_t walls = 0, goals = 0, boxes = 0, players = 0;
  bool bad = false;
};

#if defined(RECOMMIT_SSE2)

inline std::uint64_t bits(__m128i marked) noexcept { return static_cast<std::uint32_t>(_mm_movemask_epi8(marked)); }

/// Sixteen cells; their bits, without the lowest `drop`, move up by `shift`.
inline void mark16(const std::uint8_t* from, int drop, int shift, Marks& out) noexcept {
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  const auto is = [&](char code) { return _mm_cmpeq_epi8(x, _mm_set1_epi8(code)); };
  const __m128i resting = is(kBoxOnGoal);
  out.walls |= bits(is(kWall)) >> drop << shift;
  out.boxes |= bits(_mm_or_si128(is(kBox), resting)) >> drop << shift;
  out.goals |= bits(_mm_or_si128(_mm_or_si128(is(kGoal), is(kPlayerOnGoal)), resting)) >> drop << shift;
  out.players |= bits(_mm_cmpeq_epi8(_mm_max_epu8(x, _mm_set1_epi8(kPlayer)), x)) >> drop << shift;
  out.bad |= bits(_mm_cmpeq_epi8(_mm_max_epu8(x, _mm_set1_epi8(kCells)), x)) != 0;
}

/// `count` cells, 1..64, preceded by `before` cells. The tail is read together with cells already processed.
inline Marks mark(const std::uint8_t* from, int count, int before) noexcept {
  Marks out;
  int i = 0;
  for (; i + 16 <= count; i += 16) mark16(from + i, 0, i, out);
  if (i == count) return out;
  if (before + count >= 16) {
    mark16(from + count - 16, 16 - (count - i), i, out);
  } else {
    std::uint8_t padded[16] = {};
    std::memcpy(padded, from, static_cast<std::size_t>(count));
    mark16(padded, 0, 0, out);
  }
  return out;
}

#else

inline Marks mark(const std::uint8_t* from, int count, int /*before*/) noexcept {
  Marks out;
  for (int i = 0; i < count; ++i) {
    const std::uint8_t x = from[i];
    const std::uint64_t bit = std::uint64_t{1} << i;
    out.walls |= x == kWall ? bit : 0;
    out.goals |= has_goal(x) ? bit : 0;
    out.boxes |= is_box(x) ? bit : 0;
    out.players |= x >= kPlayer ? bit : 0;
    out.bad |= x >= kCells;
  }
  return out;
}

#endif

}  // namespace

int read_planes(const std::uint8_t* state, Shape shape, std::size_t index, Planes& out) {
  const int cells = shape.cells();
  int players = 0, player = 0;
  bool bad = false;
  std::size_t word = 0;
  for (int i = 0; i < cells; i += 64, ++word) {
    const Marks marks = mark(state + i, cells - i < 64 ? cells - i : 64, i);
    out.walls[word] = marks.walls;
    out.goals[word] = marks.goals;
    out.boxes[word] = marks.boxes;
    out.players[word] = marks.players;
    bad |= marks.bad;
    if (marks.players != 0) {
      player = i + std::countr_zero(marks.players);
      players += (marks.players & (marks.players - 1)) == 0 ? 1 : 2;
    }
  }
  if (bad || players != 1) {
    find_player(state, shape, index);  // throws a detailed error
    refuse_changing(index);
  }
  return player;
}

std::vector<std::uint8_t> cells_of(const Planes& planes, Shape shape) {
  std::vector<std::uint8_t> cells(static_cast<std::size_t>(shape.cells()));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto in = [i](const auto& plane) { return (plane[i / 64] >> (i % 64) & 1) != 0; };
    const bool goal = in(planes.goals);
    cells[i] = in(planes.walls) ? kWall : goal ? kGoal : kFloor;
    if (in(planes.boxes)) cells[i] = goal ? kBoxOnGoal : kBox;
    if (in(planes.players)) cells[i] = goal ? kPlayerOnGoal : kPlayer;
  }
  return cells;
}

std::uint64_t hash_still(const Planes& planes, Shape shape) noexcept {
  std::uint64_t hash = Rng::mix(static_cast<std::uint64_t>(shape.rows * 128 + shape.cols));
  for (std::size_t i = 0; i < plane_words(shape); ++i) {
    hash = Rng::mix(hash ^ planes.walls[i]) + planes.goals[i] * 0x9e3779b97f4a7c15ULL;
  }
  return Rng::mix(hash);
}

}  // namespace recommit::sokoban
