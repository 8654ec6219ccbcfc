// The retrograde search of tables: common parts of its two implementations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/threads/watch.hpp"
#include "core/types.hpp"
#include "sokoban/level.hpp"
#include "sokoban/table/box_sets.hpp"

/// The retrograde search behind Table. Internal: include table.hpp instead.
///
/// For every box set the search keeps bit masks over the cells of Level::box(): visited player cells (`closed`,
/// including walls and boxes) and new arrivals. One level of the breadth-first search processes a box set as a whole:
/// walks of all player cells are four shifts, and only players beside a box they could have pushed there are handled
/// one by one.
namespace recommit::sokoban::retrograde {

/// 64-bit words per mask, rounded up to a width with a kernel.
int mask_words(int places) noexcept;

inline constexpr std::uint64_t kLine = 8;  ///< words of a cache line

/// Words of a box set's slot.
constexpr std::uint64_t slot_words(int words) noexcept { return 4 * static_cast<std::uint64_t>(words); }

/// 64-bit words of working memory for `sets` box sets: slots, from a cache line's start, then two lists with one entry
/// to spare.
constexpr std::uint64_t work_words(std::uint64_t sets, int words) noexcept {
  return kLine + slot_words(words) * sets + sets + 1;
}

/// Distances are stored in whole vectors, so the array needs this many bytes of padding at its end.
inline constexpr std::size_t kSlack = 64;

/// Constant data of a search. Places are row * cols + col of Level::box().
struct Ground {
  Ground(const Level& level, const BoxSets& sets);

  int words, places, cols, boxes, cells;
  std::uint32_t sets;
  std::vector<std::uint64_t> open;       ///< [words] places of the region
  std::vector<std::uint64_t> not_first;  ///< [words] places not in the first column
  std::vector<std::uint64_t> not_last;   ///< [words] places not in the last column
  /// [4][words]: places where a player who has just pushed in that direction can stand: the box's place ahead and
  /// the place behind both belong to the region.
  std::array<std::vector<std::uint64_t>, kActions> pushed;
  std::vector<std::uint32_t> share;      ///< [boxes][places] rank share of a box at a place
  std::vector<std::uint16_t> cell;       ///< [places] cell number
  std::vector<std::uint16_t> word_cell;  ///< [words] number of the first cell in a word
  std::vector<int> word_cells;           ///< [words] cells in a word
  std::array<int, kActions> step;        ///< place difference of an action
};

/// Working memory and progress, from which a search that exceeds one-byte distances continues with two bytes.
struct Progress {
  std::uint64_t* slots = nullptr;         ///< sets * slot_words(words) words, zeroed
  std::array<std::uint32_t*, 2> lists{};  ///< [sets + 1] box sets with arrivals, even and odd levels
  std::uint32_t listed = 0;               ///< length of the current list
  std::uint32_t level = 0;                ///< the distance whose arrivals are listed
  std::uint32_t last = 0xFFFFFFFFU;       ///< stop after the states of this distance
  std::vector<std::uint64_t> counts;      ///< [level] states at each finished distance
};

/// Lays slots and lists out in work_words() words of memory, slots zeroed.
Progress begin(const Ground& ground, std::uint64_t* work);

/// Enters every state in which each of the boxes is on a goal, with distance 0. `goal_sets` holds the sets' cells.
void enter_goals(const Ground& ground, Progress& progress, const std::vector<std::uint16_t>& goal_sets);

/// Called every few thousand box sets; may throw, or return false to stop.
struct Pause {
  virtual bool operator()() = 0;
  virtual ~Pause() = default;
};

enum class End : std::uint8_t { Done, NeedsTwoBytes, GaveUp };

/// Runs to completion. Distances (initialised to 0xFF..) are written at set * cells + cell.
End run_portable(const Ground& ground, Progress& progress, std::uint8_t* distances, Pause& pause);
End run_portable(const Ground& ground, Progress& progress, std::uint16_t* distances, Pause& pause);

/// The same with AVX2 and BMI2; call only if has_fast_kernel().
bool has_fast_kernel() noexcept;
End run_fast(const Ground& ground, Progress& progress, std::uint8_t* distances, Pause& pause);
End run_fast(const Ground& ground, Progress& progress, std::uint16_t* distances, Pause& pause);

/// Runs the faster kernel that this processor supports.
template <class Dist>
End run(const Ground& ground, Progress& progress, Dist* distances, Pause& pause) {
  return has_fast_kernel() ? run_fast(ground, progress, distances, pause)
                           : run_portable(ground, progress, distances, pause);
}

}  // namespace recommit::sokoban::retrograde
