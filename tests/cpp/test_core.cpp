// Random numbers, threads, watches and grids.
#include <atomic>
#include <chrono>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/grid.hpp"
#include "core/limits.hpp"
#include "core/rng.hpp"
#include "core/threads/parallel.hpp"

using namespace recommit;

TEST(rng_is_a_function_of_its_key) {
  Rng a(1, Purpose::Test, 7), b(1, Purpose::Test, 7);
  for (int i = 0; i < 100; ++i) CHECK(a.next() == b.next());
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    for (std::uint64_t index = 0; index < 100; ++index)
      for (const Purpose purpose : {Purpose::Test, Purpose::Ties}) firsts.insert(Rng(seed, purpose, index).next());
  CHECK(firsts.size() == 2000);
}

TEST(below_is_uniform_and_in_range) {
  Rng rng(3, Purpose::Test, 0);
  std::vector<int> seen(7);
  for (int i = 0; i < 70'000; ++i) ++seen[rng.below(7)];
  for (const int count : seen) CHECK(count > 9'500 && count < 10'500);
  CHECK(rng.below(1) == 0);
}

TEST(a_budget_is_what_is_left_of_all_its_parts) {
  const auto now = Budget::Clock::now();
  Limits limits;
  limits.nodes = 10, limits.bytes = 7, limits.seconds = 3600;
  Budget spent(limits, now - std::chrono::hours(1)), fresh(limits, now + std::chrono::hours(1));
  CHECK(spent.left().seconds == 0 && spent.left(0.5).seconds == 0);
  CHECK(fresh.left().seconds > 3600 && fresh.left(0.5).seconds <= 3600);
  fresh.spend(4);
  CHECK(fresh.left().nodes == 6 && fresh.left(0.5).nodes == 6 && fresh.left().bytes == 7);
  fresh.spend(7);
  CHECK(fresh.left().nodes == 0);
  const Budget endless{Limits{}};
  CHECK(endless.left(0.5).seconds == Limits{}.seconds && endless.left().nodes == Limits{}.nodes);
}

TEST(every_piece_runs_once_on_any_thread_count) {
  for (const int threads : {1, 2, 3, 8, 32}) {
    std::vector<int> hits(10'007);
    parallel_for(hits.size(), threads, 13, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++hits[i];
    });
    for (const int hit : hits) CHECK(hit == 1);
  }
}

TEST(the_lowest_failure_wins) {
  for (const int threads : {1, 2, 8}) {
    for (int repeat = 0; repeat < 50; ++repeat) {
      try {
        parallel_for(1000, threads, 1, [](std::size_t begin, std::size_t) {
          if (begin % 100 == 42) throw std::runtime_error(std::to_string(begin));
        });
        CHECK(false);
      } catch (const std::runtime_error& error) {
        CHECK(std::string(error.what()) == "42");
      }
    }
  }
}

TEST(nested_and_simultaneous_calls_finish) {
  std::atomic<int> total{0};
  auto work = [&] {
    parallel_for(64, 4, 1,
                 [&](std::size_t, std::size_t) { parallel_for(8, 4, 1, [&](std::size_t, std::size_t) { ++total; }); });
  };
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) callers.emplace_back(work);
  for (auto& caller : callers) caller.join();
  CHECK(total == 4 * 64 * 8);
}

TEST(a_watch_stops_a_call) {
  Watch watch([](Watch& self) { self.stop(); });
  // A helper holds its piece until the owner has polled: on a busy machine it would finish them all before that.
  const auto body = [&](std::size_t, std::size_t) {
    while (!watch.stopped()) std::this_thread::yield();
  };
  CHECK_THROWS(parallel_for(1'000'000, 2, 1, body, &watch), Interrupted);
}

TEST(a_gap_in_the_ring_is_found_wherever_it_is) {
  for (int rows = 1; rows <= 5; ++rows) {
    for (int cols = 1; cols <= 5; ++cols) {
      const Shape shape{rows, cols};
      for (int cell = 0; cell < shape.cells(); ++cell) {
        std::vector<std::uint8_t> state(static_cast<std::size_t>(shape.cells()), 7);
        CHECK(first_gap(state.data(), shape, 7) == -1);
        state[static_cast<std::size_t>(cell)] = 3;
        const int row = cell / cols, col = cell % cols;
        const bool inside = row > 0 && row < rows - 1 && col > 0 && col < cols - 1;
        CHECK(first_gap(state.data(), shape, 7) == (inside ? -1 : cell));
      }
    }
  }
  const std::vector<std::uint8_t> two{7, 7, 7, 7, 0, 3, 7, 4, 7};
  CHECK(first_gap(two.data(), {3, 3}, 7) == 5);
}

TEST_MAIN
