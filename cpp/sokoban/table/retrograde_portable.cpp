// The retrograde search for any processor.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "sokoban/table/retrograde.hpp"

#define RECOMMIT_TARGET
#if defined(__GNUC__)
#define RECOMMIT_INLINE __attribute__((always_inline)) inline
#define RECOMMIT_PREFETCH(address) __builtin_prefetch(address)
#else
#define RECOMMIT_INLINE inline
#define RECOMMIT_PREFETCH(address) static_cast<void>(address)
#endif

namespace recommit::sokoban::retrograde {
namespace {

/// row[cell] = level for every place of the word that is set in `fresh`.
template <class Dist, class Word>
RECOMMIT_INLINE void store_level(Dist* row, const Word& word, std::uint64_t fresh, Dist level) noexcept {
  for (; fresh != 0; fresh &= fresh - 1) row[word.cell[std::countr_zero(fresh)]] = level;
}

#include "sokoban/table/retrograde_kernel.inc"

}  // namespace

int mask_words(int places) noexcept {
  for (const int words : {1, 2, 4, 8, 16}) {
    if (places <= 64 * words) return words;
  }
  return 64;
}

Ground::Ground(const Level& level, const BoxSets& ranks)
    : words(mask_words(level.box().cells())),
      places(level.box().cells()),
      cols(level.box().cols),
      boxes(ranks.boxes()),
      cells(level.cells()),
      sets(ranks.count()),
      open(static_cast<std::size_t>(words)),
      not_first(open.size()),
      not_last(open.size()),
      share(static_cast<std::size_t>(boxes) * static_cast<std::size_t>(places)),
      cell(64 * open.size(), kNoCell),
      word_cell(open.size()),
      word_cells(open.size()),
      step{-cols, cols, -1, 1} {
  for (auto& masks : pushed) masks.resize(open.size());
  for (int c = level.cells(); c-- > 0;) {
    const auto place = static_cast<std::size_t>(level.row_of(c) * cols + level.col_of(c));
    const std::size_t word = place / 64;
    const std::uint64_t bit = std::uint64_t{1} << (place % 64);
    cell[place] = word_cell[word] = static_cast<std::uint16_t>(c);
    open[word] |= bit;
    ++word_cells[word];
    if (level.col_of(c) > 0) not_first[word] |= bit;
    if (level.col_of(c) < cols - 1) not_last[word] |= bit;
    for (int d = 0; d < kActions; ++d) {
      const bool room = level.neighbor(c, d) != kNoCell && level.neighbor(c, d ^ 1) != kNoCell;
      if (room) pushed[static_cast<std::size_t>(d)][word] |= bit;
    }
    for (int i = 0; i < boxes; ++i) {
      share[static_cast<std::size_t>(i) * static_cast<std::size_t>(places) + place] = ranks.share(i, c);
    }
  }
}

Progress begin(const Ground& ground, std::uint64_t* work) {
  const std::size_t sets = ground.sets, words = static_cast<std::size_t>(slot_words(ground.words)) * sets;
  work += (kLine - reinterpret_cast<std::uintptr_t>(work) / 8 % kLine) % kLine;
  std::fill_n(work, words, std::uint64_t{0});
  Progress progress;
  progress.slots = work;
  progress.lists[0] = reinterpret_cast<std::uint32_t*>(work + words);
  progress.lists[1] = progress.lists[0] + sets + 1;
  return progress;
}

void enter_goals(const Ground& ground, Progress& progress, const std::vector<std::uint16_t>& goal_sets) {
  std::vector<std::size_t> place_of(static_cast<std::size_t>(ground.cells));
  for (std::size_t place = 0; place < ground.cell.size(); ++place) {
    if (ground.cell[place] != kNoCell) place_of[ground.cell[place]] = place;
  }
  const auto boxes = static_cast<std::size_t>(ground.boxes);
  with_width(ground.words, [&](auto width) {
    constexpr int kWords = decltype(width)::value;
    Search<kWords, std::uint8_t> search(ground, progress, nullptr);
    std::size_t begin = 0;
    do {  // at least once: without boxes there is one, empty, goal set
      Mask<kWords> mask{};
      std::uint32_t rank = 0;
      for (std::size_t i = 0; i < boxes; ++i) {
        const std::size_t place = place_of[goal_sets[begin + i]];
        mask.set(static_cast<int>(place));
        rank += ground.share[i * static_cast<std::size_t>(ground.places) + place];
      }
      search.enter(rank, mask);
      begin += boxes;
    } while (begin < goal_sets.size());
  });
}

End run_portable(const Ground& ground, Progress& progress, std::uint8_t* distances, Pause& pause) {
  return run_search(ground, progress, distances, pause);
}

End run_portable(const Ground& ground, Progress& progress, std::uint16_t* distances, Pause& pause) {
  return run_search(ground, progress, distances, pause);
}

}  // namespace recommit::sokoban::retrograde
