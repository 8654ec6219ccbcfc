// Construction of a pattern's table, backwards from the goal by many threads.
#include "sliding/patterns/pattern_build.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "core/threads/parallel.hpp"
#include "sliding/patterns/regions.hpp"

namespace recommit::sliding {
namespace {

using Cells = Regions::Cells;

constexpr std::uint8_t kAll = 255;
constexpr int kLow = 3;  // trailing tiles that are decoded by table; the others are fixed within a block

/// The search: `reached` holds the regions seen so far per placement, `now` those of the current level.
class Builder {
 public:
  Builder(const Pattern& pattern, Watch* watch)
      : pattern_(pattern),
        watch_(watch),
        regions_(pattern.shape()),
        n_(pattern.shape().cells()),
        k_(pattern.count()),
        low_(std::min(kLow, k_ - 1)),
        slab_(pattern.weight(0)),
        reached_(pattern.size()),
        now_(pattern.size()),
        next_(pattern.size()),
        out_(packed_bytes(pattern)) {
    make_low_table();
    make_moves();
  }

  Buffer run(int threads) {
    start();
    // Slabs so small that neighbours share a byte of the output are not worth a second thread.
    const int workers = slab_ % kPerByte == 0 ? threads : 1;
    for (level_ = 1; alive_.exchange(false); ++level_) {
      const auto slabs = static_cast<std::size_t>(n_);
      parallel_for(
          slabs, workers, 1,
          [&](std::size_t begin, std::size_t end) {
            for (std::size_t slab = begin; slab < end; ++slab) fill_slab(static_cast<int>(slab));
          },
          watch_);
      parallel_for(
          slabs, workers, 1,
          [&](std::size_t begin, std::size_t end) {
            std::memset(now_.data() + begin * slab_, 0, (end - begin) * slab_);
          },
          watch_);
      std::swap(now_, next_);
    }
    return std::move(out_);
  }

 private:
  /// One placement while it is expanded. `at` gives the pattern tile in a cell, k for none.
  struct Place {
    std::array<std::uint8_t, kMaxPattern> cell{};
    std::array<std::uint8_t, kMaxCells> at{};
    Cells occupied = 0;
  };
  /// New states of one slab.
  struct Gain {
    std::uint64_t placements = 0;
    bool any = false;
  };

