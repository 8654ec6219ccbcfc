// Lookup of raw states in a level's table.
#include "sokoban/table/level_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace recommit::sokoban {

LevelTable::LevelTable(const Level& level, int boxes, std::shared_ptr<const Table> table)
    : sets_(BoxSets::count(level, boxes)),
      entries_(multiply_saturated(sets_, static_cast<std::uint64_t>(level.cells()))),
      build_bytes_(Table::build_bytes(level, boxes, table != nullptr && table->wide())),
      level_(level),
      boxes_(boxes),
      table_(std::move(table)),
      words_(plane_words(level.shape())) {
  const auto grids = static_cast<std::size_t>(level.shape().cells());
  if (table_ != nullptr) share_.resize(static_cast<std::size_t>(boxes) * grids);
  for (std::size_t grid = 0; grid < grids; ++grid) {
    const std::uint64_t bit = std::uint64_t{1} << (grid % 64);
    const std::uint8_t still = level.still()[grid];
    const std::uint16_t cell = level.cell_at(static_cast<int>(grid));
    Word& word = words_[grid / 64];
    if (still == kWall) word.walls |= bit;
    if (still == kGoal) word.goals |= bit;
    if (cell != kNoCell) word.region |= bit;
    if (cell != kNoCell ? level.is_live(cell) : still == kGoal) word.harmless |= bit;
    if (cell == kNoCell || table_ == nullptr) continue;
    for (int i = 0; i < boxes; ++i) share_[static_cast<std::size_t>(i) * grids + grid] = table_->sets().share(i, cell);
  }
}

Status LevelTable::allowed(const Limits& limits) const noexcept {
  if (sets_ >= BoxSets::kDead || build_bytes_ > limits.bytes) return Status::ByteLimit;
  return entries_ > limits.nodes ? Status::NodeLimit : Status::Exact;
}

bool LevelTable::same_place(const Planes& planes, int player) const noexcept {
  std::uint64_t different = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    different |= (planes.walls[i] ^ words_[i].walls) | (planes.goals[i] ^ words_[i].goals);
  }
  const auto at = static_cast<std::size_t>(player);
  return different == 0 && (words_[at / 64].region >> (at % 64) & 1) != 0;
}

bool LevelTable::fits(const Planes& planes, int player) const noexcept {
  int boxes = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    for (std::uint64_t rest = planes.boxes[i] & words_[i].region; rest != 0; rest &= rest - 1) ++boxes;
  }
  return boxes == boxes_ && same_place(planes, player);
}

bool LevelTable::locate(const Planes& planes, int player, std::uint64_t& entry) const noexcept {
  if (!same_place(planes, player)) return false;
  const std::size_t grids = level_.still().size();
  const std::uint32_t* share = share_.data();
  const std::uint32_t* const end = share + share_.size();
  std::uint32_t rank = 0;
  std::uint64_t bad = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    bad |= planes.boxes[i] & ~words_[i].harmless;
    for (std::uint64_t rest = planes.boxes[i] & words_[i].region; rest != 0; rest &= rest - 1, share += grids) {
      if (share == end) return false;  // more boxes than the table's
      rank += share[64 * i + static_cast<std::size_t>(std::countr_zero(rest))];
    }
  }
  if (share != end) return false;
  entry =
      bad != 0 ? kDeadEntry : std::uint64_t{rank} * static_cast<std::uint64_t>(level_.cells()) + level_.cell_at(player);
  return true;
}

bool LevelTable::lost(const Planes& planes) const noexcept {
  std::uint64_t bad = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) bad |= planes.boxes[i] & ~words_[i].harmless;
  return bad != 0;
}

void LevelTable::read(const Planes& planes, int player, State& out) const {
  out.player = level_.cell_at(player);
  out.boxes.clear();
  for (std::size_t i = 0; i < words_.size(); ++i) {
    for (std::uint64_t rest = planes.boxes[i] & words_[i].region; rest != 0; rest &= rest - 1) {
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
  // The pushed box moves past those between; the others keep their order.
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

void LevelTable::optimal_actions_everywhere(const State& state, std::uint32_t rank, std::uint8_t* masks) const {
  const auto cells = static_cast<std::size_t>(level_.cells());
  const std::uint64_t first = std::uint64_t{rank} * cells;
  std::vector<std::uint8_t> is_box(cells);
  for (const std::uint16_t box : state.boxes) is_box[box] = 1;
  State pushed;
  State pushing = state;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    masks[cell] = 0;
    const Distance distance = table_->at(first + cell);  // kUnsolvable inside a box
    if (distance <= 0) continue;
    for (int action = 0; action < kActions; ++action) {
      const std::uint16_t ahead = level_.neighbor(static_cast<int>(cell), action);
      if (ahead == kNoCell) continue;
      bool nearer = false;
      if (is_box[ahead] == 0) {
        nearer = table_->at(first + ahead) == distance - 1;
      } else {
        pushing.player = static_cast<std::uint16_t>(cell);
        nearer = act(pushing, action, pushed) && table_->distance(pushed) == distance - 1;
      }
      if (nearer) masks[cell] = static_cast<std::uint8_t>(masks[cell] | 1U << action);
    }
  }
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
