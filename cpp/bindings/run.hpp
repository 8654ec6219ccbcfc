#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <exception>
#include <optional>
#include <string>

#include "bindings/gil.hpp"
#include "core/errors.hpp"
#include "core/parallel.hpp"
#include "core/watch.hpp"

/// How every batched call runs: arguments are already plain pointers, so the GIL is released around the whole of it.
namespace recommit::bindings {

namespace py = pybind11;

inline int thread_count(std::optional<int> threads) {
  if (!threads) return default_threads();
  if (*threads < 1) throw ValueError("threads: expected at least 1 or None, got " + std::to_string(*threads));
  return *threads;
}

/// For calls that take microseconds to milliseconds.
template <class Body>
void run(std::size_t count, std::optional<int> threads, std::size_t grain, const Body& body) {
  const int workers = thread_count(threads);
  const ReleasedGil release;
  parallel_for(count, workers, grain, body);
}

/// A Watch that lets Python's signal handlers run (Ctrl-C) and tells `progress` how much is done. What a handler or
/// `progress` raises stops the call and is raised again by `rethrow`.
class PythonWatch {
 public:
  explicit PythonWatch(std::optional<py::function> progress = std::nullopt)
      : progress_(std::move(progress)), watch_([this](Watch& watch) { look(watch); }) {}

  Watch& watch() noexcept { return watch_; }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void look(Watch& watch) {
    const TakenGil acquire;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (progress_) (*progress_)(watch.done());
    } catch (...) {
      error_ = std::current_exception();
      watch.stop();
    }
  }

  std::optional<py::function> progress_;
  std::exception_ptr error_;
  Watch watch_;
};

/// For calls that may take long: work(Watch&) runs without the GIL and ends within some 20 ms of Ctrl-C.
template <class Work>
void run_watched(const std::optional<py::function>& progress, const Work& work) {
  PythonWatch python(progress);
  try {
    const ReleasedGil release;
    work(python.watch());
  } catch (const Interrupted&) {
    python.rethrow();
    throw;
  }
}

}  // namespace recommit::bindings
