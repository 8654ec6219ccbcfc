// The module `ice`: the icy cave's own functions, besides those that all puzzles have.
#include <cstdint>
#include <optional>
#include <vector>

#include "bindings/bind.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/run.hpp"
#include "bindings/common/solve.hpp"
#include "ice/distances.hpp"
#include "ice/draw.hpp"
#include "ice/episodes.hpp"
#include "ice/generate.hpp"
#include "ice/level_text.hpp"
#include "ice/simulate.hpp"
#include "ice/solver.hpp"

namespace recommit::bindings::of_ice {
namespace {

using ByteStates = Array<std::uint8_t>;
using Nodes = std::uint64_t;

States checked_states(const ByteStates& argument) {
  const States from = states(argument);
  ice::check_shape(from.shape);
  return from;
}

constexpr std::size_t kLeast = 32;  // states per chunk: a cave takes a microsecond or two, less if cached

// Always solved by table, so the limits that all solvers take are never hit.

py::object distance(const ByteStates& states_, Nodes, std::uint64_t, double, const Threads& threads,
                    const Progress& progress) {
  const States from = checked_states(states_);
  auto out = fresh<std::int32_t>({size(from.count)});
  std::int32_t* to = out.mutable_data();
  run_states(
      from.count, threads, progress,
      [&](std::size_t begin, std::size_t end, Watch*) { ice::distance(from.data, from.shape, to, begin, end); },
      kLeast);
  return out;
}

py::object optimal_actions(const ByteStates& states_, Nodes, std::uint64_t, double, const Threads& threads,
                           const Progress& progress) {
  const States from = checked_states(states_);
  auto out = fresh<bool>({size(from.count), kActions});
  std::uint8_t* to = bytes(out);
  run_states(
      from.count, threads, progress,
      [&](std::size_t begin, std::size_t end, Watch*) { ice::optimal_actions(from.data, from.shape, to, begin, end); },
      kLeast);
  return out;
}

py::tuple solve(const ByteStates& states_, bool random, std::uint64_t seed, Nodes, std::uint64_t, double,
                const Threads& threads, const Progress& progress) {
  const States from = checked_states(states_);
  std::vector<std::vector<std::uint8_t>> plans(from.count);
  const py::ssize_t n = size(from.count);
  auto length = fresh<std::int32_t>({n});
  std::int32_t* to = length.mutable_data();
  const auto ties = random ? ice::Ties::Random : ice::Ties::First;
  run_states(
      from.count, threads, progress,
      [&](std::size_t begin, std::size_t end, Watch*) {
        ice::solve(from.data, from.shape, ties, seed, plans.data(), to, begin, end);
      },
      kLeast);
  auto nodes = fresh<std::uint64_t>({n});
  auto status = fresh<std::uint8_t>({n});
  for (py::ssize_t i = 0; i < n; ++i) {
    nodes.mutable_data()[i] = 0;
    status.mutable_data()[i] = static_cast<std::uint8_t>(to[i] == kUnsolvable ? Status::Unsolvable : Status::Exact);
  }
  const auto [actions, offsets] = pack_plans(plans);
  return py::make_tuple(actions, offsets, length, nodes, status, length);
}

py::tuple generate(int rows, int cols, std::size_t count, Distance shortest, Distance longest, std::uint64_t seed,
                   std::uint64_t start, const Threads& threads, const Progress& progress) {
  const ice::Request request{{rows, cols}, shortest, longest};
  ice::check_request(request);
  auto states = fresh<std::uint8_t>({size(count), rows, cols});
  auto lengths = fresh<std::int32_t>({size(count)});
  std::uint8_t* to = states.mutable_data();
  std::int32_t* exact = lengths.mutable_data();
  run_states(count, threads, progress, [&](std::size_t begin, std::size_t end, Watch* watch) {
    ice::generate(request, seed, start, to, exact, begin, end, watch);
  });
  return py::make_tuple(states, lengths);
}

void define_own(py::module_& module) {
  module.def("distance", distance, py::arg("states"), py::kw_only(), py::arg("nodes"), py::arg("bytes"),
             py::arg("seconds"), py::arg("threads") = py::none(), py::arg("progress") = py::none(),
             "exact number of actions to the goal; -1 where there is no way");
  module.def("optimal_actions", optimal_actions, py::arg("states"), py::kw_only(), py::arg("nodes"), py::arg("bytes"),
             py::arg("seconds"), py::arg("threads") = py::none(), py::arg("progress") = py::none(),
             "which actions lower the distance by one");
  module.def("solve", solve, py::arg("states"), py::kw_only(), py::arg("random"), py::arg("seed"), py::arg("nodes"),
             py::arg("bytes"), py::arg("seconds"), py::arg("threads") = py::none(), py::arg("progress") = py::none(),
             "optimal plans: (actions, offsets, length, nodes, status, bound)");
  module.def("generate", generate, py::arg("rows"), py::arg("cols"), py::arg("count"), py::kw_only(),
             py::arg("shortest"), py::arg("longest"), py::arg("seed"), py::arg("start") = 0,
             py::arg("threads") = py::none(), py::arg("progress") = py::none(),
             "caves whose optimal length lies in shortest..longest, and the lengths; cave i depends on (size, window, "
             "seed, start + i) alone");
}

const Registered registered({
    "ice",
    "The icy cave.",
    {ice::check_shape, ice::step, ice::execute, ice::is_solved, ice::action_masks},
    {ice::sprites, ice::view, ice::check_drawable, ice::check_read, ice::kRock},
    {ice::make_bank, ice::survey, ice::make_episodes},
    {ice::parse_levels, ice::format_levels, ice::first_row, ice::owns, ice::recognises},
    define_own,
});

}  // namespace
}  // namespace recommit::bindings::of_ice
