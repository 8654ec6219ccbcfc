// A small LRU cache of values made on first use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "core/threads/fork.hpp"

namespace recommit {

/// An LRU cache of immutable values, made on first use; evicted values stay valid for their users. Thread-safe; a value
/// is made outside the lock, so two threads may make the same one, and one of them wins.
template <class Key, class Value>
class Cache final : public ForkAware {
 public:
  explicit Cache(std::size_t capacity) : capacity_(capacity) {}

  template <class Make>
  std::shared_ptr<const Value> get(const Key& key, const Make& make) {
    if (auto found = find(key)) return found;
    auto value = std::make_shared<const Value>(make());
    const std::lock_guard lock(mutex_);
    if (auto found = locked_find(key)) return found;
    entries_.emplace_front(key, value);
    if (entries_.size() > capacity_) entries_.pop_back();
    return value;
  }

  void before_fork() override { mutex_.lock(); }
  void after_fork(bool) override { mutex_.unlock(); }

 private:
  using Entry = std::pair<Key, std::shared_ptr<const Value>>;

  std::shared_ptr<const Value> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    return locked_find(key);
  }

  std::shared_ptr<const Value> locked_find(const Key& key) {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.first == key; });
    if (found == entries_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found);
    return found->second;
  }

  std::mutex mutex_;
  std::list<Entry> entries_;
  std::size_t capacity_;
};

}  // namespace recommit
