// Data of all searches of one shape: pattern tables and an automaton.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/memory/buffer.hpp"
#include "core/table_file.hpp"
#include "core/threads/watch.hpp"
#include "core/types.hpp"
#include "sliding/patterns/pattern.hpp"
#include "sliding/search/automaton.hpp"
#include "sliding/simulate.hpp"

namespace recommit::sliding {

/// Lower bound of a search: taxicab distance only, or with pattern tables.
enum class Database : std::uint8_t { Manhattan = 0, Small = 1, Large = 2 };

inline constexpr int kMaxPatterns = 5;

/// Table lookup for one view of a board (as it is, or mirrored at the main diagonal). When the blank takes action a,
/// the tile t it swaps with moves the other way, and the rank of t's pattern changes by sign * (step[t][crossing] + the
/// sum of jump[t][u] over the tiles u that t crosses in reading order); the sign is + for up and left. Only moves along
/// a column of the view cross tiles.
struct View {
  std::array<std::uint8_t, kMaxCells> pattern{};
  std::array<std::array<std::int32_t, 2>, kMaxCells> step{};
  std::array<std::array<std::int32_t, 32>, kMaxCells> jump{};
};

/// The data of one shape: immutable, made once per process and shared by all threads.
class Model {
 public:
  /// Loads or builds the tables of `database`; `threads` and `watch` are for building.
  Model(Shape shape, Database database, int threads, Watch* watch);

  /// The shared model of this process; waits while another thread makes it.
  static std::shared_ptr<const Model> shared(Shape shape, Database database, int threads, Watch* watch);

  /// True if this process already has the model.
  static bool is_loaded(Shape shape, Database database);

  Shape shape() const noexcept { return shape_; }
  Database database() const noexcept { return database_; }
  int patterns() const noexcept { return static_cast<int>(patterns_.size()); }
  const Pattern& pattern(int p) const noexcept { return patterns_[static_cast<std::size_t>(p)]; }
  const std::uint8_t* table(int p) const noexcept { return tables_.data() + offsets_[static_cast<std::size_t>(p)]; }
  /// The mirrored view exists for square boards only, whose goal is its own mirror image.
  int views() const noexcept { return shape_.rows == shape_.cols ? 2 : 1; }
  const View& view(int v) const noexcept { return views_[static_cast<std::size_t>(v)]; }
  const Automaton& automaton() const noexcept { return automaton_; }
  const Moves& moves() const noexcept { return moves_; }

  /// Bit a is set iff tile t in `cell` moves away from its goal when the blank takes action a to `cell`.
  const std::array<std::array<std::uint8_t, kMaxCells>, kMaxCells>& farther() const noexcept { return farther_; }
  int manhattan(const std::uint8_t* state) const noexcept;
  /// Ranks of all patterns of a state in `view`.
  void ranks(const std::uint8_t* state, int view, std::uint32_t* out) const noexcept;

  std::size_t bytes() const noexcept { return tables_.size(); }
  const TableSource& source() const noexcept { return source_; }

 private:
  void load(int threads, Watch* watch);
  void make_views();
  void make_farther();

  Shape shape_;
  Database database_;
  Moves moves_;
  std::vector<Pattern> patterns_;
  std::vector<std::size_t> offsets_;
  std::array<View, 2> views_{};
  std::array<std::array<std::uint8_t, kMaxCells>, kMaxCells> farther_{};
  TableSource source_;
  Buffer tables_;
  Automaton automaton_;
};

/// Bytes of a model's tables.
std::size_t table_bytes(Shape shape, Database database);

/// The tiles of each pattern; empty if this shape has no such database.
std::vector<std::vector<std::uint8_t>> partition(Shape shape, Database database);

}  // namespace recommit::sliding
