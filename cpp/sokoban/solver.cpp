// Questions about states, answered by a level's table or, beyond it, by the search.
#include "sokoban/solver.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "core/rng.hpp"
#include "sokoban/search/beyond_table.hpp"

namespace recommit::sokoban {
namespace {

/// Reads one state after the other and remembers the last levels met, so that neighbours of one level, and batches in
/// which some hundred levels take turns, do not go to the shared cache for every state.
class Reader {
 public:
  Reader(TableCache& cache, const Limits& limits, Shape shape, std::size_t count, Watch* watch)
      : cache_(cache),
        limits_(limits),
        shape_(shape),
        cells_(static_cast<std::size_t>(shape.cells())),
        watch_(watch),
        recent_(std::bit_ceil(std::clamp<std::size_t>(2 * count, 1, 1024))) {
    check_shape(shape);
  }

  /// Finds the level of states[index]; throws ValueError if the state is malformed.
  void read(const std::uint8_t* states, std::size_t index) {
    player_ = read_planes(states + index * cells_, shape_, index, planes_);
    if (current_ != nullptr && here(*current_)) return;
    const std::size_t slot = hash_still(planes_, shape_) & (recent_.size() - 1);
    if (recent_[slot].level == nullptr || !here(*recent_[slot].level)) {
      CachedLevel cached = cache_.find(shape_, planes_, player_, limits_, watch_);
      here(*cached.level);
      if (recent_[slot].level != nullptr) retired_.push_back(std::move(recent_[slot].level));
      recent_[slot] = std::move(cached);
    }
    current_ = recent_[slot].level.get();
    status_ = recent_[slot].status;
  }

  /// Lets go of levels read before; until then every level() stays valid.
  void release() noexcept { retired_.clear(); }

  const LevelTable& level() const noexcept { return *current_; }
  bool tabled() const noexcept { return status_ == Status::Exact; }
  std::uint64_t entry() const noexcept { return entry_; }
  void state(State& out) const { current_->read(planes_, player_, out); }
  bool lost() const noexcept { return current_->lost(planes_); }

 private:
  /// Whether the state read belongs to a level; its place in the table is then known too.
  bool here(const LevelTable& level) noexcept {
    return level.has_table() ? level.locate(planes_, player_, entry_) : level.fits(planes_, player_);
  }

  TableCache& cache_;
  const Limits& limits_;
  Shape shape_;
  std::size_t cells_;
  Watch* watch_;
  Planes planes_;
  int player_ = 0;
  const LevelTable* current_ = nullptr;
  Status status_ = Status::Exact;
  std::uint64_t entry_ = kDeadEntry;
  std::vector<CachedLevel> recent_;
  std::vector<std::shared_ptr<const LevelTable>> retired_;
};

Answer exact_answer(Distance distance) {
  return {distance, distance, distance == kUnsolvable ? Status::Unsolvable : Status::Exact, 0};
}

/// The state read last, where its level has no table.
Solution search_on(const Reader& reader, const Limits& limits, bool first, Watch* watch) {
  if (reader.lost()) return {exact_answer(kUnsolvable), {}};
  State state;
  reader.state(state);
  return beyond_table(reader.level().level(), state, limits, first, watch);
}

/// Optimal actions and distance of a state of the level read last, which has no table. An action counts once its end's
/// distance is proven, and none does where a shorter way is not ruled out.
std::pair<unsigned, Distance> searched(const Reader& reader, const State& state, const Limits& limits, Watch* watch) {
  if (reader.lost()) return {0, kUnsolvable};
  const LevelTable& level = reader.level();
  Distance distance = beyond_table(level.level(), state, limits, false, watch).answer.distance;
  unsigned mask = 0;
  State after;
  for (int action = 0; action < kActions && distance > 0; ++action) {
    if (!level.act(state, action, after)) continue;
    const Answer answer = beyond_table(level.level(), after, limits, false, watch).answer;
    if (answer.distance == kUnknown && answer.lower_bound < distance) distance = kUnknown, mask = 0;
    if (answer.distance >= 0 && answer.distance == distance - 1) mask |= 1U << action;
  }
  return {mask, distance};
}

void spread(unsigned mask, std::uint8_t* out) {
  for (unsigned action = 0; action < kActions; ++action) out[action] = mask >> action & 1;
}

int pick(unsigned mask, Ties ties, Rng& rng) {
  std::uint32_t count = 0;
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) ++count;
  std::uint32_t chosen = ties == Ties::Random ? rng.below(count) : 0;
  for (int action = 0;; ++action) {
    if ((mask >> action & 1) != 0 && chosen-- == 0) return action;
  }
}

}  // namespace