  void make_low_table() {
    const int free = n_ - (k_ - low_);
    block_ = pattern_.weight(k_ - 1 - low_);
    low_cells_.resize(block_);
    for (std::uint32_t j = 0; j < block_; ++j) {
      std::uint32_t rest = j, used = 0;
      for (int i = 0; i < low_; ++i) {
        const std::uint32_t weight = pattern_.weight(k_ - low_ + i);
        std::uint32_t digit = rest / weight;
        rest %= weight;
        for (int f = 0; f < free; ++f) {
          if ((used >> f & 1) == 0 && digit-- == 0) {
            low_cells_[j][static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(f);
            used |= std::uint32_t{1} << f;
            break;
          }
        }
      }
    }
  }

  void make_moves() {
    for (int i = 0; i < k_; ++i) {
      for (int j = 0; j < k_; ++j) jump_[at(i, j)] = pattern_.jump(i, j);
      const int goal = pattern_.tiles()[static_cast<std::size_t>(i)] - 1, cols = pattern_.shape().cols;
      for (int cell = 0; cell < n_; ++cell) {
        manhattan_[static_cast<std::size_t>(i)][static_cast<std::size_t>(cell)] =
            static_cast<std::uint8_t>(std::abs(cell / cols - goal / cols) + std::abs(cell % cols - goal % cols));
      }
    }
  }

  static std::size_t at(int i, int j) noexcept { return static_cast<std::size_t>(i * 16 + j); }

  void start() {
    std::array<std::uint8_t, kMaxPattern> cells{};
    Cells occupied = 0;
    for (int i = 0; i < k_; ++i) {
      cells[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(pattern_.tiles()[static_cast<std::size_t>(i)] - 1);
      occupied |= Cells{1} << cells[static_cast<std::size_t>(i)];
    }
    const std::uint32_t goal = pattern_.rank(cells.data());
    now_.data()[goal] = static_cast<std::uint8_t>(1U << regions_.region(occupied, n_ - 1));
    reached_.data()[goal] = static_cast<std::uint8_t>(now_.data()[goal] | missing(occupied));
    if (watch_ != nullptr) watch_->add(1);
    alive_ = true;
  }

  /// All arrivals of this level in the slab whose first tile stands on `cell`.
  void fill_slab(int cell) {
    Gain gain;
    scan(cell, [&](Place& place, std::uint32_t index, std::uint8_t wanted) { expand(place, index, wanted, gain); });
    const Cells here = Cells{1} << cell;
    for (Cells from = regions_.spread(here) & ((Cells{1} << n_) - 1) & ~here; from != 0; from &= from - 1) {
      const int other = std::countr_zero(from);
      scan(other, [&](Place& place, std::uint32_t index, std::uint8_t wanted) {
        if ((place.occupied & here) == 0 && (regions_.cells(place.occupied, wanted) & here) != 0) {
          push(place, index, other, cell, gain);
        }
      });
    }
    if (gain.any) alive_.store(true, std::memory_order_relaxed);
    if (watch_ != nullptr) watch_->add(gain.placements);
  }

  /// Calls visit for every placement of the current level in a slab.
  template <class Visit>
  void scan(int slab_cell, const Visit& visit) {
    const std::uint32_t first = static_cast<std::uint32_t>(slab_cell) * slab_;
    for (std::uint32_t base = first, blocks = 0; base < first + slab_; base += block_, ++blocks) {
      if (watch_ != nullptr && blocks % 1024 == 0) watch_->poll();
      const std::uint8_t* now = now_.data() + base;
      std::uint32_t j = skip_zeros(now, 0, block_);
      if (j == block_) continue;
      Place place;
      std::array<std::uint8_t, kMaxCells> free{};
      enter_block(base, place, free);
      const Cells high = place.occupied;
      for (; j < block_; j = skip_zeros(now, j + 1, block_)) {
        place.occupied = high;
        for (int i = 0; i < low_; ++i) {
          const std::uint8_t cell = free[low_cells_[j][static_cast<std::size_t>(i)]];
          place.cell[static_cast<std::size_t>(k_ - low_ + i)] = cell;
          place.at[cell] = static_cast<std::uint8_t>(k_ - low_ + i);
          place.occupied |= Cells{1} << cell;
        }
        visit(place, base + j, now[j]);
        for (int i = k_ - low_; i < k_; ++i)
          place.at[place.cell[static_cast<std::size_t>(i)]] = static_cast<std::uint8_t>(k_);
      }
    }
  }

  void enter_block(std::uint32_t base, Place& place, std::array<std::uint8_t, kMaxCells>& free) const {
    pattern_.unrank(base, place.cell.data(), k_ - low_);
    place.at.fill(static_cast<std::uint8_t>(k_));
    for (int i = 0; i < k_ - low_; ++i) {
      place.at[place.cell[static_cast<std::size_t>(i)]] = static_cast<std::uint8_t>(i);
      place.occupied |= Cells{1} << place.cell[static_cast<std::size_t>(i)];
    }
    for (int cell = 0, f = 0; cell < n_; ++cell) {
      if ((place.occupied >> cell & 1) == 0) free[static_cast<std::size_t>(f++)] = static_cast<std::uint8_t>(cell);
    }
  }

  static std::uint32_t skip_zeros(const std::uint8_t* bytes, std::uint32_t from, std::uint32_t to) noexcept {
    std::uint64_t word = 0;
    for (; from + 8 <= to; from += 8) {
      std::memcpy(&word, bytes + from, 8);
      if (word != 0) break;
    }
    while (from < to && bytes[from] == 0) ++from;
    return from;
  }

  /// Every move of a tile but the first into the blank's regions.
  void expand(const Place& place, std::uint32_t index, std::uint8_t wanted, Gain& gain) {
    const Cells blank = regions_.cells(place.occupied, wanted);
    const Cells movable = place.occupied & ~(Cells{1} << place.cell[0]);
    const int cols = pattern_.shape().cols;
    const auto each = [&](Cells movers, int step) {
      for (; movers != 0; movers &= movers - 1) {
        const int from = std::countr_zero(movers);
        push(place, index, from, from + step, gain);
      }
    };
    each(movable & (blank & regions_.not_first()) >> 1, 1);
    each(movable & (blank & regions_.not_last()) << 1, -1);
    each(movable & blank >> cols, cols);
    each(movable & blank << cols, -cols);
  }

  /// Moves the tile in `from` to the free cell `to`; the blank is then in `from`.
  void push(const Place& place, std::uint32_t index, int from, int to, Gain& gain) {
    const int tile = place.at[static_cast<std::size_t>(from)];
    const int lower = std::min(from, to), upper = std::max(from, to);
    std::int32_t change = (upper - lower) * static_cast<std::int32_t>(pattern_.weight(tile));
    for (int cell = lower + 1; cell < upper; ++cell)
      change += jump_[at(tile, place.at[static_cast<std::size_t>(cell)])];
    const std::uint32_t target = index + static_cast<std::uint32_t>(to > from ? change : -change);
    std::uint8_t& reached = reached_.data()[target];
    if (reached == kAll) return;  // the case for six of seven pushes
    const Cells occupied = place.occupied ^ Cells{1} << from ^ Cells{1} << to;
    const auto bit = static_cast<std::uint8_t>(1U << regions_.region(occupied, from));
    if ((reached & bit) != 0) return;
    if (reached == 0) {
      record(place, target, tile, to);
      reached = missing(occupied);
      ++gain.placements;
    }
    reached = static_cast<std::uint8_t>(reached | bit);
    std::uint8_t& next = next_.data()[target];
    next = static_cast<std::uint8_t>(next | bit);
    gain.any = true;
  }

  /// Bits of the regions that a placement does not have: with them set, a finished placement reads kAll.
  std::uint8_t missing(Cells occupied) const noexcept {
    return static_cast<std::uint8_t>(kAll << regions_.count(occupied));
  }

  /// Records a placement's distance at its first arrival.
  void record(const Place& place, std::uint32_t target, int moved, int to) {
    int manhattan = 0;
    for (int i = 0; i < k_; ++i) {
      const int cell = i == moved ? to : place.cell[static_cast<std::size_t>(i)];
      manhattan += manhattan_[static_cast<std::size_t>(i)][static_cast<std::size_t>(cell)];
    }
    const int value = std::min((level_ - manhattan) / 2, kMaxValue);
    std::uint8_t& byte = out_.data()[target / kPerByte];
    byte = static_cast<std::uint8_t>(byte | value << (target % kPerByte * kValueBits));
  }

  const Pattern& pattern_;
  Watch* watch_;
  Regions regions_;
  int n_, k_, low_;
  std::uint32_t slab_, block_ = 0;
  Buffer reached_, now_, next_, out_;
  int level_ = 0;
  std::atomic<bool> alive_{false};
  std::vector<std::array<std::uint8_t, kLow>> low_cells_;
  std::array<std::int32_t, 16 * 16> jump_{};
  std::array<std::array<std::uint8_t, kMaxCells>, kMaxPattern> manhattan_{};
};

}  // namespace

Buffer build_pattern(const Pattern& pattern, int threads, Watch* watch) { return Builder(pattern, watch).run(threads); }

}  // namespace recommit::sliding
