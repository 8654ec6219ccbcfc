// The compiled module: built from all registered puzzles, naming none.
#include <pybind11/pybind11.h>

#include <algorithm>
#include <string_view>

#include "bindings/bind.hpp"

namespace recommit::bindings {

std::vector<PuzzleBinding>& puzzles() {
  static std::vector<PuzzleBinding> all;
  return all;
}

Registered::Registered(const PuzzleBinding& puzzle) {
  const auto later = [&](const PuzzleBinding& other) {
    return std::string_view(puzzle.task) < std::string_view(other.task);
  };
  puzzles().insert(std::find_if(puzzles().begin(), puzzles().end(), later), puzzle);
}

}  // namespace recommit::bindings

/// Initialisation takes the GIL in a way that only works in the main interpreter and would block forever in another, so
/// Python calls PyInit__core, below.
PYBIND11_MODULE(_core_of_main, module, pybind11::mod_gil_not_used(), pybind11::multiple_interpreters::not_supported()) {
  using namespace recommit::bindings;
  module.doc() = "The compiled core of recommit. One submodule per puzzle, with the same functions in each.";
  bind_errors(module);
  bind_levels(module);
  bind_episodes(module);
  for (const PuzzleBinding& each : puzzles()) {
    auto puzzle = module.def_submodule(each.task, each.about);
    each.define_own(puzzle);
    define_simulator(puzzle, each.simulator);
    define_artist(puzzle, each.artist);
    define_episodes(puzzle, each.task, each.maker);
  }
}

extern "C" PYBIND11_EXPORT PyObject* PyInit__core() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return PyInit__core_of_main();
  PyErr_SetString(PyExc_ImportError, "recommit: expected the main interpreter, got a sub-interpreter");
  return nullptr;
}
