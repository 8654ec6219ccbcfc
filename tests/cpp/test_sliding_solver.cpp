// The sliding search, each optimisation off in turn, against full tables.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "core/errors.hpp"
#include "core/threads/parallel.hpp"
#include "sliding/solver.hpp"
#include "sliding_fixtures.hpp"

using namespace recommit;
using namespace recommit::sliding;
using fixtures::Board;

namespace {

struct Variant {
  const char* name;
  SolverOptions options;
};

/// Each optimisation off in turn; full tables never, so that searches are compared with tables.
std::vector<Variant> variants() {
  SolverOptions all;
  all.full_tables = false;
  std::vector<Variant> out = {{"all", all}, {"pruning off", all}, {"manhattan", all}};
  out[1].options.search.pruning = false;
  out[2].options.database = Database::Manhattan;
  return out;
}

struct Batch {
  std::vector<Distance> length, bound;
  std::vector<Status> status;
  std::vector<std::uint64_t> nodes;
  explicit Batch(std::size_t n) : length(n), bound(n), status(n), nodes(n) {}
  Answers answers() { return {length.data(), status.data(), nodes.data(), bound.data()}; }
};

Batch distances(const Solver& solver, const Board& states) {
  Batch out(states.size() / static_cast<std::size_t>(solver.shape().cells()));
  solver.distance(states.data(), out.answers(), 0, out.length.size());
  return out;
}

/// Every state of the shape, or every `step`-th.
Board states_of(Shape shape, std::uint32_t step) {
  const auto table = FullTable::shared(shape);
  Board all;
  Board board(static_cast<std::size_t>(shape.cells()));
  for (Distance d = 0; d <= table->farthest(); ++d) {
    for (std::uint32_t i = 0; i < table->layer_size(d); i += step) {
      table->layer_state(d, i, board.data());
      all.insert(all.end(), board.begin(), board.end());
    }
  }
  return all;
}

Board item(const Board& states, std::size_t i, Shape shape) {
  const auto n = static_cast<std::ptrdiff_t>(shape.cells());
  return Board(states.begin() + static_cast<std::ptrdiff_t>(i) * n,
               states.begin() + static_cast<std::ptrdiff_t>(i + 1) * n);
}

bool solves(Board board, Shape shape, const std::vector<std::uint8_t>& plan) {
  for (const std::uint8_t action : plan) {
    if (!fixtures::move(board, shape, action)) return false;
  }
  return board == fixtures::goal(shape);
}

}  // namespace

TEST(search_equals_tables_with_every_optimisation_off_in_turn) {
  const std::vector<std::pair<Shape, std::uint32_t>> shapes = {{{3, 3}, 400}, {{2, 5}, 20'000}, {{5, 2}, 20'000}};
  for (const auto& [shape, step] : shapes) {
    // RECOMMIT_LONG takes forty times the states of up to nine cells; RECOMMIT_PLANT makes the table lie about one.
    const bool more = std::getenv("RECOMMIT_LONG") != nullptr && shape.cells() <= 9;
    const Board states = states_of(shape, more ? (step + 39) / 40 : step);
    const Solver tables(shape, {}, 1);
    CHECK(tables.table() != nullptr);
    Batch expected = distances(tables, states);
    if (std::getenv("RECOMMIT_PLANT") != nullptr) expected.length.back() += 2;
    for (const Variant& variant : variants()) {
      const Solver solver(shape, variant.options, 2);
      CHECK(solver.model() != nullptr);
      CHECK(distances(solver, states).length == expected.length);
    }
    std::printf("  %dx%d: %zu states, %zu variants\n", shape.rows, shape.cols, expected.length.size(),
                variants().size());
  }
}

TEST(the_bound_of_a_search_is_admissible_and_of_the_right_parity) {
  const Shape shape{3, 3};
  const Board states = states_of(shape, 50);
  const Batch exact = distances(Solver(shape, {}, 1), states);
  for (const Variant& variant : variants()) {
    const auto search =
        Search::make(Model::shared(shape, variant.options.database, 1, nullptr), variant.options.search);
    for (std::size_t i = 0; i < exact.length.size(); ++i) {
      const int bound = search->start(states.data() + i * 9);
      CHECK(bound <= exact.length[i] && (exact.length[i] - bound) % 2 == 0);
    }
  }
}

