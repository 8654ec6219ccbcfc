// Python bindings for steps and open-loop execution of any puzzle.
#include <cstdint>
#include <limits>
#include <optional>

#include "bindings/bind.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/run.hpp"

namespace recommit::bindings {
namespace {

constexpr std::size_t kGrain = 512;  // states per chunk: some 10 us of work, far above the scheduling cost

using ByteStates = Array<std::uint8_t>;

}  // namespace

void define_simulator(py::module_& module, const Simulator& simulator) {
  module.def(
      "step",
      [simulator](const ByteStates& states_, const Integers& actions_, const Threads& threads) {
        const States from = states(states_);
        simulator.check_shape(from.shape);
        const Actions actions(actions_, "actions", {size(from.count)}, 0, kActions - 1);
        auto out = fresh<std::uint8_t>({size(from.count), from.shape.rows, from.shape.cols});
        std::uint8_t* to = out.mutable_data();
        run(from.count, threads, kGrain, [&](std::size_t begin, std::size_t end) {
          simulator.step(from.data, from.shape, actions.data(), to, begin, end);
        });
        return out;
      },
      py::arg("states"), py::arg("actions"), py::kw_only(), py::arg("threads") = py::none(),
      "states after one action each; a blocked move leaves a state as it is");

  module.def(
      "execute",
      [simulator](const ByteStates& states_, const Integers& actions_, const Integers& depths_, bool stop,
                  const Threads& threads) {
        const States from = states(states_);
        simulator.check_shape(from.shape);
        const py::ssize_t n = size(from.count);
        // Values beyond a commitment's depth are padding: checked in the core, which knows the depth.
        const Actions actions(actions_, "actions", {n, -1}, 0, std::numeric_limits<std::uint8_t>::max());
        const Narrowed<std::int32_t> depths(depths_, "depths", {n}, 0, actions.shape(1));
        auto after = fresh<std::uint8_t>({n, from.shape.rows, from.shape.cols});
        auto executed = fresh<std::int32_t>({n}), moved = fresh<std::int32_t>({n});
        auto solved = fresh<bool>({n});
        const Outcomes out{after.mutable_data(), executed.mutable_data(), bytes(solved), moved.mutable_data()};
        const auto width = static_cast<std::size_t>(actions.shape(1));
        run(from.count, threads, kGrain, [&](std::size_t begin, std::size_t end) {
          simulator.execute(from.data, from.shape, actions.data(), width, depths.data(), stop, out, begin, end);
        });
        return py::make_tuple(after, executed, solved, moved);
      },
      py::arg("states"), py::arg("actions"), py::arg("depths"), py::kw_only(), py::arg("stop") = true,
      py::arg("threads") = py::none(),
      "open loop: (states, executed, solved, moved) after up to depths[i] actions, with `stop` no further than the "
      "goal");

  module.def(
      "is_solved",
      [simulator](const ByteStates& states_, const Threads& threads) {
        const States from = states(states_);
        simulator.check_shape(from.shape);
        auto out = fresh<bool>({size(from.count)});
        std::uint8_t* to = bytes(out);
        run(from.count, threads, kGrain,
            [&](std::size_t begin, std::size_t end) { simulator.is_solved(from.data, from.shape, to, begin, end); });
        return out;
      },
      py::arg("states"), py::kw_only(), py::arg("threads") = py::none(), "is each state a goal?");

  module.def(
      "action_masks",
      [simulator](const ByteStates& states_, const Threads& threads) {
        const States from = states(states_);
        simulator.check_shape(from.shape);
        auto out = fresh<bool>({size(from.count), kActions});
        std::uint8_t* to = bytes(out);
        run(from.count, threads, kGrain,
            [&](std::size_t begin, std::size_t end) { simulator.action_masks(from.data, from.shape, to, begin, end); });
        return out;
      },
      py::arg("states"), py::kw_only(), py::arg("threads") = py::none(), "which actions would change each state");
}

}  // namespace recommit::bindings
