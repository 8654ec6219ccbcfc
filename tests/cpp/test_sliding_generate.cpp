// Boards of a length are of that length, and depend on their number alone.
#include <cstdint>
#include <cstdio>
#include <map>
#include <vector>

#include "check.hpp"
#include "core/errors.hpp"
#include "core/threads/parallel.hpp"
#include "sliding/generate.hpp"
#include "sliding_fixtures.hpp"

using namespace recommit;
using namespace recommit::sliding;
using fixtures::Board;

namespace {

struct Made {
  Board states;
  std::vector<Distance> lengths;
};

Made make(Shape shape, int lo, int hi, std::size_t count, std::uint64_t seed = 0, std::uint64_t start = 0) {
  Made out{Board(count * static_cast<std::size_t>(shape.cells())), std::vector<Distance>(count)};
  Generator(shape, lo, hi, 2).generate(seed, start, out.states.data(), out.lengths.data(), 0, count);
  return out;
}

}  // namespace

TEST(lengths_are_exact_and_in_the_window) {
  for (const Shape shape :
       {Shape{2, 2}, Shape{2, 3}, Shape{3, 3}, Shape{4, 2}, Shape{3, 4}, Shape{4, 4}, Shape{5, 5}}) {
    const int hi = shape.cells() == 4 ? 6 : 20, lo = hi / 2;
    const Made made = make(shape, lo, hi, 300);
    std::vector<Distance> exact(300);
    Solver(shape, {}, 2).distance(made.states.data(), {exact.data(), nullptr, nullptr, nullptr}, 0, 300);
    CHECK(exact == made.lengths);
    std::map<Distance, int> seen;
    for (const Distance d : exact) ++seen[d];
    CHECK(seen.begin()->first == lo && seen.rbegin()->first == hi &&
          seen.size() == static_cast<std::size_t>(hi - lo + 1));
  }
}

TEST(an_instance_depends_on_its_number_alone) {
  for (const Shape shape : {Shape{3, 3}, Shape{4, 4}}) {
    const auto n = static_cast<std::size_t>(shape.cells());
    const Made whole = make(shape, 10, 24, 200, 9);
    const Made tail = make(shape, 10, 24, 50, 9, 150);
    CHECK(std::equal(tail.states.begin(), tail.states.end(),
                     whole.states.begin() + static_cast<std::ptrdiff_t>(150 * n)));
    CHECK(make(shape, 10, 24, 200, 10).states != whole.states);
    const Generator generator(shape, 10, 24, 2);
    Made pieces{Board(200 * n), std::vector<Distance>(200)};
    parallel_for(200, 2, 7, [&](std::size_t begin, std::size_t end) {
      generator.generate(9, 0, pieces.states.data(), pieces.lengths.data(), begin, end);
    });
    CHECK(pieces.states == whole.states && pieces.lengths == whole.lengths);
  }
}

TEST(a_layer_is_drawn_uniformly) {
  const std::size_t draws = 62'000;  // ten boards
  const Made made = make({2, 3}, 6, 6, draws);
  std::map<Board, int> seen;
  for (std::size_t i = 0; i < draws; ++i) {
    ++seen[Board(made.states.begin() + static_cast<std::ptrdiff_t>(i * 6),
                 made.states.begin() + static_cast<std::ptrdiff_t>(i * 6 + 6))];
  }
  CHECK(seen.size() == 10);
  for (const auto& [board, count] : seen) CHECK(count > 5'800 && count < 6'600);
}

TEST(long_lengths_are_met_by_cutting_longer_walks) {
  const Made made = make({4, 4}, 44, 46, 6);
  std::vector<Distance> exact(6);
  Solver({4, 4}, {}, 2).distance(made.states.data(), {exact.data(), nullptr, nullptr, nullptr}, 0, 6);
  CHECK(exact == made.lengths);
}

TEST(what_does_not_exist_is_an_error) {
  CHECK_THROWS(make({3, 3}, 32, 40, 1), ValueError);
  CHECK_THROWS(make({3, 3}, 0, 4, 1), ValueError);
  CHECK_THROWS(make({3, 3}, 5, 4, 1), ValueError);
  CHECK_THROWS(make({4, 4}, 5, 400, 1), ValueError);
  CHECK_THROWS(make({3, 4}, 54, 54, 1), ValueError);  // 53 is the farthest
  CHECK(make({3, 3}, 31, 99, 4).lengths == std::vector<Distance>(4, 31));
}

TEST_MAIN
