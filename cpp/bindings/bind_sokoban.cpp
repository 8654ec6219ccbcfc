// The module `sokoban`: solver, generators and table cache of Sokoban for Python.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bindings/bind.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/run.hpp"
#include "bindings/common/solve.hpp"
#include "sokoban/by_level.hpp"
#include "sokoban/draw.hpp"
#include "sokoban/episodes.hpp"
#include "sokoban/generate.hpp"
#include "sokoban/level_text.hpp"
#include "sokoban/rooms/reverse_pull.hpp"
#include "sokoban/simulate.hpp"
#include "sokoban/solver.hpp"
#include "sokoban/symmetry.hpp"

namespace recommit::bindings::of_sokoban {
namespace {

Limits limits(std::uint64_t nodes, std::uint64_t bytes, double seconds) { return {nodes, bytes, seconds}; }

sokoban::Solver solver(const Limits& allowed) { return sokoban::Solver(sokoban::TableCache::shared(), allowed); }

States checked_states(const Array<std::uint8_t>& argument) {
  const States from = states(argument);
  sokoban::check_shape(from.shape);
  return from;
}

/// Calls body(part, watch) until all states are solved.
template <class Body>
void run_levels(std::size_t count, const Threads& threads, const Progress& progress, const Body& body) {
  const int workers = thread_count(threads);
  run_watched(progress, [&](Watch& watch) {
    sokoban::by_level(count, workers, [&](const sokoban::Part& part) { body(part, &watch); }, watch);
  });
}

py::tuple pack(const std::vector<sokoban::Solution>& solutions) {
  const py::ssize_t n = size(solutions.size());
  auto length = fresh<std::int32_t>({n}), bound = fresh<std::int32_t>({n});
  auto nodes = fresh<std::uint64_t>({n});
  auto status = fresh<std::uint8_t>({n});
  for (std::size_t i = 0; i < solutions.size(); ++i) {
    const sokoban::Answer& answer = solutions[i].answer;
    length.mutable_data()[i] = answer.distance;
    bound.mutable_data()[i] = answer.lower_bound;
    nodes.mutable_data()[i] = answer.nodes;
    status.mutable_data()[i] = static_cast<std::uint8_t>(answer.status);
  }
  auto [actions, offsets] = pack_plans(solutions, &sokoban::Solution::actions);
  return py::make_tuple(actions, offsets, length, nodes, status, bound);
}

void define_solver(py::module_& module) {
  module.def(
      "distance",
      [](const Array<std::uint8_t>& states_, std::uint64_t nodes, std::uint64_t bytes, double seconds,
         const Threads& threads, const Progress& progress) {
        const States from = checked_states(states_);
        auto out = fresh<std::int32_t>({size(from.count)});
        std::int32_t* to = out.mutable_data();
        const sokoban::Solver with = solver(limits(nodes, bytes, seconds));
        run_levels(from.count, threads, progress, [&](const sokoban::Part& part, Watch* watch) {
          with.distance(from.data, from.shape, to, part, watch);
        });
        return out;
      },
      py::arg("states"), py::kw_only(), py::arg("nodes"), py::arg("bytes"), py::arg("seconds"),
      py::arg("threads") = py::none(), py::arg("progress") = py::none(),
      "exact number of actions to the goal; -1 where there is no way, -2 where a limit was hit");

  module.def(
      "optimal_actions",
      [](const Array<std::uint8_t>& states_, std::uint64_t nodes, std::uint64_t bytes, double seconds,
         const Threads& threads, const Progress& progress) {
        const States from = checked_states(states_);
        auto out = fresh<bool>({size(from.count), kActions});
        std::uint8_t* to = recommit::bindings::bytes(out);
        const sokoban::Solver with = solver(limits(nodes, bytes, seconds));
        run_levels(from.count, threads, progress, [&](const sokoban::Part& part, Watch* watch) {
          with.optimal_actions(from.data, from.shape, to, part, watch);
        });
        return out;
      },
      py::arg("states"), py::kw_only(), py::arg("nodes"), py::arg("bytes"), py::arg("seconds"),
      py::arg("threads") = py::none(), py::arg("progress") = py::none(), "which actions lower the distance by one");

  module.def(
      "optimal_actions_everywhere",
      [](const Array<std::uint8_t>& states_, std::uint64_t nodes, std::uint64_t bytes, double seconds,
         const Threads& threads, const Progress& progress) {
        const States from = checked_states(states_);
        auto out = fresh<bool>({size(from.count), from.shape.rows, from.shape.cols, kActions});
        std::uint8_t* to = recommit::bindings::bytes(out);
        const sokoban::Solver with = solver(limits(nodes, bytes, seconds));
        run_levels(from.count, threads, progress, [&](const sokoban::Part& part, Watch* watch) {
          with.optimal_actions_everywhere(from.data, from.shape, to, part, watch);
        });
        return out;
      },
      py::arg("states"), py::kw_only(), py::arg("nodes"), py::arg("bytes"), py::arg("seconds"),
      py::arg("threads") = py::none(), py::arg("progress") = py::none(),
      "optimal actions of each state with its player on every cell instead");

  module.def(
      "solve",
      [](const Array<std::uint8_t>& states_, bool random, std::uint64_t seed, std::uint64_t nodes, std::uint64_t bytes,
         double seconds, const Threads& threads, const Progress& progress) {
        const States from = checked_states(states_);
        std::vector<sokoban::Solution> solutions(from.count);
        const auto ties = random ? sokoban::Ties::Random : sokoban::Ties::First;
        const sokoban::Solver with = solver(limits(nodes, bytes, seconds));
        run_levels(from.count, threads, progress, [&](const sokoban::Part& part, Watch* watch) {
          with.solve(from.data, from.shape, ties, seed, 0, solutions.data(), part, watch);
        });
        return pack(solutions);
      },
      py::arg("states"), py::kw_only(), py::arg("random"), py::arg("seed"), py::arg("nodes"), py::arg("bytes"),
      py::arg("seconds"), py::arg("threads") = py::none(), py::arg("progress") = py::none(),
      "optimal plans: (actions, offsets, length, nodes, status, bound)");
}

void define_generator(py::module_& module) {
  module.def(
      "generate_rooms",
      [](int rows, int cols, int boxes, std::size_t count, Distance shortest, Distance longest, std::uint64_t seed,
         std::uint64_t start, bool walked, const Threads& threads, const Progress& progress) {
        const sokoban::Request request{{rows, cols}, boxes, shortest, longest, walked};
        sokoban::check_request(request);
        auto states = fresh<std::uint8_t>({size(count), rows, cols});
        auto lengths = fresh<std::int32_t>({size(count)});
        std::uint8_t* to = states.mutable_data();
        std::int32_t* exact = lengths.mutable_data();
        run_states(count, threads, progress, [&](std::size_t begin, std::size_t end, Watch* watch) {
          sokoban::generate(request, seed, start, to, exact, begin, end, watch);
        });
        return py::make_tuple(states, lengths);
      },
      py::arg("rows"), py::arg("cols"), py::arg("boxes"), py::arg("count"), py::kw_only(), py::arg("shortest"),
      py::arg("longest"), py::arg("seed"), py::arg("start") = 0, py::arg("walked") = false,
      py::arg("threads") = py::none(), py::arg("progress") = py::none(),
      "levels whose optimal length lies in shortest..longest, and the lengths; level i depends on (size, boxes, "
      "window, seed, walked, start + i) alone");

  module.def(
      "generate_reverse",
      [](int rows, int cols, int boxes, std::size_t count, std::uint64_t seed, std::uint64_t start,
         const Threads& threads, const Progress& progress) {
        const Shape shape{rows, cols};
        sokoban::check_reverse_request(shape, boxes);
        auto out = fresh<std::uint8_t>({size(count), rows, cols});
        std::uint8_t* to = out.mutable_data();
        run_states(count, threads, progress, [&](std::size_t begin, std::size_t end, Watch*) {
          sokoban::generate_reverse(shape, boxes, seed, start, to, begin, end);
        });
        return out;
      },
      py::arg("rows"), py::arg("cols"), py::arg("boxes"), py::arg("count"), py::kw_only(), py::arg("seed"),
      py::arg("start") = 0, py::arg("threads") = py::none(), py::arg("progress") = py::none(),
      "levels from reverse pulls, then walls; level i depends on (size, boxes, seed, start + i) alone");

  module.def(
      "canonical_digests",
      [](const Array<std::uint8_t>& states_, const Threads& threads) {
        const States from = checked_states(states_);
        auto out = fresh<std::uint64_t>({size(from.count), 2});
        std::uint64_t* to = out.mutable_data();
        run(from.count, threads, 64, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            const sokoban::Digest digest = sokoban::canonical_digest(from.data + i * from.cells(), from.shape, i);
            std::copy(digest.begin(), digest.end(), to + 2 * i);
          }
        });
        return out;
      },
      py::arg("states"), py::kw_only(), py::arg("threads") = py::none(),
      "128 bits per state, equal for states that are images of each other under the symmetries of the grid");
}

