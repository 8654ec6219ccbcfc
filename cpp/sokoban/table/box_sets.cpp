// Ranking and unranking of box sets.
#include "sokoban/table/box_sets.hpp"

#include <algorithm>
#include <numeric>

namespace recommit::sokoban {

std::uint64_t binomial(std::uint64_t n, std::uint64_t k) noexcept {
  if (k > n) return 0;
  k = std::min(k, n - k);
  std::uint64_t result = 1;
  for (std::uint64_t i = 1; i <= k; ++i) {
    // result * (n - k + i) / i is exact; dividing by the common factor first keeps it from overflowing too early.
    const std::uint64_t factor = n - k + i, common = std::gcd(result, i);
    result = multiply_saturated(result / common, factor / (i / common));
    if (result == kSaturated) return kSaturated;
  }
  return result;
}

std::uint64_t BoxSets::count(const Level& level, int boxes) noexcept {
  return binomial(static_cast<std::uint64_t>(level.live_cells()), static_cast<std::uint64_t>(boxes));
}

BoxSets::BoxSets(const Level& level, int boxes)
    : boxes_(boxes),
      cells_(static_cast<std::size_t>(level.cells())),
      count_(static_cast<std::uint32_t>(count(level, boxes))),
      share_(static_cast<std::size_t>(boxes) * cells_),
      is_live_(cells_) {
  for (int cell = 0; cell < level.cells(); ++cell) {
    if (!level.is_live(cell)) continue;
    is_live_[static_cast<std::size_t>(cell)] = 1;
    live_cells_.push_back(static_cast<std::uint16_t>(cell));
  }
  // Row i holds C(v, i + 1), by Pascal's rule from the row before; values that no rank uses may wrap.
  std::vector<std::uint32_t> row(live_cells_.size());
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 0; i < static_cast<std::size_t>(boxes); ++i) {
    for (std::size_t v = 0; v < row.size(); ++v) share_[i * cells_ + live_cells_[v]] = row[v];
    std::uint32_t sum = 0;
    for (std::uint32_t& value : row) {
      const std::uint32_t below = value;
      value = sum;
      sum += below;
    }
  }
}

std::uint32_t BoxSets::rank(const std::uint16_t* cells) const noexcept {
  std::uint32_t rank = 0;
  for (int i = 0; i < boxes_; ++i) {
    if (is_live_[cells[i]] == 0) return kDead;
    rank += share(i, cells[i]);
  }
  return rank;
}

void BoxSets::unrank(std::uint32_t rank, std::uint16_t* cells) const noexcept {
  // From the last box down, the largest live cell whose share fits. Shares of one row ascend up to count().
  std::uint64_t top = live_cells_.size();
  for (int i = boxes_; i-- > 0;) {
    do --top;
    while (binomial(top, static_cast<std::uint64_t>(i) + 1) > rank);
    cells[i] = live_cells_[top];
    rank -= share(i, cells[i]);
  }
}

}  // namespace recommit::sokoban
