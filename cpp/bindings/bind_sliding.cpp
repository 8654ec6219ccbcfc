// The module `sliding`: solver, tables and generator of sliding puzzles for Python.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bind.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/run.hpp"
#include "bindings/common/solve.hpp"
#include "core/threads/parallel.hpp"
#include "sliding/draw.hpp"
#include "sliding/episodes.hpp"
#include "sliding/generate.hpp"
#include "sliding/level_text.hpp"
#include "sliding/random_walk.hpp"
#include "sliding/simulate.hpp"
#include "sliding/solver.hpp"

namespace recommit::bindings::of_sliding {
namespace {

using Name = std::optional<std::string>;

/// None: the large tables if loaded in this process, else the small ones. Answers do not depend on the tables.
sliding::Database database(Shape shape, const Name& name) {
  using sliding::Database;
  if (!name) return sliding::Model::is_loaded(shape, Database::Large) ? Database::Large : Database::Small;
  if (*name == "small") return Database::Small;
  if (*name == "large") return Database::Large;
  if (*name == "manhattan") return Database::Manhattan;
  throw ValueError("database: expected small, large or manhattan, got " + *name);
}

/// Arguments common to all solver functions.
struct Request {
  States from;
  sliding::SolverOptions options;
  int workers;

  Request(const Array<std::uint8_t>& states_, std::uint64_t nodes, std::uint64_t bytes, double seconds,
          const Name& name, const Threads& threads)
      : from(states(states_)), workers(thread_count(threads)) {
    sliding::check_shape(from.shape);
    options.database = database(from.shape, name);
    options.limits = {nodes, bytes, seconds};
  }

