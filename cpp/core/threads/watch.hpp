// What a long call looks at: was it asked to stop, and how far is it?
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "core/errors.hpp"

namespace recommit {

/// What a long call looks at now and then: was it asked to stop, and who wants to hear how far it is.
/// Any thread may call `stopped`, `add` and `poll`; the callback runs on the creating thread alone, at most every
/// 20 ms, so that a binding may touch its interpreter there.
class Watch {
 public:
  using Callback = std::function<void(Watch&)>;

  Watch() = default;
  explicit Watch(Callback callback) : callback_(std::move(callback)) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
  bool stopped() const noexcept { return stop_.load(std::memory_order_relaxed); }

  /// Is the callback at work? It may wait for whatever it likes, other callers of the core included.
  bool calling() const noexcept { return calling_.load(std::memory_order_relaxed); }

  void add(std::uint64_t done) noexcept { done_.fetch_add(done, std::memory_order_relaxed); }
  std::uint64_t done() const noexcept { return done_.load(std::memory_order_relaxed); }

  /// Cheap enough for every few thousand nodes of a search. Throws Interrupted once stopped.
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

/// For a call that waits for another one to make something: is it time to make that itself? The maker's callback may
/// wait for the very call that waits here, so whoever sees it at work for some looks in a row waits no longer.
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
