#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "core/watch.hpp"

namespace recommit {

/// Values that are made once per process, on first use, and shared by all threads from then on. Making may fail (it
/// was interrupted, say): the caller sees the exception and the next one tries again. Keep instances static and never
/// destroy them: a call on another thread may still be at work when the process ends.
template <class Key, class Value>
class Once {
 public:
  using Pointer = std::shared_ptr<const Value>;

  /// The value of `key`; waits, polling `watch`, while another thread makes it.
  Pointer get(const Key& key, Watch* watch, const std::function<Pointer()>& make) {
    Slot& slot = find(key);
    std::unique_lock lock(slot.making, std::defer_lock);
    while (!lock.try_lock()) {  // not a timed mutex: ThreadSanitizer does not know those of GCC 12
      if (watch != nullptr) watch->poll();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (!slot.value) slot.value = make();
    return slot.value;
  }

  /// The value if it is there already; never waits.
  Pointer peek(const Key& key) {
    Slot& slot = find(key);
    const std::unique_lock lock(slot.making, std::try_to_lock);
    return lock.owns_lock() ? slot.value : nullptr;
  }

 private:
  struct Slot {
    std::mutex making;
    Pointer value;
  };

  Slot& find(const Key& key) {
    const std::lock_guard lock(guard_);
    return slots_[key];
  }

  std::mutex guard_;
  std::map<Key, Slot> slots_;
};

}  // namespace recommit
