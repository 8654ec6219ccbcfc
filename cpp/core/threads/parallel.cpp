// The thread pool, and parallel loops in chunks.
#include "core/threads/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace recommit {
namespace {

thread_local bool inside = false;  // on a pool thread, or in a call that already uses the pool

/// One parallel_for: chunks are claimed through an atomic counter; the first failure (by position) is kept.
class Job {
 public:
  Job(std::size_t count, std::size_t grain, const std::function<void(std::size_t, std::size_t)>& body, Watch* watch)
      : count_(count), grain_(grain), pieces_((count + grain - 1) / grain), body_(body), watch_(watch) {}

  void run() noexcept {
    for (;;) {
      const std::size_t piece = next_.fetch_add(1, std::memory_order_relaxed);
      if (piece >= pieces_ || piece > failed_.load(std::memory_order_relaxed)) return;
      try {
        if (watch_ != nullptr) watch_->poll();
        body_(piece * grain_, std::min(count_, (piece + 1) * grain_));
      } catch (...) {
        keep(piece);
      }
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void keep(std::size_t piece) noexcept {
    const std::lock_guard lock(mutex_);
    if (piece < failed_.load(std::memory_order_relaxed)) {
      failed_.store(piece, std::memory_order_relaxed);
      error_ = std::current_exception();
    }
  }

  std::size_t count_, grain_, pieces_;
  const std::function<void(std::size_t, std::size_t)>& body_;
  Watch* watch_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> failed_{SIZE_MAX};
  std::mutex mutex_;
  std::exception_ptr error_;
};

/// Sleeping workers, one job at a time.
class Pool {
 public:
  /// False if another thread is using the pool.
  bool try_run(Job& job, int helpers, Watch* watch) {
    const std::unique_lock busy(busy_, std::try_to_lock);
    if (!busy.owns_lock()) return false;
    {
      const std::lock_guard lock(mutex_);
      try {
        for (; started_ < helpers; ++started_) std::thread([this] { work(); }).detach();
      } catch (const std::system_error&) {
      }  // no more threads available: continue with the existing ones
      job_ = &job;
      wanted_ = helpers;
    }
    for (int i = 0; i < helpers; ++i) wake_.notify_one();  // not those started for other calls
    job.run();
    std::unique_lock lock(mutex_);
    wanted_ = 0;  // helpers not yet awake are no longer needed
    while (active_ > 0) {
      if (watch == nullptr) {
        done_.wait(lock);
        continue;
      }
      done_.wait_for(lock, std::chrono::milliseconds(20));
      lock.unlock();
      try {
        watch->poll();  // keeps Ctrl-C and progress alive while only helpers are left
      } catch (...) {
      }  // the helpers see the same flag and stop; the job keeps their exception
      lock.lock();
    }
    job_ = nullptr;
    return true;
  }

 private:
  void work() {
    inside = true;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return wanted_ > 0; });
      --wanted_;
      ++active_;
      Job* job = job_;
      lock.unlock();
      job->run();
      lock.lock();
      if (--active_ == 0) done_.notify_one();
    }
  }

  std::mutex busy_, mutex_;
  std::condition_variable wake_, done_;
  Job* job_ = nullptr;
  int started_ = 0, wanted_ = 0, active_ = 0;
};

std::atomic<Pool*> the_pool{nullptr};

Pool& pool() {
  Pool* current = the_pool.load(std::memory_order_acquire);
  if (current != nullptr) return *current;
  auto* fresh = new Pool();
  if (the_pool.compare_exchange_strong(current, fresh, std::memory_order_acq_rel)) {
#if defined(__unix__) || defined(__APPLE__)
    // Threads do not survive fork(): the child forgets the parent's pool (its memory stays) and makes its own.
    static const int registered = pthread_atfork(nullptr, nullptr, [] { the_pool.store(nullptr); });
    (void)registered;
#endif
    return *fresh;
  }
  delete fresh;
  return *current;
}

struct InsideGuard {
  InsideGuard() { inside = true; }
  ~InsideGuard() { inside = false; }
};

}  // namespace

int default_threads() noexcept {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::clamp(CPU_COUNT(&set), 1, kMaxThreads);
#endif
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxThreads);
}

void parallel_for(std::size_t count, int threads, std::size_t grain,
                  const std::function<void(std::size_t, std::size_t)>& body, Watch* watch) {
  if (count == 0) return;
  grain = std::max<std::size_t>(grain, 1);
  const std::size_t pieces = (count + grain - 1) / grain;
  const int helpers =
      static_cast<int>(std::min<std::size_t>(pieces, static_cast<std::size_t>(std::max(threads, 1)))) - 1;
  Job job(count, grain, body, watch);
  if (helpers <= 0 || inside) {
    job.run();
  } else {
    const InsideGuard guard;
    if (!pool().try_run(job, helpers, watch)) job.run();
  }
  job.rethrow();
}

}  // namespace recommit