TEST(plans_are_optimal_and_the_first_in_action_order) {
  for (const Shape shape : {Shape{3, 3}, Shape{2, 5}, Shape{5, 2}}) {
    const Board states = states_of(shape, shape.cells() == 9 ? 150 : 20'000);
    const std::size_t count = states.size() / static_cast<std::size_t>(shape.cells());
    std::vector<std::vector<std::uint8_t>> by_table(count), by_search(count), random(count);
    Batch out(count);
    const Solver tables(shape, {}, 1);
    tables.solve(states.data(), Ties::First, 0, by_table.data(), out.answers(), 0, count);
    tables.solve(states.data(), Ties::Random, 7, random.data(), {}, 0, count);
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(by_table[i].size() == static_cast<std::size_t>(out.length[i]) &&
            solves(item(states, i, shape), shape, by_table[i]));
      CHECK(random[i].size() == by_table[i].size() && solves(item(states, i, shape), shape, random[i]));
      CHECK(by_table[i] <= random[i]);
    }
    for (const Variant& variant : variants()) {
      const Solver solver(shape, variant.options, 1);
      solver.solve(states.data(), Ties::First, 0, by_search.data(), {}, 0, count);
      CHECK(by_search == by_table);
      solver.solve(states.data(), Ties::Random, 7, by_search.data(), {}, 0, count);
      CHECK(by_search == random);
    }
  }
}

TEST(optimal_actions_are_those_that_lower_the_distance) {
  const Shape shape{3, 3};
  const Board states = states_of(shape, 300);
  const std::size_t count = states.size() / 9;
  const Solver tables(shape, {}, 1);
  std::vector<std::uint8_t> masks(count * 4), by_search(count * 4);
  tables.optimal_actions(states.data(), masks.data(), 0, count);
  for (std::size_t i = 0; i < count; ++i) {
    const Distance d = tables.table()->distance(states.data() + i * 9);
    for (int action = 0; action < kActions; ++action) {
      Board board = item(states, i, shape);
      fixtures::move(board, shape, action);
      CHECK((masks[i * 4 + static_cast<std::size_t>(action)] != 0) == (tables.table()->distance(board.data()) < d));
    }
  }
  for (const Variant& variant : variants()) {
    Solver(shape, variant.options, 1).optimal_actions(states.data(), by_search.data(), 0, count);
    CHECK(by_search == masks);
  }
}

TEST(first_layers_of_4x4_and_5x5) {
  const std::vector<std::pair<Shape, std::vector<std::size_t>>> golden = {
      {{4, 4}, {1, 2, 4, 10, 24, 54, 107, 212, 446, 946, 1948, 3938, 7808}},
      {{5, 5}, {1, 2, 4, 10, 26, 64, 159, 366, 862, 1904, 4538}}};
  for (const auto& [shape, sizes] : golden) {
    const Solver solver(shape, {}, 2);
    std::set<Board> seen = {fixtures::goal(shape)}, layer = seen;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      CHECK(layer.size() == sizes[d]);
      Board states;
      std::set<Board> next;
      for (const Board& board : layer) {
        states.insert(states.end(), board.begin(), board.end());
        for (int action = 0; action < kActions; ++action) {
          Board after = board;
          fixtures::move(after, shape, action);
          if (seen.insert(after).second) next.insert(after);
        }
      }
      for (const Distance found : distances(solver, states).length) CHECK(found == static_cast<Distance>(d));
      layer.swap(next);
    }
  }
}

