// Execution of batched calls: threads, released GIL, Ctrl-C and progress.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <exception>
#include <optional>
#include <string>

#include "bindings/common/gil.hpp"
#include "core/errors.hpp"
#include "core/threads/parallel.hpp"
#include "core/threads/watch.hpp"

/// Batched calls run entirely without the GIL, since their arguments are plain pointers.
namespace recommit::bindings {

namespace py = pybind11;

/// An argument declared as a number of threads, or None for all cores.
struct Threads {
  py::object object = py::none();
};

inline int thread_count(const Threads& threads) {
  if (threads.object.is_none()) return default_threads();
  const std::string expected = "threads: expected 1.." + std::to_string(kMaxThreads) + " or None, got ";
  if (PyIndex_Check(threads.object.ptr()) == 0) {
    throw py::type_error(expected + py::str(py::type::of(threads.object).attr("__name__")).cast<std::string>());
  }
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(threads.object.ptr()));
  if (!number) throw py::error_already_set();
  int overflow = 0;
  const long long count = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0 || count < 1 || count > kMaxThreads) {
    throw ValueError(expected + py::str(number).cast<std::string>());
  }
  return static_cast<int>(count);
}

/// True on a thread while it runs a caller's `progress`, or a signal handler, inside a long call. That call's table or
/// search is incomplete, so another long call on the same thread would deadlock on it.
inline thread_local bool in_callback = false;

struct InCallback {
  InCallback() { in_callback = true; }
  ~InCallback() { in_callback = false; }
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;
};

/// For calls that take microseconds to milliseconds.
template <class Body>
void run(std::size_t count, const Threads& threads, std::size_t grain, const Body& body) {
  const int workers = thread_count(threads);
  const ReleasedGil release;
  parallel_for(count, workers, grain, body);
}

/// A Watch that runs Python's signal handlers (Ctrl-C) and reports to `progress`. Exceptions from either stop the call
/// and are raised again by `rethrow`.
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
    const InCallback here;
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

/// For long calls: work(Watch&) runs without the GIL and ends within some 20 ms of Ctrl-C. An exception that comes too
/// late to stop it (in the last chunks) is raised as well.
template <class Work>
void run_watched(const std::optional<py::function>& progress, const Work& work) {
  if (in_callback) {
    throw ValueError("progress: expected a callback that asks for no generating or solving, got one that does");
  }
  PythonWatch python(progress);
  try {
    const ReleasedGil release;
    work(python.watch());
  } catch (const Interrupted&) {
    python.rethrow();
    throw;
  }
  python.rethrow();
}

}  // namespace recommit::bindings

namespace pybind11::detail {

template <>
struct type_caster<recommit::bindings::Threads> {
  PYBIND11_TYPE_CASTER(recommit::bindings::Threads, const_name("typing.SupportsIndex | None"));
  bool load(handle source, bool) {
    value.object = reinterpret_borrow<object>(source);
    return true;
  }
};

}  // namespace pybind11::detail
