#pragma once

#include <pybind11/pybind11.h>

/// One function per bind_<kind>.cpp; module.cpp calls them all.
namespace recommit::bindings {

void bind_errors(pybind11::module_& module);
void bind_simulate(pybind11::module_& sliding, pybind11::module_& sokoban);
void bind_generate(pybind11::module_& sliding, pybind11::module_& sokoban);
void bind_draw(pybind11::module_& sliding, pybind11::module_& sokoban);
void bind_episodes(pybind11::module_& module, pybind11::module_& sliding, pybind11::module_& sokoban);
void bind_levels(pybind11::module_& module);
void bind_sliding_solve(pybind11::module_& sliding);
void bind_sokoban_solve(pybind11::module_& sokoban);

}  // namespace recommit::bindings
