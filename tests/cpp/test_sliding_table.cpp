// Full tables of small shapes against known layers and against every move.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "check.hpp"
#include "core/errors.hpp"
#include "sliding/table/full_table.hpp"
#include "sliding/table/permutation.hpp"
#include "sliding_fixtures.hpp"

using namespace recommit;
using namespace recommit::sliding;

namespace {

std::vector<std::uint32_t> layers(Shape shape) {
  const auto table = FullTable::shared(shape);
  std::vector<std::uint32_t> out;
  for (Distance d = 0; d <= table->farthest(); ++d) out.push_back(table->layer_size(d));
  return out;
}

std::uint64_t sum(const std::vector<std::uint32_t>& sizes) {
  std::uint64_t all = 0;
  for (const std::uint32_t size : sizes) all += size;
  return all;
}

}  // namespace

TEST(golden_layers) {
  CHECK((layers({2, 2}) == std::vector<std::uint32_t>{1, 2, 2, 2, 2, 2, 1}));
  CHECK((layers({2, 3}) ==
         std::vector<std::uint32_t>{1, 2, 3, 5, 6, 7, 10, 12, 12, 16, 23, 25, 28, 39, 44, 40, 29, 21, 18, 12, 6, 1}));
  CHECK((layers({3, 3}) == std::vector<std::uint32_t>{1,     2,     4,     8,     16,    20,    39,    62,
                                                      116,   152,   286,   396,   748,   1024,  1893,  2512,
                                                      4485,  5638,  9529,  10878, 16993, 17110, 23952, 20224,
                                                      24047, 15578, 14560, 6274,  3910,  760,   221,   2}));
  CHECK(layers({3, 2}) == layers({2, 3}));  // mirror images of each other
  CHECK(layers({2, 4}).size() == 37 && sum(layers({2, 4})) == 20'160);
  CHECK(layers({4, 2}) == layers({2, 4}));
  CHECK(sum(layers({2, 5})) == 1'814'400);
  CHECK(layers({5, 2}) == layers({2, 5}));
}

TEST(every_permutation_of_3x3_through_the_fast_path) {
  const Shape shape{3, 3};
  const auto table = FullTable::shared(shape);
  std::vector<std::uint8_t> states(362'880 * 9);
  for (std::uint32_t rank = 0; rank < 362'880; ++rank) permutation_unrank(rank, 9, states.data() + rank * 9);
  std::vector<Distance> out(362'880);
  table->distances(states.data(), out.data(), 0, out.size());
  std::vector<Distance> odd(out.size());
  for (std::size_t at = 0; at < odd.size(); at += 37) {  // pieces that do not fill a block
    table->distances(states.data(), odd.data(), at, std::min(at + 37, odd.size()));
  }
  CHECK(out == odd);
  std::vector<std::uint8_t> masks(4 * out.size());
  table->optimal_actions(states.data(), masks.data(), 0, out.size());
  std::size_t solvable = 0;
  for (std::uint32_t rank = 0; rank < out.size(); ++rank) {
    const std::uint8_t* state = states.data() + rank * 9;
    CHECK(permutation_rank(state, 9) == rank);
    CHECK((out[rank] >= 0) == is_solvable(state, shape));
    CHECK(out[rank] == table->distance(state));
    unsigned mask = 0;
    for (std::size_t action = 0; action < kActions; ++action) mask |= unsigned{masks[4 * rank + action]} << action;
    CHECK(mask == table->optimal_actions(state) && (mask != 0) == (out[rank] > 0));
    solvable += out[rank] >= 0;
  }
  CHECK(solvable == 181'440);
}

TEST(every_legal_move_changes_the_distance_by_one) {
  for (const Shape shape : {Shape{2, 2}, Shape{2, 3}, Shape{3, 2}, Shape{2, 4}, Shape{4, 2}, Shape{3, 3}}) {
    const auto table = FullTable::shared(shape);
    for (Distance d = 0; d <= table->farthest(); ++d) {
      for (std::uint32_t i = 0; i < table->layer_size(d); ++i) {
        fixtures::Board board(static_cast<std::size_t>(shape.cells()));
        table->layer_state(d, i, board.data());
        CHECK(table->distance(board.data()) == d);
        bool nearer = d == 0;
        unsigned optimal = 0;
        for (int action = 0; action < kActions; ++action) {
          if (!fixtures::move(board, shape, action)) continue;
          const Distance after = table->distance(board.data());
          CHECK(after == d + 1 || after == d - 1);
          nearer |= after == d - 1;
          optimal |= (after == d - 1 ? 1U : 0U) << action;
          fixtures::move(board, shape, action ^ 1);
        }
        CHECK(nearer);
        CHECK(table->optimal_actions(board.data()) == optimal);
      }
    }
  }
}

TEST(what_is_no_permutation_is_refused) {
  const auto table = FullTable::shared({3, 3});
  Distance out[40];
  std::uint8_t masks[160];
  for (const std::size_t bad : {0, 17, 39}) {
    for (const int value : {1, 9, 255}) {
      std::vector<std::uint8_t> states;
      for (int i = 0; i < 40; ++i) {
        const fixtures::Board board = fixtures::goal({3, 3});
        states.insert(states.end(), board.begin(), board.end());
      }
      states[bad * 9 + 4] = static_cast<std::uint8_t>(value);
      CHECK_THROWS(table->distances(states.data(), out, 0, 40), ValueError);
      CHECK_THROWS(table->optimal_actions(states.data(), masks, 0, 40), ValueError);
    }
  }
}

TEST_MAIN
