// Releasing and re-acquiring the GIL, safe during interpreter shutdown.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <exception>
#include <optional>
#include <thread>

/// Release and re-acquire the GIL, safe during interpreter shutdown.
///
/// A daemon thread that requests the GIL after finalisation has begun never gets it: until Python 3.13 the thread is
/// terminated by unwinding its stack, which aborts the process in the first noexcept function (any destructor) and
/// releases Python objects without the GIL. Here such a thread sleeps until the process exits, as Python itself does
/// from 3.14 on.
namespace recommit::bindings {

namespace py = pybind11;

template <class Take>
void or_sleep(const Take& take) {
  try {
    take();
  } catch (const std::exception&) {
    throw;
  } catch (...) {  // stop the unwinding
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

/// Releases the GIL; no Python object may be touched during its lifetime.
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

/// Re-acquires a released GIL.
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
