// The least cost of giving every box a goal of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace recommit::sokoban {

/// Least total cost of giving every row a column of its own (Hungarian method, exact), and what becomes of it when
/// one row is exchanged. Rows are read through pointers into somebody else's cost table, which has to outlive them.
/// Not for several threads at once.
class Assignment {
 public:
  static constexpr std::uint16_t kFar = 0x7FFF;  ///< a cost of at least this: no such pairing
  static constexpr int kImpossible = 1 << 28;    ///< a total: some row can have no column

  /// Missing rows (rows < columns) are free everywhere.
  explicit Assignment(std::size_t columns);

  /// Solves from scratch. At most as many rows as columns; cheapest[i] is a column of least cost of row i.
  int solve(const std::vector<const std::uint16_t*>& rows, const std::vector<std::uint16_t>& cheapest);

  /// Total of the last solved problem with one row exchanged; that problem stays as it was. Only after solve()
  /// returned a possible total.
  int exchanged(std::size_t row, const std::uint16_t* costs);

  /// A lower bound on exchanged(), from the prices alone: much cheaper.
  int exchanged_at_least(std::size_t row, const std::uint16_t* costs) const noexcept;

  static std::size_t bytes_for(std::size_t columns) noexcept { return columns * 40; }

 private:
  static constexpr int kHuge = 1 << 20;  // stands for an impossible pairing while solving

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
