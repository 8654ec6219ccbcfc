#include "sokoban/level_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace recommit::sokoban {

LevelTable::LevelTable(const Level& level, int boxes, std::shared_ptr<const Table> table)
    : level_(level),
      boxes_(boxes),
      table_(std::move(table)),
      words_(plane_words(level.shape())),
      walls_(words_),
      goals_(words_),
      region_(words_),
      harmless_(words_) {
  const auto grids = static_cast<std::size_t>(level.shape().cells());
  if (table_ != nullptr) share_.resize(static_cast<std::size_t>(boxes) * grids);
  for (std::size_t grid = 0; grid < grids; ++grid) {
    const std::uint64_t bit = std::uint64_t{1} << (grid % 64);
    const std::uint8_t still = level.still()[grid];
    const std::uint16_t cell = level.cell_at(static_cast<int>(grid));
    if (still == kWall) walls_[grid / 64] |= bit;
    if (still == kGoal) goals_[grid / 64] |= bit;
    if (cell != kNoCell) region_[grid / 64] |= bit;
    if (cell != kNoCell ? level.is_live(cell) : still == kGoal) harmless_[grid / 64] |= bit;
    if (cell == kNoCell || table_ == nullptr) continue;
    for (int i = 0; i < boxes; ++i) share_[static_cast<std::size_t>(i) * grids + grid] = table_->sets().share(i, cell);
  }
}

bool LevelTable::fits(const Planes& planes, int player) const noexcept {
  std::uint64_t different = 0;
  int boxes = 0;
  for (std::size_t i = 0; i < words_; ++i) {
    different |= (planes.walls[i] ^ walls_[i]) | (planes.goals[i] ^ goals_[i]);
    for (std::uint64_t rest = planes.boxes[i] & region_[i]; rest != 0; rest &= rest - 1) ++boxes;
  }
  const auto at = static_cast<std::size_t>(player);
  return different == 0 && boxes == boxes_ && (region_[at / 64] >> (at % 64) & 1) != 0;
}

bool LevelTable::lost(const Planes& planes) const noexcept {
  std::uint64_t bad = 0;
  for (std::size_t i = 0; i < words_; ++i) bad |= planes.boxes[i] & ~harmless_[i];
  return bad != 0;
}

std::uint64_t LevelTable::entry(const Planes& planes, int player) const noexcept {
  const auto grids = static_cast<std::size_t>(level_.shape().cells());
  const std::uint32_t* share = share_.data();
  std::uint32_t rank = 0;
  std::uint64_t lost = 0;
  for (std::size_t i = 0; i < words_; ++i) {
    lost |= planes.boxes[i] & ~harmless_[i];
    for (std::uint64_t rest = planes.boxes[i] & region_[i]; rest != 0; rest &= rest - 1) {
      rank += share[64 * i + static_cast<std::size_t>(std::countr_zero(rest))];
      share += grids;
    }
  }
  if (lost != 0) return kDeadEntry;
  return std::uint64_t{rank} * static_cast<std::uint64_t>(level_.cells()) + level_.cell_at(player);
}

void LevelTable::read(const Planes& planes, int player, State& out) const {
  out.player = level_.cell_at(player);
  out.boxes.clear();
  for (std::size_t i = 0; i < words_; ++i) {
    for (std::uint64_t rest = planes.boxes[i] & region_[i]; rest != 0; rest &= rest - 1) {
      out.boxes.push_back(level_.cell_at(64 * static_cast<int>(i) + std::countr_zero(rest)));
    }
  }
}

bool LevelTable::act(const State& state, int action, State& out) const {
  const std::uint16_t ahead = level_.neighbor(state.player, action);
  if (ahead == kNoCell) return false;
  const auto box = std::lower_bound(state.boxes.begin(), state.boxes.end(), ahead);
  out = state;
  out.player = ahead;
  if (box == state.boxes.end() || *box != ahead) return true;
  const std::uint16_t beyond = level_.neighbor(ahead, action);
  if (beyond == kNoCell || std::binary_search(state.boxes.begin(), state.boxes.end(), beyond)) return false;
  const auto moved = out.boxes.begin() + (box - state.boxes.begin());
  *moved = beyond;
  // The pushed box passes the ones between; the others keep their order.
  if (beyond > ahead) {
    std::rotate(moved, moved + 1, std::lower_bound(moved + 1, out.boxes.end(), beyond));
  } else {
    std::rotate(std::lower_bound(out.boxes.begin(), moved, beyond), moved, moved + 1);
  }
  return true;
}

unsigned LevelTable::optimal_actions(const State& state, Distance distance, State& scratch) const {
  unsigned mask = 0;
  if (distance <= 0) return mask;
  for (int action = 0; action < kActions; ++action) {
    if (act(state, action, scratch) && table_->distance(scratch) == distance - 1) mask |= 1U << action;
  }
  return mask;
}

std::uint64_t LevelTable::bytes() const noexcept {
  const std::uint64_t grids = level_.still().size();
  return 512 + 16 * grids + 4 * share_.size() + (has_table() ? table_->bytes() + table_->sets().bytes() : 0);
}

void LevelTable::prefetch([[maybe_unused]] std::uint64_t entry) const noexcept {
#if defined(__GNUC__)
  if (entry != kDeadEntry) __builtin_prefetch(table_->data() + (table_->wide() ? 2 * entry : entry));
#endif
}

}  // namespace recommit::sokoban
