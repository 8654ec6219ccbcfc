// Everything that threads share, under load: the pool with many thread counts, several callers at once, calls that are
// stopped from outside, and results that must not depend on any of it. RECOMMIT_STRESS_SECONDS sets how long.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/errors.hpp"
#include "core/rng.hpp"
#include "core/threads/parallel.hpp"
#include "core/threads/watch.hpp"
#include "core/types.hpp"
#include "sliding/random_walk.hpp"
#include "sliding/simulate.hpp"
#include "sokoban/rooms/reverse_pull.hpp"
#include "sokoban/simulate.hpp"

using namespace recommit;

namespace {

using Bytes = std::vector<std::uint8_t>;
using Body = std::function<void(std::size_t, std::size_t)>;

constexpr int kThreads[] = {1, 2, 3, 8, 32};
constexpr Shape kBoard{4, 4}, kLevel{8, 8};
constexpr std::size_t kCount = 96;

double seconds() {
  const char* text = std::getenv("RECOMMIT_STRESS_SECONDS");
  return text != nullptr ? std::atof(text) : 1.0;
}

/// Generates boards and levels, then steps each of them ten times.
Bytes play(std::uint64_t seed, int threads) {
  const auto board = static_cast<std::size_t>(kBoard.cells()), level = static_cast<std::size_t>(kLevel.cells());
  Bytes boards(kCount * board), levels(kCount * level), actions(kCount), next_boards(boards.size()),
      next_levels(levels.size());
  parallel_for(kCount, threads, 4, [&](std::size_t begin, std::size_t end) {
    sliding::generate_walks(kBoard, seed, 0, boards.data(), begin, end);
    sokoban::generate_reverse(kLevel, 2, seed, 0, levels.data(), begin, end);
  });
  for (std::uint64_t step = 0; step < 10; ++step) {
    for (std::size_t i = 0; i < kCount; ++i)
      actions[i] = static_cast<std::uint8_t>(Rng(seed, Purpose::Test, step * kCount + i).below(4));
    parallel_for(kCount, threads, 4, [&](std::size_t begin, std::size_t end) {
      sliding::step(boards.data(), kBoard, actions.data(), next_boards.data(), begin, end);
      sokoban::step(levels.data(), kLevel, actions.data(), next_levels.data(), begin, end);
    });
    boards.swap(next_boards);
    levels.swap(next_levels);
  }
  boards.insert(boards.end(), levels.begin(), levels.end());
  return boards;
}

/// Runs `body` on several plain threads at once until the time is up; returns how often it ran.
std::uint64_t hammer(int callers, double share, const std::function<void(std::uint64_t)>& body) {
  const auto stop = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds() * share);
  std::atomic<std::uint64_t> runs{0};
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&, caller] {
      std::uint64_t round = static_cast<std::uint64_t>(caller);
      do {
        body(round++);
        runs.fetch_add(1);
      } while (std::chrono::steady_clock::now() < stop);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return runs.load();
}

}  // namespace

TEST(results_do_not_depend_on_threads_or_callers) {
  std::vector<Bytes> expected;
  for (std::uint64_t seed = 0; seed < 4; ++seed) expected.push_back(play(seed, 1));
  CHECK(expected[0] != expected[1]);
  const std::uint64_t runs = hammer(4, 0.5, [&](std::uint64_t round) {
    const std::uint64_t seed = round % expected.size();
    CHECK(play(seed, kThreads[round % std::size(kThreads)]) == expected[seed]);
  });
  std::printf("executed %llu plays\n", static_cast<unsigned long long>(runs));
}

TEST(a_call_that_is_stopped_ends_and_leaves_the_pool_usable) {
  std::atomic<std::uint64_t> stopped{0};
  const std::uint64_t runs = hammer(3, 0.3, [&](std::uint64_t round) {
    Watch watch;
    std::atomic<std::size_t> pieces{0};
    std::thread other([&] {
      while (pieces.load() < round % 50) std::this_thread::yield();
      watch.stop();
    });
    try {
      parallel_for(
          100000, kThreads[round % std::size(kThreads)], 1,
          [&](std::size_t, std::size_t) {
            pieces.fetch_add(1);
            watch.add(1);
            // On a busy machine a call could else always end before the other thread runs.
            while (round % 4 == 0 && pieces.load() > 50 && !watch.stopped()) std::this_thread::yield();
          },
          &watch);
    } catch (const Interrupted&) {
      stopped.fetch_add(1);
    }
    other.join();
    CHECK(watch.done() == pieces.load());
  });
  CHECK(stopped.load() > 0);
  std::printf("executed %llu calls, of which %llu were stopped\n", static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(stopped.load()));
}

TEST(the_lowest_failure_wins_whatever_the_threads) {
  const std::uint64_t runs = hammer(3, 0.2, [](std::uint64_t round) {
    std::size_t failed = 0;
    try {
      parallel_for(1000, kThreads[round % std::size(kThreads)], 7, [](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          if (i % 211 == 210) throw LevelError("planted", static_cast<int>(i), 0);
        }
      });
    } catch (const LevelError& error) {
      failed = static_cast<std::size_t>(error.line);
    }
    CHECK(failed == 210);
  });
  std::printf("executed %llu failures\n", static_cast<unsigned long long>(runs));
}

TEST_MAIN
