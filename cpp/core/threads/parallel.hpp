// Loops over many items on many threads, whose answer no number of threads changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

#include "core/threads/watch.hpp"

namespace recommit {

/// Threads stay for the life of the process, and each takes memory; no machine that we know has more cores.
inline constexpr int kMaxThreads = 1024;

/// Cores this process may run on, at most kMaxThreads.
int default_threads() noexcept;

/// Calls body(begin, end) over 0..count in pieces of `grain`, on at most `threads` threads (the caller's is one).
/// Pieces are handed out in ascending order; which thread runs a piece never matters to the result. If pieces throw,
/// the exception of the lowest one reaches the caller, whatever the thread count. The pool is made on first use,
/// survives fork() (a child starts its own) and is never torn down, so that interpreter exit cannot race with it.
/// A nested call, or a call while another thread uses the pool, runs on its own thread alone.
void parallel_for(std::size_t count, int threads, std::size_t grain,
                  const std::function<void(std::size_t, std::size_t)>& body, Watch* watch = nullptr);

/// Pieces small enough to share out a few slow states, and large enough that states answered in nanoseconds, of which
/// one piece has `least`, are not handed out one by one.
inline std::size_t solver_grain(std::size_t count, int workers, std::size_t most, std::size_t least = 1) {
  return std::clamp<std::size_t>(count / (static_cast<std::size_t>(workers) * 8), least, most);
}

}  // namespace recommit
