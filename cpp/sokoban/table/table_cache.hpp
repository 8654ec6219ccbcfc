// The process-wide cache of tables.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "core/limits.hpp"
#include "core/threads/fork.hpp"
#include "core/threads/watch.hpp"
#include "sokoban/table/level_table.hpp"
#include "sokoban/table/planes.hpp"

namespace recommit::sokoban {

/// A cache's result for a state: always the level, and its table unless `status` gives the reason for none.
struct CachedLevel {
  std::shared_ptr<const LevelTable> level;
  Status status = Status::Exact;
};

struct CacheStats {
  std::uint64_t hits = 0, builds = 0, evictions = 0, bytes = 0, levels = 0;
};

/// An LRU cache of tables of many levels, each built once and shared by all callers, with a budget in bytes (evicted
/// tables stay valid for their users). Thread-safe: two threads that need the same missing table share one build,
/// unless the builder is held up in its callback. Answers depend on the call's limits alone, not on the cache's
/// content.
class TableCache final : public ForkAware {
 public:
  static constexpr std::uint64_t kDefaultBudget = std::uint64_t{256} << 20;

  explicit TableCache(std::uint64_t budget = kDefaultBudget) : budget_(budget) {}
  TableCache(const TableCache&) = delete;
  TableCache& operator=(const TableCache&) = delete;

  /// The default cache, shared by all callers; never destroyed.
  static TableCache& shared();

  /// The level of a well-formed state with these planes and player. Uses only the planes: the state they were read from
  /// may have changed since.
  CachedLevel find(Shape shape, const Planes& planes, int player, const Limits& limits, Watch* watch = nullptr);

  /// The same if the table for this grid is in memory; else without a level.
  CachedLevel at_hand(Shape shape, const Planes& planes, int player, const Limits& limits);

  CacheStats stats() const;
  std::uint64_t budget() const noexcept { return budget_.load(std::memory_order_relaxed); }
  void set_budget(std::uint64_t bytes);
  void clear();

  void before_fork() override;
  void after_fork(bool child) override;

 private:
  struct Entry {
    std::shared_ptr<const LevelTable> level;
    std::atomic<std::uint64_t> used{0};
  };
  using TableKey = std::string;  // bytes of Level::key(), then the number of boxes

  std::shared_ptr<const LevelTable> look(std::uint64_t hash, const Planes& planes, int player, Shape shape);
  static TableKey key_of(const Level& level, int boxes);
  Built table_of(const Level& level, int boxes, const Limits& limits, Watch* watch);
  Built build(const Level& level, int boxes, const Limits& limits, Watch* watch);
  void keep(std::uint64_t hash, const std::shared_ptr<const LevelTable>& level, const Planes& planes, int player);
  void evict();

  std::atomic<std::uint64_t> budget_;
  mutable std::shared_mutex levels_mutex_;  // guards levels_, bytes_, evictions_
  std::unordered_multimap<std::uint64_t, std::unique_ptr<Entry>> levels_;
  std::uint64_t bytes_ = 0, evictions_ = 0;
  std::atomic<std::uint64_t> clock_{0}, hits_{0}, builds_{0};

  mutable std::mutex tables_mutex_;  // guards the rest
  std::condition_variable built_;
  std::map<TableKey, std::weak_ptr<const Table>> tables_;
  std::map<TableKey, const Watch*> building_;  ///< with the builder's watch
};

}  // namespace recommit::sokoban