TEST(larger_shapes_agree_with_taxicab_search) {
  SolverOptions plain;
  plain.database = Database::Manhattan;
  plain.search.pruning = false;
  for (const Shape shape :
       {Shape{3, 4}, Shape{4, 3}, Shape{3, 5}, Shape{5, 3}, Shape{4, 4}, Shape{4, 5}, Shape{5, 4}, Shape{5, 5}}) {
    const Board states = fixtures::walks(shape, 60, 40, 11);
    const Batch expected = distances(Solver(shape, plain, 1), states);
    const Solver solver(shape, {}, 2);
    const Batch got = distances(solver, states);
    CHECK(got.length == expected.length && got.bound == got.length);
    std::printf("  %dx%d: tables %zu bytes\n", shape.rows, shape.cols, solver.bytes());
    CHECK(solver.bytes() <= 16'000'000);
  }
}

TEST(published_instances) {
  const auto instances = fixtures::korf();
  if (instances.empty()) {
    std::printf("  skipped: no shared data\n");
    return;
  }
  const Shape shape{4, 4};
  const Solver solver(shape, {}, 2);
  Board states;
  for (const auto& [length, board] : instances) states.insert(states.end(), board.begin(), board.end());
  std::vector<std::vector<std::uint8_t>> plans(instances.size());
  Batch out(instances.size());
  parallel_for(instances.size(), 2, 1, [&](std::size_t begin, std::size_t end) {
    solver.solve(states.data(), Ties::First, 0, plans.data(), out.answers(), begin, end);
  });
  for (std::size_t i = 0; i < instances.size(); ++i) {
    CHECK(out.length[i] == instances[i].first);
    CHECK(plans[i].size() == static_cast<std::size_t>(out.length[i]) && solves(instances[i].second, shape, plans[i]));
  }
}

TEST(unsolvable_boards_and_no_boards_are_refused_at_once) {
  for (const Shape shape : {Shape{3, 3}, Shape{4, 4}, Shape{3, 4}, Shape{5, 5}}) {
    Board board = fixtures::goal(shape);
    std::swap(board[0], board[1]);
    const Solver solver(shape, {}, 2);
    const Batch out = distances(solver, board);
    CHECK(out.length[0] == kUnsolvable && out.status[0] == Status::Unsolvable && out.nodes[0] == 0);
    board[1] = board[0];
    CHECK_THROWS(distances(solver, board), ValueError);
  }
}

TEST(limits_are_hard_and_the_bound_is_proven) {
  const Shape shape{4, 4};
  const Board states = fixtures::walks(shape, 30, 300, 3);
  const Batch exact = distances(Solver(shape, {}, 2), states);
  bool hit = false;
  for (const std::uint64_t nodes : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{100}, std::uint64_t{5000}}) {
    SolverOptions options;
    options.limits.nodes = nodes;
    const Batch out = distances(Solver(shape, options, 2), states);
    for (std::size_t i = 0; i < out.length.size(); ++i) {
      CHECK(out.nodes[i] <= nodes);
      CHECK(out.length[i] == exact.length[i] || (out.length[i] == kUnknown && out.status[i] == Status::NodeLimit));
      CHECK(out.bound[i] <= exact.length[i] && (out.length[i] == kUnknown || out.bound[i] == exact.length[i]));
      hit |= out.length[i] == kUnknown;
    }
  }
  CHECK(hit);
  SolverOptions options;
  options.limits.seconds = 0.02;
  const Board far = fixtures::walks({5, 5}, 1, 3000, 4);
  const Batch late = distances(Solver({5, 5}, options, 2), far);
  CHECK(late.length[0] == kUnknown && late.status[0] == Status::TimeLimit && late.bound[0] > 30);
  options = {};
  options.limits.bytes = std::size_t{4} << 20;  // no room for tables: taxicab search answers all the same
  const Board near = fixtures::walks(shape, 30, 30, 3);
  const Solver small(shape, options, 2);
  CHECK(small.bytes() <= options.limits.bytes);
  CHECK(distances(small, near).length == distances(Solver(shape, {}, 2), near).length);
}

TEST(a_stopped_search_ends) {
  Watch watch([](Watch& self) { self.stop(); });
  const Solver solver({5, 5}, {}, 2);
  const Board far = fixtures::walks({5, 5}, 1, 3000, 4);
  Distance d = 0;
  CHECK_THROWS(solver.distance(far.data(), {&d, nullptr, nullptr, nullptr}, 0, 1, &watch), Interrupted);
}

TEST_MAIN
