// The tables that a process holds.
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

/// What a cache has for a state: always the level, and its table unless `status` says why there is none.
struct CachedLevel {
  std::shared_ptr<const LevelTable> level;
  Status status = Status::Exact;
};

struct CacheStats {
  std::uint64_t hits = 0, builds = 0, evictions = 0, bytes = 0, levels = 0;
};

/// Tables of many levels, each built once and shared by all callers, least recently used ones dropped beyond a budget
/// of bytes (whoever still holds one keeps it alive). Safe to use from any number of threads: two that ask for the
/// same missing table get one build, unless the builder's callback keeps the other waiting. What a call answers depends
/// on its limits alone, not on what is cached.
class TableCache final : public ForkAware {
 public:
  static constexpr std::uint64_t kDefaultBudget = std::uint64_t{256} << 20;

  explicit TableCache(std::uint64_t budget = kDefaultBudget) : budget_(budget) {}
  TableCache(const TableCache&) = delete;
  TableCache& operator=(const TableCache&) = delete;

  /// The one that all callers share unless they bring their own; never destroyed.
  static TableCache& shared();

  /// The level of a well-formed state with these planes and player. The planes alone count: what they were read from
  /// may be another state by now.
  CachedLevel find(Shape shape, const Planes& planes, int player, const Limits& limits, Watch* watch = nullptr);

  /// The same where the table is in memory for this very grid; without a level where it is not.
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
  std::map<TableKey, const Watch*> building_;  ///< and the watch of whoever does
};

}  // namespace recommit::sokoban
