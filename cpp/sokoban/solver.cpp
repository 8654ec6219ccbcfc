// Solving of states by their level's table or, if too large, by search.
#include "sokoban/solver.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/rng.hpp"
#include "sokoban/search/beyond_table.hpp"

namespace recommit::sokoban {
namespace {

/// Reads consecutive states and caches the last levels, so that neighbours of one level, and batches that alternate
/// between some hundred levels, do not access the shared cache for every state.
class Reader {
 public:
  Reader(TableCache& cache, const Limits& limits, Shape shape, const Part& part, Watch* watch)
      : cache_(cache),
        limits_(limits),
        shape_(shape),
        cells_(static_cast<std::size_t>(shape.cells())),
        part_(part),
        watch_(watch),
        recent_(part.order != nullptr ? 1
                                      : std::bit_ceil(std::clamp<std::size_t>(2 * (part.end - part.begin), 1, 1024))) {
    check_shape(shape);
    if (part.last == nullptr) return;
    const std::lock_guard lock(part.last->mutex);
    std::swap(recent_[0], part.last->level);
    use(recent_[0]);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    if (part_.last == nullptr) return;
    const std::lock_guard lock(part_.last->mutex);
    std::swap(recent_[0], part_.last->level);
  }

  /// Finds the level of states[index]; false if deferred. Throws ValueError if the state is malformed.
  bool read(const std::uint8_t* states, std::size_t index) {
    budget_.reset();
    player_ = read_planes(states + index * cells_, shape_, index, planes_);
    if (current_ != nullptr && here(*current_)) return true;
    const std::uint64_t hash = hash_still(planes_, shape_);
    CachedLevel& recent = recent_[hash & (recent_.size() - 1)];
    if (recent.level == nullptr || !here(*recent.level)) {
      CachedLevel cached = find(hash);
      if (cached.level == nullptr) {
        part_.later->push_back({hash, index});
        return false;
      }
      here(*cached.level);
      retired_ = std::move(recent.level);
      recent = std::move(cached);
    }
    use(recent);
    return true;
  }

  /// True if a level was evicted for the last one; it stays valid until `release`.
  bool retired() const noexcept { return retired_ != nullptr; }
  void release() noexcept { retired_.reset(); }

  const LevelTable& level() const noexcept { return *current_; }
  bool tabled() const noexcept { return status_ == Status::Exact; }
  std::uint64_t entry() const noexcept { return entry_; }
  void state(State& out) const { current_->read(planes_, player_, out); }
  bool lost() const noexcept { return current_->lost(planes_); }

  /// Solves a state of the last level by search, within the current state's remaining limits.
  Solution search(const State& state, bool first) {
    Solution found = beyond_table(current_->level(), state, budget().left(), first, watch_);
    budget_->spend(found.answer.nodes);
    return found;
  }

 private:
  /// True if the current state belongs to a level; also computes its table entry.
  bool here(const LevelTable& level) noexcept {
    return level.has_table() ? level.locate(planes_, player_, entry_) : level.fits(planes_, player_);
  }

  /// Budget of the current state, started only when a table is built or a search begins: a cached table is faster than
  /// a clock check.
  Budget& budget() { return budget_ ? *budget_ : budget_.emplace(limits_); }

  /// The level of the current state; none if deferrable and its table is not cached.
  CachedLevel find(std::uint64_t hash) {
    // Half of the time is for the table, so that a search has the other half if that fails.
    if (part_.later == nullptr) return cache_.find(shape_, planes_, player_, budget().left(0.5), watch_);
    if (!part_.later->empty() && part_.later->back().level == hash) return {};  // deferred like its predecessor
    return cache_.at_hand(shape_, planes_, player_, limits_);
  }

  void use(const CachedLevel& cached) noexcept {
    current_ = cached.level.get();
    status_ = cached.status;
  }