  /// body(solver, begin, end, watch) over all states.
  template <class Body>
  void run(const Progress& progress, const Body& body) const {
    run_watched(progress, [&](Watch& watch) {
      if (from.count == 0) return;
      const sliding::Solver solver(from.shape, options, workers, &watch);
      const bool tabled = solver.table() != nullptr;
      const std::size_t grain = solver_grain(from.count, workers, tabled ? 16384 : 64, tabled ? 256 : 1);
      parallel_for(
          from.count, workers, grain,
          [&](std::size_t begin, std::size_t end) {
            body(solver, begin, end, &watch);
            watch.add(end - begin);
          },
          &watch);
    });
  }
};

py::tuple solve(const Request& request, bool random, std::uint64_t seed, const Progress& progress) {
  const py::ssize_t n = size(request.from.count);
  auto length = fresh<std::int32_t>({n}), bound = fresh<std::int32_t>({n});
  auto nodes = fresh<std::uint64_t>({n});
  auto status = fresh<std::uint8_t>({n});
  const sliding::Answers out{length.mutable_data(), reinterpret_cast<Status*>(status.mutable_data()),
                             nodes.mutable_data(), bound.mutable_data()};
  std::vector<std::vector<std::uint8_t>> plans(request.from.count);
  const auto ties = random ? sliding::Ties::Random : sliding::Ties::First;
  request.run(progress, [&](const sliding::Solver& solver, std::size_t begin, std::size_t end, Watch* watch) {
    solver.solve(request.from.data, ties, seed, plans.data(), out, begin, end, watch);
  });
  auto [actions, offsets] = pack_plans(plans);
  return py::make_tuple(actions, offsets, length, nodes, status, bound);
}

void define_solver(py::module_& module) {
  module.def(
      "distance",
      [](const Array<std::uint8_t>& states_, std::uint64_t nodes, std::uint64_t bytes, double seconds, const Name& name,
         const Threads& threads, const Progress& progress) {
        const Request request(states_, nodes, bytes, seconds, name, threads);
        auto out = fresh<std::int32_t>({size(request.from.count)});
        std::int32_t* to = out.mutable_data();
        request.run(progress, [&](const sliding::Solver& solver, std::size_t begin, std::size_t end, Watch* watch) {
          solver.distance(request.from.data, {to, nullptr, nullptr, nullptr}, begin, end, watch);
        });
        return out;
      },
      py::arg("states"), py::kw_only(), py::arg("nodes"), py::arg("bytes"), py::arg("seconds"),
      py::arg("database") = py::none(), py::arg("threads") = py::none(), py::arg("progress") = py::none(),
      "exact number of actions to the goal; -1 where there is no way, -2 where a limit was hit");

  module.def(
      "optimal_actions",
      [](const Array<std::uint8_t>& states_, std::uint64_t nodes, std::uint64_t bytes, double seconds, const Name& name,
         const Threads& threads, const Progress& progress) {
        const Request request(states_, nodes, bytes, seconds, name, threads);
        auto out = fresh<bool>({size(request.from.count), kActions});
        std::uint8_t* to = recommit::bindings::bytes(out);
        request.run(progress, [&](const sliding::Solver& solver, std::size_t begin, std::size_t end, Watch* watch) {
          solver.optimal_actions(request.from.data, to, begin, end, watch);
        });
        return out;
      },
      py::arg("states"), py::kw_only(), py::arg("nodes"), py::arg("bytes"), py::arg("seconds"),
      py::arg("database") = py::none(), py::arg("threads") = py::none(), py::arg("progress") = py::none(),
      "which actions lower the distance by one");

  module.def(
      "solve",
      [](const Array<std::uint8_t>& states_, bool random, std::uint64_t seed, std::uint64_t nodes, std::uint64_t bytes,
         double seconds, const Name& name, const Threads& threads, const Progress& progress) {
        return solve(Request(states_, nodes, bytes, seconds, name, threads), random, seed, progress);
      },
      py::arg("states"), py::kw_only(), py::arg("random"), py::arg("seed"), py::arg("nodes"), py::arg("bytes"),
      py::arg("seconds"), py::arg("database") = py::none(), py::arg("threads") = py::none(),
      py::arg("progress") = py::none(), "optimal plans: (actions, offsets, length, nodes, status, bound)");
}

void define_tables(py::module_& module) {
  module.def(
      "prepare",
      [](int rows, int cols, const std::string& name, const Threads& threads, const Progress& progress) {
        const Shape shape{rows, cols};
        sliding::check_shape(shape);
        const int workers = thread_count(threads);
        sliding::SolverOptions options;
        options.database = database(shape, name);
        py::dict out;
        std::optional<sliding::Solver> solver;
        run_watched(progress, [&](Watch& watch) { solver.emplace(shape, options, workers, &watch); });
        out["bytes"] = solver->bytes();
        const TableSource source = solver->model() ? solver->model()->source() : TableSource{};
        out["loaded"] = source.loaded;
        out["path"] = py::reinterpret_steal<py::object>(PyUnicode_DecodeFSDefault(source.path.c_str()));
        out["note"] = source.note;
        return out;
      },
      py::arg("rows"), py::arg("cols"), py::kw_only(), py::arg("database") = "small", py::arg("threads") = py::none(),
      py::arg("progress") = py::none(),
      "loads or makes the tables of a shape now; `progress` is told the placements done of `placements(...)`. Tells "
      "what "
      "they take, where they came from and what was wrong with a file that had to be made again");

  module.def(
      "placements",
      [](int rows, int cols, const std::string& name) {
        const Shape shape{rows, cols};
        sliding::check_shape(shape);
        std::uint64_t sum = 0;
        for (auto& tiles : sliding::partition(shape, database(shape, name))) {
          sum += sliding::Pattern(shape, std::move(tiles)).size();
        }
        return sum;
      },
      py::arg("rows"), py::arg("cols"), py::kw_only(), py::arg("database") = "small",
      "how many entries the tables of a database have");

  module.def(
      "layer_sizes",
      [](int rows, int cols) {
        const Shape shape{rows, cols};
        sliding::check_shape(shape);
        if (!sliding::FullTable::covers(shape)) {
          throw ValueError("rows, cols: expected at most 10 cells, got " + std::to_string(shape.cells()));
        }
        std::vector<std::uint32_t> sizes;
        run_watched(std::nullopt, [&](Watch& watch) {
          const auto table = sliding::FullTable::shared(shape, &watch);
          for (Distance d = 0; d <= table->farthest(); ++d) sizes.push_back(table->layer_size(d));
        });
        return sizes;
      },
      py::arg("rows"), py::arg("cols"), "how many states have each distance, for boards of up to ten cells");
}

void define_generator(py::module_& module) {
  module.def(
      "generate_walks",
      [](int rows, int cols, std::size_t count, std::uint64_t seed, std::uint64_t start, const Threads& threads,
         const Progress& progress) {
        const Shape shape{rows, cols};
        sliding::check_shape(shape);
        auto out = fresh<std::uint8_t>({size(count), rows, cols});
        std::uint8_t* to = out.mutable_data();
        run_states(count, threads, progress, [&](std::size_t begin, std::size_t end, Watch*) {
          sliding::generate_walks(shape, seed, start, to, begin, end);
        });
        return out;
      },
      py::arg("rows"), py::arg("cols"), py::arg("count"), py::kw_only(), py::arg("seed"), py::arg("start") = 0,
      py::arg("threads") = py::none(), py::arg("progress") = py::none(),
      "solvable boards from random walks; board i depends on (shape, seed, start + i) alone");

  module.def(
      "generate_exact",
      [](int rows, int cols, std::size_t count, int shortest, int longest, std::uint64_t seed, std::uint64_t start,
         const Threads& threads, const Progress& progress) {
        const Shape shape{rows, cols};
        sliding::Generator::check(shape, shortest, longest);
        const int workers = thread_count(threads);
        auto states = fresh<std::uint8_t>({size(count), rows, cols});
        auto lengths = fresh<std::int32_t>({size(count)});
        std::uint8_t* to = states.mutable_data();
        std::int32_t* exact = lengths.mutable_data();
        run_watched(progress, [&](Watch& watch) {
          const sliding::Generator generator(shape, shortest, longest, workers, &watch);
          parallel_for(
              count, workers, solver_grain(count, workers, 256),
              [&](std::size_t begin, std::size_t end) {
                generator.generate(seed, start, to, exact, begin, end, &watch);
                watch.add(end - begin);
              },
              &watch);
        });
        return py::make_tuple(states, lengths);
      },
      py::arg("rows"), py::arg("cols"), py::arg("count"), py::kw_only(), py::arg("shortest"), py::arg("longest"),
      py::arg("seed"), py::arg("start") = 0, py::arg("threads") = py::none(), py::arg("progress") = py::none(),
      "boards whose optimal length lies in shortest..longest, and the lengths; board i depends on (shape, window, "
      "seed, "
      "start + i) alone");
}

void define_own(py::module_& module) {
  define_solver(module);
  define_tables(module);
  define_generator(module);
}

const Registered registered({
    "sliding",
    "The sliding puzzle.",
    {sliding::check_shape, sliding::step, sliding::execute, sliding::is_solved, sliding::action_masks},
    {sliding::sprites, sliding::view, sliding::check_drawable, sliding::check_read, 0},
    {sliding::make_bank, sliding::survey, sliding::make_episodes},
    {sliding::parse_levels, sliding::format_levels, sliding::first_row, sliding::owns, sliding::recognises},
    define_own,
});

}  // namespace
}  // namespace recommit::bindings::of_sliding
