#include <cstdint>
#include <optional>
#include <string>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "bindings/run.hpp"
#include "sliding/simulate.hpp"
#include "sliding/walk.hpp"
#include "sokoban/reverse_pull.hpp"

namespace recommit::bindings {
namespace {

constexpr std::size_t kGrain = 64;

}  // namespace

void bind_generate(py::module_& sliding, py::module_& sokoban) {
  sliding.def(
      "generate_walks",
      [](int rows, int cols, std::size_t count, std::uint64_t seed, std::uint64_t start, std::optional<int> threads) {
        const Shape shape{rows, cols};
        sliding::check_shape(shape);
        auto out = fresh<std::uint8_t>({size(count), rows, cols});
        std::uint8_t* to = out.mutable_data();
        run(count, threads, kGrain,
            [&](std::size_t begin, std::size_t end) { sliding::generate_walks(shape, seed, start, to, begin, end); });
        return out;
      },
      py::arg("rows"), py::arg("cols"), py::arg("count"), py::kw_only(), py::arg("seed"), py::arg("start") = 0,
      py::arg("threads") = py::none(),
      "solvable boards from random walks; board i depends on (shape, seed, start + i) alone");
  sokoban.def(
      "generate_reverse",
      [](int rows, int cols, int boxes, std::size_t count, std::uint64_t seed, std::uint64_t start,
         std::optional<int> threads) {
        const Shape shape{rows, cols};
        sokoban::check_reverse_request(shape, boxes);
        auto out = fresh<std::uint8_t>({size(count), rows, cols});
        std::uint8_t* to = out.mutable_data();
        run(count, threads, kGrain, [&](std::size_t begin, std::size_t end) {
          sokoban::generate_reverse(shape, boxes, seed, start, to, begin, end);
        });
        return out;
      },
      py::arg("rows"), py::arg("cols"), py::arg("boxes"), py::arg("count"), py::kw_only(), py::arg("seed"),
      py::arg("start") = 0, py::arg("threads") = py::none(),
      "levels from reverse pulls, then walls; level i depends on (size, boxes, seed, start + i) alone");
}

}  // namespace recommit::bindings
