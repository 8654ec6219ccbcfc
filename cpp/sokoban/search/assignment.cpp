// The Hungarian method, row by row, and re-solving with one row exchanged.
#include "sokoban/search/assignment.hpp"

#include <algorithm>
#include <limits>

namespace recommit::sokoban {

Assignment::Assignment(std::size_t columns)
    : size_(columns),
      rows_(columns),
      row_price_(columns),
      column_price_(columns),
      length_(columns),
      row_of_(columns),
      column_of_(columns),
      came_from_(columns),
      done_(columns) {}

int Assignment::solve(const std::vector<const std::uint16_t*>& rows, const std::vector<std::uint16_t>& cheapest) {
  std::fill(rows_.begin(), rows_.end(), nullptr);
  std::copy(rows.begin(), rows.end(), rows_.begin());
  std::fill(column_price_.begin(), column_price_.end(), 0);
  std::fill(row_of_.begin(), row_of_.end(), kNone);
  for (std::size_t row = 0; row < rows.size();
       ++row) {  // greedy start: the first row gets its cheapest column; prices are feasible
    const std::uint16_t column = cheapest[row];
    row_price_[row] = cost(row, column);
    column_of_[row] = row_of_[column] == kNone ? column : kNone;
    if (column_of_[row] == column) row_of_[column] = static_cast<std::uint16_t>(row);
  }
  for (std::size_t row = 0; row < size_; ++row) {
    if (row >= rows.size() || column_of_[row] == kNone) add(row);
  }
  total_ = 0;
  for (std::size_t i = 0; i < size_; ++i) total_ += row_price_[i] + column_price_[i];
  return total_ < kHuge ? total_ : kImpossible;
}

/// Initialises path lengths with the reduced costs of a row of price 0.
void Assignment::start(const std::uint16_t* costs) {
  for (std::size_t j = 0; j < size_; ++j) {
    const int price = costs == nullptr ? 0 : costs[j] < kFar ? costs[j] : kHuge;
    length_[j] = price - column_price_[j];
    done_[j] = 0;
    came_from_[j] = kNone;
  }
}

std::size_t Assignment::nearest_open() const noexcept {
  std::size_t nearest = 0;
  int least = std::numeric_limits<int>::max();
  for (std::size_t j = 0; j < size_; ++j) {
    if (done_[j] == 0 && length_[j] < least) {
      least = length_[j];
      nearest = j;
    }
  }
  return nearest;
}

/// Relaxes path lengths through a paired column's row.
void Assignment::relax(std::size_t column) {
  done_[column] = 1;
  const std::size_t row = row_of_[column];
  const int base = length_[column] - row_price_[row];
  for (std::size_t j = 0; j < size_; ++j) {
    if (done_[j] != 0) continue;
    const int length = base + cost(row, j) - column_price_[j];
    if (length < length_[j]) {
      length_[j] = length;
      came_from_[j] = static_cast<std::uint16_t>(column);
    }
  }
}

void Assignment::add(std::size_t row) {
  start(rows_[row]);
  std::size_t column = nearest_open();
  while (row_of_[column] != kNone) {
    relax(column);
    column = nearest_open();
  }
  const int length = length_[column];
  row_price_[row] = length;
  for (std::size_t j = 0; j < size_; ++j) {
    if (done_[j] == 0) continue;
    row_price_[row_of_[j]] += length - length_[j];
    column_price_[j] -= length - length_[j];
  }
  while (came_from_[column] != kNone) {
    const std::size_t before = came_from_[column];
    row_of_[column] = row_of_[before];
    column_of_[row_of_[column]] = static_cast<std::uint16_t>(column);
    column = before;
  }
  row_of_[column] = static_cast<std::uint16_t>(row);
  column_of_[row] = static_cast<std::uint16_t>(column);
}

int Assignment::exchanged(std::size_t row, const std::uint16_t* costs) {
  start(costs);
  const std::size_t freed = column_of_[row];
  std::size_t column = nearest_open();
  while (column != freed) {
    relax(column);
    column = nearest_open();
  }
  const int total = total_ - row_price_[row] + length_[freed];
  return total < kHuge ? total : kImpossible;
}

int Assignment::exchanged_at_least(std::size_t row, const std::uint16_t* costs) const noexcept {
  int least = std::numeric_limits<int>::max();
  for (std::size_t j = 0; j < size_; ++j) {
    const int price = (costs[j] < kFar ? costs[j] : kHuge) - column_price_[j];
    least = price < least ? price : least;
  }
  const int total = total_ - row_price_[row] + least;
  return total < kHuge ? total : kImpossible;
}

}  // namespace recommit::sokoban
