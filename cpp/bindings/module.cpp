#include <pybind11/pybind11.h>

#include "bindings/bind.hpp"

PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used()) {
  using namespace recommit::bindings;
  module.doc() = "The compiled core of recommit. One submodule per puzzle, with the same functions in both.";
  auto sliding = module.def_submodule("sliding", "The sliding puzzle.");
  auto sokoban = module.def_submodule("sokoban", "Sokoban.");
  bind_errors(module);
  bind_levels(module);
  bind_sliding_solve(sliding);
  bind_sokoban_solve(sokoban);
  bind_simulate(sliding, sokoban);
  bind_generate(sliding, sokoban);
  bind_draw(sliding, sokoban);
  bind_episodes(module, sliding, sokoban);
}