void define_cache(py::module_& module) {
  module.def(
      "table_cache",
      [](std::optional<std::uint64_t> budget, bool clear) {
        sokoban::TableCache& cache = sokoban::TableCache::shared();
        if (budget) cache.set_budget(*budget);
        if (clear) cache.clear();
        const sokoban::CacheStats stats = cache.stats();
        py::dict out;
        out["budget"] = cache.budget();
        out["bytes"] = stats.bytes;
        out["levels"] = stats.levels;
        out["hits"] = stats.hits;
        out["builds"] = stats.builds;
        out["evictions"] = stats.evictions;
        return out;
      },
      py::kw_only(), py::arg("budget") = py::none(), py::arg("clear") = false,
      "the distance tables shared by all calls: what they hold and did; optionally change their budget of bytes, or "
      "drop them");
}

void define_own(py::module_& module) {
  define_solver(module);
  define_generator(module);
  define_cache(module);
}

const Registered registered({
    "sokoban",
    "Sokoban.",
    {sokoban::check_shape, sokoban::step, sokoban::execute, sokoban::is_solved, sokoban::action_masks},
    {sokoban::sprites, sokoban::view, sokoban::check_drawable, sokoban::check_read, sokoban::kWall},
    {sokoban::make_bank, sokoban::survey, sokoban::make_episodes},
    {sokoban::parse_levels, sokoban::format_levels, sokoban::first_row, sokoban::owns, sokoban::recognises},
    define_own,
});

}  // namespace
}  // namespace recommit::bindings::of_sokoban