void Solver::distance(const std::uint8_t* states, Shape shape, Distance* out, std::size_t begin, std::size_t end,
                      Watch* watch) const {
  // Entries of a block are located first and fetched together: a table seldom lies in the nearest cache.
  constexpr std::size_t kBlock = 32;
  Reader reader(cache_, limits_, shape, end - begin, watch);
  std::array<const LevelTable*, kBlock> levels;
  std::array<std::uint64_t, kBlock> entries;
  for (std::size_t first = begin; first < end; first += kBlock) {
    const std::size_t count = std::min(kBlock, end - first);
    for (std::size_t k = 0; k < count; ++k) {
      reader.read(states, first + k);
      if (reader.tabled()) {
        levels[k] = &reader.level();
        levels[k]->prefetch(entries[k] = reader.entry());
      } else {
        levels[k] = nullptr;
        out[first + k] = search_on(reader, limits_, false, watch).answer.distance;
      }
    }
    for (std::size_t k = 0; k < count; ++k) {
      if (levels[k] != nullptr) out[first + k] = levels[k]->at(entries[k]);
    }
    reader.release();
  }
}

void Solver::answer(const std::uint8_t* states, Shape shape, Answer* out, std::size_t begin, std::size_t end,
                    Watch* watch) const {
  Reader reader(cache_, limits_, shape, end - begin, watch);
  for (std::size_t i = begin; i < end; ++i) {
    reader.read(states, i);
    reader.release();
    out[i] = reader.tabled() ? exact_answer(reader.level().at(reader.entry()))
                             : search_on(reader, limits_, false, watch).answer;
  }
}

void Solver::optimal_actions(const std::uint8_t* states, Shape shape, std::uint8_t* masks, Distance* distances,
                             std::size_t begin, std::size_t end, Watch* watch) const {
  Reader reader(cache_, limits_, shape, end - begin, watch);
  State state, scratch;
  for (std::size_t i = begin; i < end; ++i) {
    reader.read(states, i);
    reader.release();
    unsigned mask = 0;
    Distance distance;
    reader.state(state);
    if (reader.tabled()) {
      distance = reader.level().at(reader.entry());
      mask = reader.level().optimal_actions(state, distance, scratch);
    } else {
      std::tie(mask, distance) = searched(reader, state, limits_, watch);
    }
    spread(mask, masks + i * kActions);
    if (distances != nullptr) distances[i] = distance;
  }
}

void Solver::optimal_actions_everywhere(const std::uint8_t* states, Shape shape, std::uint8_t* masks, std::size_t begin,
                                        std::size_t end, Watch* watch) const {
  Reader reader(cache_, limits_, shape, end - begin, watch);
  State state;
  std::vector<std::uint8_t> everywhere;
  const auto grids = static_cast<std::size_t>(shape.cells());
  for (std::size_t i = begin; i < end; ++i) {
    reader.read(states, i);
    reader.release();
    std::uint8_t* const out = masks + i * grids * kActions;
    std::fill_n(out, grids * kActions, std::uint8_t{0});
    const LevelTable& level = reader.level();
    const auto cells = static_cast<std::size_t>(level.level().cells());
    everywhere.assign(cells, 0);
    reader.state(state);
    if (!reader.tabled()) {
      for (std::size_t cell = 0; cell < cells && !reader.lost(); ++cell) {
        state.player = static_cast<std::uint16_t>(cell);
        if (std::binary_search(state.boxes.begin(), state.boxes.end(), state.player)) continue;
        everywhere[cell] = static_cast<std::uint8_t>(searched(reader, state, limits_, watch).first);
      }
    } else if (reader.entry() != kDeadEntry) {
      level.optimal_actions_everywhere(state, static_cast<std::uint32_t>(reader.entry() / cells), everywhere.data());
    }
    for (std::size_t cell = 0; cell < cells; ++cell) {
      spread(everywhere[cell],
             out + static_cast<std::size_t>(level.level().grid_at(static_cast<int>(cell))) * kActions);
    }
  }
}

void Solver::solve(const std::uint8_t* states, Shape shape, Ties ties, std::uint64_t seed, std::uint64_t start,
                   Solution* out, std::size_t begin, std::size_t end, Watch* watch) const {
  Reader reader(cache_, limits_, shape, end - begin, watch);
  State state, scratch;
  for (std::size_t i = begin; i < end; ++i) {
    reader.read(states, i);
    reader.release();
    if (!reader.tabled()) {
      out[i] = search_on(reader, limits_, ties == Ties::First, watch);
      continue;
    }
    const LevelTable& level = reader.level();
    Distance left = level.at(reader.entry());
    out[i] = {exact_answer(left), {}};
    Rng rng(seed, Purpose::Ties, start + i);
    reader.state(state);
    for (; left > 0; --left) {
      const int action = pick(level.optimal_actions(state, left, scratch), ties, rng);
      level.act(state, action, scratch);
      std::swap(state, scratch);
      out[i].actions.push_back(static_cast<std::uint8_t>(action));
    }
  }
}

}  // namespace recommit::sokoban
