// Values made once per process and shared by all threads.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "core/threads/fork.hpp"
#include "core/threads/watch.hpp"

namespace recommit {

/// Values that are made once per process, on first use, and shared by all threads. If making one throws (when
/// interrupted, say), the caller gets the exception and the next caller tries again. Instances must be static and never
/// destroyed: a call on another thread may still be running when the process ends.
template <class Key, class Value>
class Once final : public ForkAware {
 public:
  using Pointer = std::shared_ptr<const Value>;

  /// The value of `key`; waits, polling `watch`, while another thread makes it. If that thread is held up in its
  /// callback, a second one is made, and the first to finish is used by all.
  Pointer get(const Key& key, Watch* watch, const std::function<Pointer()>& make) {
    std::unique_lock lock(guard_);
    Slot& slot = slots_[key];
    Patience patience(50);
    while (slot.making && !slot.value && !patience.ends(slot.maker)) {
      lock.unlock();
      if (watch != nullptr) watch->poll();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      lock.lock();
    }
    if (slot.value) return slot.value;
    const Making making(slot, watch);
    lock.unlock();
    Pointer value;
    try {
      value = make();
    } catch (...) {
      lock.lock();
      throw;
    }
    lock.lock();
    if (!slot.value) slot.value = std::move(value);
    return slot.value;
  }

  /// The value if already made; never waits.
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
    const Watch* maker = nullptr;
    Pointer value;
  };

  /// Marks a slot as being made, unless another thread has; modified under the lock.
  class Making {
   public:
    Making(Slot& slot, const Watch* maker) : slot_(slot), first_(!slot.making) {
      if (!first_) return;
      slot_.making = true;
      slot_.maker = maker;
    }
    ~Making() {
      if (first_) slot_.making = false, slot_.maker = nullptr;
    }
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;

   private:
    Slot& slot_;
    const bool first_;
  };

  std::mutex guard_;
  std::map<Key, Slot> slots_;
};

}  // namespace recommit
