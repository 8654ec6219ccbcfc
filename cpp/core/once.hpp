#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "core/fork.hpp"
#include "core/watch.hpp"

namespace recommit {

/// Values that are made once per process, on first use, and shared by all threads from then on. Making may fail (it
/// was interrupted, say): the caller sees the exception and the next one tries again. Keep instances static and never
/// destroy them: a call on another thread may still be at work when the process ends.
template <class Key, class Value>
class Once final : public ForkAware {
 public:
  using Pointer = std::shared_ptr<const Value>;

  /// The value of `key`; waits, polling `watch`, while another thread makes it.
  Pointer get(const Key& key, Watch* watch, const std::function<Pointer()>& make) {
    std::unique_lock lock(guard_);
    Slot& slot = slots_[key];
    while (slot.making) {
      lock.unlock();
      if (watch != nullptr) watch->poll();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      lock.lock();
    }
    if (slot.value) return slot.value;
    slot.making = true;
    lock.unlock();
    Pointer made;
    try {
      made = make();
    } catch (...) {
      lock.lock();
      slot.making = false;
      throw;
    }
    lock.lock();
    slot.making = false;
    slot.value = made;
    return made;
  }

  /// The value if it is there already; never waits.
  Pointer peek(const Key& key) {
    const std::lock_guard lock(guard_);
    return slots_[key].value;
  }

  void before_fork() override { guard_.lock(); }
  void after_fork(bool child) override {
    for (auto& [key, slot] : slots_) slot.making = slot.making && !child;
    guard_.unlock();
  }

 private:
  struct Slot {
    bool making = false;
    Pointer value;
  };

  std::mutex guard_;
  std::map<Key, Slot> slots_;
};

}  // namespace recommit
