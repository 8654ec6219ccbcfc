// An automaton that prunes duplicate paths to the same board.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/types.hpp"

namespace recommit::sliding {

/// A finite automaton over moves, so that a depth-first search visits most boards once: it refuses every word for which
/// a smaller word (shorter, or equally long and earlier in action order) leads from the same blank cell to the same
/// board. The order is preserved when extending words on both sides, so the smallest optimal plan never contains a
/// refused word: it is found, and with ties in action order it is found first. Refused words are looked up for their
/// exact blank cell, where both words are known to fit on the board.
class Automaton {
 public:
  using Number = std::uint16_t;
  /// Next state per action; 0 = blocked by the border, or refused.
  using Row = std::array<Number, kActions>;

  /// Considers words of up to `longest` moves, fewer where that would take too many states or too long.
  Automaton(Shape shape, int longest);

  /// Restores an automaton from `bytes()`.
  explicit Automaton(const std::uint8_t* bytes);
  /// The rows as little-endian bytes, filled up to kBytes with zeros.
  void bytes(std::uint8_t* out) const noexcept;

  static constexpr std::size_t kMaxStates = 32'767;
  static constexpr std::size_t kBytes = (kMaxStates + 1) * kActions * 2;

  /// The state without history, in which every legal move may follow.
  static constexpr Number root(int blank) noexcept { return static_cast<Number>(blank + 1); }
  const Row* rows() const noexcept { return rows_.data(); }
  std::size_t size() const noexcept { return rows_.size(); }

 private:
  std::vector<Row> rows_;
};

}  // namespace recommit::sliding