  TableCache& cache_;
  const Limits& limits_;
  Shape shape_;
  std::size_t cells_;
  const Part& part_;
  Watch* watch_;
  std::optional<Budget> budget_;
  Planes planes_;
  int player_ = 0;
  const LevelTable* current_ = nullptr;
  Status status_ = Status::Exact;
  std::uint64_t entry_ = kDeadEntry;
  std::vector<CachedLevel> recent_;
  std::shared_ptr<const LevelTable> retired_;
};

Answer exact_answer(Distance distance) {
  return {distance, distance, distance == kUnsolvable ? Status::Unsolvable : Status::Exact, 0};
}

/// Solves the current state by search, if its level has no table.
Solution search_on(Reader& reader, bool first) {
  if (reader.lost()) return {exact_answer(kUnsolvable), {}};
  State state;
  reader.state(state);
  return reader.search(state, first);
}

/// Optimal actions of a state of the last level, without table. An action counts once its successor's distance is
/// proven; none counts if a shorter plan is not ruled out.
unsigned searched(Reader& reader, const State& state) {
  if (reader.lost()) return 0;
  const LevelTable& level = reader.level();
  Distance distance = reader.search(state, false).answer.distance;
  unsigned mask = 0;
  State after;
  for (int action = 0; action < kActions && distance > 0; ++action) {
    if (!level.act(state, action, after)) continue;
    const Answer answer = reader.search(after, false).answer;
    if (answer.distance == kUnknown && answer.lower_bound < distance) distance = kUnknown, mask = 0;
    if (answer.distance >= 0 && answer.distance == distance - 1) mask |= 1U << action;
  }
  return mask;
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

void Solver::distance(const std::uint8_t* states, Shape shape, Distance* out, const Part& part, Watch* watch) const {
  // Entries of a block are located first and prefetched together: tables rarely fit in the L1 cache.
  constexpr std::size_t kBlock = 32;
  Reader reader(cache_, limits_, shape, part, watch);
  std::array<const LevelTable*, kBlock> levels;
  std::array<std::uint64_t, kBlock> entries;
  std::array<std::size_t, kBlock> indices;
  std::size_t count = 0;
  const auto answer_block = [&] {
    for (std::size_t k = 0; k < count; ++k) out[indices[k]] = levels[k]->at(entries[k]);
    count = 0;
    reader.release();
  };
  for (std::size_t place = part.begin; place < part.end; ++place) {
    const std::size_t i = part.at(place);
    if (!reader.read(states, i)) continue;
    if (count == kBlock || reader.retired()) answer_block();
    if (reader.tabled()) {
      levels[count] = &reader.level();
      levels[count]->prefetch(entries[count] = reader.entry());
      indices[count++] = i;
    } else {
      out[i] = search_on(reader, false).answer.distance;
    }
  }
  answer_block();
}

void Solver::optimal_actions(const std::uint8_t* states, Shape shape, std::uint8_t* masks, const Part& part,
                             Watch* watch) const {
  Reader reader(cache_, limits_, shape, part, watch);
  State state, scratch;
  for (std::size_t place = part.begin; place < part.end; ++place) {
    const std::size_t i = part.at(place);
    if (!reader.read(states, i)) continue;
    reader.release();
    reader.state(state);
    const LevelTable& level = reader.level();
    spread(reader.tabled() ? level.optimal_actions(state, level.at(reader.entry()), scratch) : searched(reader, state),
           masks + i * kActions);
  }
}

void Solver::optimal_actions_everywhere(const std::uint8_t* states, Shape shape, std::uint8_t* masks, const Part& part,
                                        Watch* watch) const {
  Reader reader(cache_, limits_, shape, part, watch);
  State state;
  std::vector<std::uint8_t> everywhere;
  const auto grids = static_cast<std::size_t>(shape.cells());
  for (std::size_t place = part.begin; place < part.end; ++place) {
    const std::size_t i = part.at(place);
    if (!reader.read(states, i)) continue;
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
        everywhere[cell] = static_cast<std::uint8_t>(searched(reader, state));
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
                   Solution* out, const Part& part, Watch* watch) const {
  Reader reader(cache_, limits_, shape, part, watch);
  State state, scratch;
  for (std::size_t place = part.begin; place < part.end; ++place) {
    const std::size_t i = part.at(place);
    if (!reader.read(states, i)) continue;
    reader.release();
    if (!reader.tabled()) {
      out[i] = search_on(reader, ties == Ties::First);
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
