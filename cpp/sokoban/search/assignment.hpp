// Minimum-cost assignment of boxes to distinct goals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace recommit::sokoban {

/// Minimum-cost assignment of rows to distinct columns (Hungarian method, exact), and its update when one row is
/// exchanged. Rows are pointers into an external cost table, which must outlive them. Not thread-safe.
class Assignment {
 public:
  static constexpr std::uint16_t kFar = 0x7FFF;  ///< costs of at least this mark impossible pairs
  static constexpr int kImpossible = 1 << 28;    ///< total if some row cannot be assigned

  /// Missing rows (rows < columns) are free everywhere.
  explicit Assignment(std::size_t columns);

  /// Solves from scratch, for at most as many rows as columns; cheapest[i] is a cheapest column of row i.
  int solve(const std::vector<const std::uint16_t*>& rows, const std::vector<std::uint16_t>& cheapest);

  /// Total of the last solved problem with one row exchanged; the problem is not modified. Requires a possible total of
  /// solve().
  int exchanged(std::size_t row, const std::uint16_t* costs);

  /// A much cheaper lower bound on exchanged(), from the prices alone.
  int exchanged_at_least(std::size_t row, const std::uint16_t* costs) const noexcept;

  static std::size_t bytes_for(std::size_t columns) noexcept { return columns * 40; }

 private:
  static constexpr int kHuge = 1 << 20;  // cost of impossible pairs while solving

  int cost(std::size_t row, std::size_t column) const noexcept {
    const std::uint16_t* costs = rows_[row];
    return costs == nullptr ? 0 : costs[column] < kFar ? costs[column] : kHuge;
  }
  std::size_t nearest_open() const noexcept;
  void start(const std::uint16_t* costs);
  void add(std::size_t row);
  void relax(std::size_t column);

  static constexpr std::uint16_t kNone = 0xFFFF;
  std::size_t size_;
  int total_ = 0;
  std::vector<const std::uint16_t*> rows_;
  std::vector<int> row_price_, column_price_;  ///< cost - row price - column price is >= 0, and 0 where paired
  std::vector<int> length_;                    ///< of the shortest alternating path to each column
  std::vector<std::uint16_t> row_of_, column_of_, came_from_;
  std::vector<std::uint8_t> done_;
};

}  // namespace recommit::sokoban
