// The GIL, given back for a long call and taken again, also while the interpreter ends.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <exception>
#include <optional>
#include <thread>

/// Giving the GIL back and taking it again, also while the interpreter shuts down.
///
/// A daemon thread that asks for the GIL after the interpreter has begun to end never gets it: until Python 3.13 the
/// thread is ended on the spot by unwinding its stack, which aborts the process in the first noexcept function (any
/// destructor) and releases Python objects without the GIL. Here such a thread sleeps until the process is gone, which
/// is what Python does by itself from 3.14 on.
namespace recommit::bindings {

namespace py = pybind11;

template <class Take>
void or_sleep(const Take& take) {
  try {
    take();
  } catch (const std::exception&) {
    throw;
  } catch (...) {  // the unwinding; it must not go on
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

/// No Python object may be touched while one of these lives.
class ReleasedGil {
 public:
  ReleasedGil() : state_(PyEval_SaveThread()) {}
  ~ReleasedGil() {
    or_sleep([this] { PyEval_RestoreThread(state_); });
  }
  ReleasedGil(const ReleasedGil&) = delete;
  ReleasedGil& operator=(const ReleasedGil&) = delete;

 private:
  PyThreadState* state_;
};

/// The GIL, from wherever it was released.
class TakenGil {
 public:
  TakenGil() {
    or_sleep([this] { gil_.emplace(); });
  }
  TakenGil(const TakenGil&) = delete;
  TakenGil& operator=(const TakenGil&) = delete;

 private:
  std::optional<py::gil_scoped_acquire> gil_;
};

}  // namespace recommit::bindings
