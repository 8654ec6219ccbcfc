// The Sokoban table: the exact distance of every state of one level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/limits.hpp"
#include "core/memory/buffer.hpp"
#include "core/threads/watch.hpp"
#include "core/types.hpp"
#include "sokoban/level.hpp"
#include "sokoban/table/box_sets.hpp"

/// The Sokoban table: the exact distance of every state of one level, by retrograde analysis.
///
/// A state is a set of boxes and the player's cell. The search starts at all solved states at once (every box on a
/// goal, the player anywhere) and goes backwards, one distance after the other: a step is undone by walking back, a
/// push by pulling the box along. Moves cost one each, so the first time a state is met gives its least number of
/// actions, and a state that is never met cannot be solved. Nothing is estimated.
///
/// Two things keep it small and fast. Only boxes on *live* cells are tabled: elsewhere a box can never reach a goal.
/// And all players of one box set are handled together, as bits of a mask.
///
/// level.hpp          which cells count: the player's region, live cells        (one folder up)
/// box_sets.hpp       a number for every set of boxes, without gaps
/// retrograde.hpp     the search; retrograde_kernel.inc is compiled twice, portably and for AVX2
/// level_table.hpp    from raw grids to places in the table; planes.hpp reads a grid as bit masks
/// table_cache.hpp    tables shared by all callers
/// layers.hpp         the states at each distance, for the generator
namespace recommit::sokoban {

/// The exact distance of every state of one level with one number of boxes: one byte per (box set over live cells,
/// player cell), or two if a distance exceeds 254. Immutable once built and thread-safe.
class Table {
 public:
  /// Peak bytes of building, known before allocation; kSaturated on overflow. `wide` is for levels whose distances are
  /// known to need two bytes.
  static std::uint64_t build_bytes(const Level& level, int boxes, bool wide = false) noexcept;
  /// Bytes of the finished table.
  static std::uint64_t table_bytes(const Level& level, int boxes, bool wide = false) noexcept;

  const BoxSets& sets() const noexcept { return sets_; }
  int cells() const noexcept { return cells_; }
  int boxes() const noexcept { return sets_.boxes(); }
  bool wide() const noexcept { return wide_; }
  std::uint64_t bytes() const noexcept { return entries() * (wide_ ? 2 : 1); }
  std::uint64_t entries() const noexcept { return std::uint64_t{sets_.count()} * static_cast<std::uint64_t>(cells_); }

  /// By position: entry = set rank * cells() + player cell. A player inside a box reads as kUnsolvable.
  Distance at(std::uint64_t entry) const noexcept {
    if (wide_) {
      std::uint16_t value;
      std::memcpy(&value, data_.get() + 2 * entry, 2);
      return value == 0xFFFF ? kUnsolvable : value;
    }
    return data_[entry] == 0xFF ? kUnsolvable : data_[entry];
  }
  Distance distance(const State& state) const noexcept;

  /// The entries, in the machine's byte order when wide; 0xFF.. = unsolvable.
  const std::uint8_t* data() const noexcept { return data_.get(); }

 private:
  friend class TableBuilder;
  Table(const Level& level, int boxes) : sets_(level, boxes), cells_(level.cells()) {}

  BoxSets sets_;
  int cells_;
  bool wide_ = false;
  std::unique_ptr<std::uint8_t[]> data_;
};

/// Result of building: a table, or the reason for none (Status::ByteLimit, NodeLimit, TimeLimit).
struct Built {
  std::shared_ptr<const Table> table;
  Status status = Status::Exact;
};

/// Builds tables by retrograde analysis, reusing its working memory between calls. Not thread-safe.
class TableBuilder {
 public:
  enum class Kernel : std::uint8_t { Best, Portable };  ///< both give identical bytes
  explicit TableBuilder(Kernel kernel = Kernel::Best) noexcept : kernel_(kernel) {}

  /// Refuses, before allocating, if limits.bytes (peak) or limits.nodes (entries) would be exceeded.
  Built build(const Level& level, int boxes, const Limits& limits = {}, Watch* watch = nullptr);

  /// Frees the working memory.
  void trim() { work_ = Buffer(); }
  std::size_t held_bytes() const noexcept { return work_.size(); }

 private:
  std::uint64_t* work(std::uint64_t words);

  Kernel kernel_;
  Buffer work_;
};

}  // namespace recommit::sokoban
