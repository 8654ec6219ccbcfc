// Interruption and progress of long calls.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "core/errors.hpp"

namespace recommit {

/// Interruption and progress of a long call, which polls it. Any thread may call `stopped`, `add` and `poll`; the
/// callback only runs on the creating thread, at most every 20 ms, so that a binding may use its interpreter there.
class Watch {
 public:
  using Callback = std::function<void(Watch&)>;

  Watch() = default;
  explicit Watch(Callback callback) : callback_(std::move(callback)) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
  bool stopped() const noexcept { return stop_.load(std::memory_order_relaxed); }

  /// True while the callback runs, which may wait for anything, including other callers of the core.
  bool calling() const noexcept { return calling_.load(std::memory_order_relaxed); }

  void add(std::uint64_t done) noexcept { done_.fetch_add(done, std::memory_order_relaxed); }
  std::uint64_t done() const noexcept { return done_.load(std::memory_order_relaxed); }

  /// Cheap enough to call every few thousand search nodes. Throws Interrupted once stopped.
  void poll() {
    if (callback_ && !stopped() && std::this_thread::get_id() == owner_) {
      const auto now = Clock::now();
      if (now >= next_) {
        next_ = now + std::chrono::milliseconds(20);
        calling_.store(true, std::memory_order_relaxed);
        callback_(*this);
        calling_.store(false, std::memory_order_relaxed);
      }
    }
    if (stopped()) throw Interrupted();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Callback callback_;
  std::thread::id owner_ = std::this_thread::get_id();
  Clock::time_point next_ = Clock::now();
  std::atomic<bool> stop_{false}, calling_{false};
  std::atomic<std::uint64_t> done_{0};
};

/// For a call that waits for another to make a value: decides when to make it itself. The maker's callback may be
/// waiting for this very call, so stop waiting once the callback was seen running several times in a row.
class Patience {
 public:
  explicit Patience(int looks) noexcept : looks_(looks) {}
  bool ends(const Watch* maker) noexcept {
    seen_ = maker != nullptr && maker->calling() ? seen_ + 1 : 0;
    return seen_ > looks_;
  }

 private:
  int looks_, seen_ = 0;
};

}  // namespace recommit
