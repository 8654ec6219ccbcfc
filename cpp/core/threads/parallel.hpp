// Parallel loops whose results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

#include "core/threads/watch.hpp"

namespace recommit {

/// Limit on threads, which live as long as the process and take memory; above any known number of cores.
inline constexpr int kMaxThreads = 1024;

/// Cores this process may run on, at most kMaxThreads.
int default_threads() noexcept;

/// Calls body(begin, end) over 0..count in chunks of `grain`, on at most `threads` threads, including the caller's.
/// Chunks are assigned in ascending order; the result does not depend on which thread runs a chunk. If chunks throw,
/// the exception of the lowest one reaches the caller, for any thread count. The pool is made on first use, survives
/// fork() (a child starts its own) and is never destroyed, so that interpreter exit cannot race with it. A nested call,
/// or a call while another thread uses the pool, runs on the calling thread alone.
void parallel_for(std::size_t count, int threads, std::size_t grain,
                  const std::function<void(std::size_t, std::size_t)>& body, Watch* watch = nullptr);

/// Chunk size: small enough to distribute a few slow states, but at least `least`, so that states solved in nanoseconds
/// are not scheduled one by one.
inline std::size_t solver_grain(std::size_t count, int workers, std::size_t most, std::size_t least = 1) {
  return std::clamp<std::size_t>(count / (static_cast<std::size_t>(workers) * 8), least, most);
}

}  // namespace recommit
