// Cache of tables by level, within a memory budget.
#include "sokoban/table/table_cache.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace recommit::sokoban {
namespace {

constexpr std::size_t kIdleWork = std::size_t{32} << 20;  // working memory a thread keeps between builds

int boxes_inside(const Level& level, const std::uint8_t* state) {
  State moving;
  level.read(state, moving);
  return static_cast<int>(moving.boxes.size());
}

/// Checks a table against the limits, whether or not it exists. Assumes narrow entries until known to be wide.
Status verdict(const Level& level, int boxes, bool wide, const Limits& limits) {
  const std::uint64_t sets = BoxSets::count(level, boxes);
  if (sets >= BoxSets::kDead || Table::build_bytes(level, boxes, wide) > limits.bytes) return Status::ByteLimit;
  const std::uint64_t entries = multiply_saturated(sets, static_cast<std::uint64_t>(level.cells()));
  return entries > limits.nodes ? Status::NodeLimit : Status::Exact;
}

bool matches(const LevelTable& level, const Planes& planes, int player, Shape shape) {
  return level.level().shape() == shape && level.fits(planes, player);
}

class AtEnd {
 public:
  explicit AtEnd(std::function<void()> action) : action_(std::move(action)) {}
  ~AtEnd() { action_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  std::function<void()> action_;
};

}  // namespace

TableCache& TableCache::shared() {
  static TableCache& cache = forever(new TableCache);
  return cache;
}

CachedLevel TableCache::find(Shape shape, const Planes& planes, int player, const Limits& limits, Watch* watch) {
  if (CachedLevel cached = at_hand(shape, planes, player, limits); cached.level != nullptr) return cached;
  const std::vector<std::uint8_t> state = cells_of(planes, shape);
  const Level level = Level::of_state(state.data(), shape);
  const int boxes = boxes_inside(level, state.data());
  Built built = table_of(level, boxes, limits, watch);
  auto made = std::make_shared<const LevelTable>(level, boxes, std::move(built.table));
  if (made->has_table()) keep(hash_still(planes, shape), made, planes, player);
  return {std::move(made), built.status};
}

CachedLevel TableCache::at_hand(Shape shape, const Planes& planes, int player, const Limits& limits) {
  std::shared_ptr<const LevelTable> cached = look(hash_still(planes, shape), planes, player, shape);
  const Status status = cached == nullptr ? Status::Exact : cached->allowed(limits);
  return {std::move(cached), status};
}

std::shared_ptr<const LevelTable> TableCache::look(std::uint64_t hash, const Planes& planes, int player, Shape shape) {
  const std::shared_lock lock(levels_mutex_);
  const auto [first, last] = levels_.equal_range(hash);
  for (auto each = first; each != last; ++each) {
    Entry& entry = *each->second;
    if (!matches(*entry.level, planes, player, shape)) continue;
    entry.used.store(clock_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    hits_.fetch_add(1, std::memory_order_relaxed);
    return entry.level;
  }
  return nullptr;
}

TableCache::TableKey TableCache::key_of(const Level& level, int boxes) {
  return std::string(level.key().begin(), level.key().end()) + ' ' + std::to_string(boxes);
}

Built TableCache::table_of(const Level& level, int boxes, const Limits& limits, Watch* watch) {
  if (const Status status = verdict(level, boxes, false, limits); status != Status::Exact) return {nullptr, status};
  const TableKey key = key_of(level, boxes);
  std::unique_lock lock(tables_mutex_);
  bool first = false;  // else this thread builds a second one, since the first builder is held up in its callback
  for (Patience patience(5);;) {
    if (const auto entry = tables_.find(key); entry != tables_.end()) {
      if (std::shared_ptr<const Table> table = entry->second.lock()) {
        const Status status = verdict(level, boxes, table->wide(), limits);
        return {status == Status::Exact ? std::move(table) : nullptr, status};
      }
    }
    const auto [building, inserted] = building_.try_emplace(key, watch);
    first = inserted;
    if (first || patience.ends(building->second)) break;
    built_.wait_for(lock, std::chrono::milliseconds(20));
    if (watch == nullptr) continue;
    lock.unlock();  // the callback may wait for an interpreter held by a thread that waits for this lock
    watch->poll();
    lock.lock();
  }
  lock.unlock();
  const AtEnd done([&] {
    if (!first) return;
    const std::lock_guard relock(tables_mutex_);
    building_.erase(key);
    built_.notify_all();
  });
  Built built = build(level, boxes, limits, watch);
  if (built.table != nullptr) {
    const std::lock_guard relock(tables_mutex_);
    tables_[key] = built.table;
  }
  return built;
}

Built TableCache::build(const Level& level, int boxes, const Limits& limits, Watch* watch) {
  thread_local TableBuilder builder;
  const AtEnd trim([] {
    if (builder.held_bytes() > kIdleWork) builder.trim();
  });
  builds_.fetch_add(1, std::memory_order_relaxed);
  return builder.build(level, boxes, limits, watch);
}

void TableCache::keep(std::uint64_t hash, const std::shared_ptr<const LevelTable>& level, const Planes& planes,
                      int player) {
  const std::uint64_t bytes = level->bytes();
  if (bytes > budget()) return;
  auto entry = std::make_unique<Entry>();
  entry->level = level;
  entry->used = clock_.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::lock_guard lock(levels_mutex_);
  const auto [first, last] = levels_.equal_range(hash);
  for (auto each = first; each != last; ++each) {
    if (matches(*each->second->level, planes, player, level->level().shape())) return;  // another thread was faster
  }
  levels_.emplace(hash, std::move(entry));
  bytes_ += bytes;
  if (bytes_ > budget()) evict();
}

/// Evicts least recently used levels down to three quarters of the budget, so that a stream of new levels sorts only
/// once in many insertions. Called with levels_mutex_ held.
void TableCache::evict() {
  using Place = decltype(levels_)::iterator;
  std::vector<Place> oldest;
  for (Place each = levels_.begin(); each != levels_.end(); ++each) oldest.push_back(each);
  std::sort(oldest.begin(), oldest.end(), [](Place a, Place b) { return a->second->used < b->second->used; });
  for (const Place place : oldest) {
    if (bytes_ <= budget() / 4 * 3) break;
    bytes_ -= place->second->level->bytes();
    levels_.erase(place);
    ++evictions_;
  }
  const std::lock_guard lock(tables_mutex_);
  std::erase_if(tables_, [](const auto& each) { return each.second.expired(); });
}

CacheStats TableCache::stats() const {
  const std::shared_lock lock(levels_mutex_);
  return {hits_, builds_, evictions_, bytes_, levels_.size()};
}

void TableCache::set_budget(std::uint64_t bytes) {
  const std::lock_guard lock(levels_mutex_);
  budget_ = bytes;
  if (bytes_ > bytes) evict();
}

void TableCache::clear() {
  const std::lock_guard lock(levels_mutex_);
  levels_.clear();
  bytes_ = 0;
}

void TableCache::before_fork() {
  levels_mutex_.lock();
  tables_mutex_.lock();
}

void TableCache::after_fork(bool child) {
  tables_mutex_.unlock();
  if (!child) {
    levels_mutex_.unlock();
    return;
  }
  std::construct_at(&levels_mutex_);  // glibc checks the owner's thread id, which fork() changes
  building_.clear();                  // the building threads do not exist in the child
}

}  // namespace recommit::sokoban
