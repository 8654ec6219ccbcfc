// Mapping of C++ exceptions to Python exceptions.
#include <pybind11/pybind11.h>

#include "bindings/bind.hpp"
#include "core/errors.hpp"

namespace recommit::bindings {

namespace py = pybind11;

/// C++ exception -> Python exception, in one table.
void bind_errors(py::module_& module) {
  static py::handle level_error = py::exception<LevelError>(module, "LevelError", PyExc_ValueError).release();
  level_error.attr("__doc__") = "A malformed level; `line` and `column` count from 1 (0: the text as a whole).";
  level_error.attr("line") = 0;
  level_error.attr("column") = 0;
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const LevelError& error) {
      py::object instance = level_error(error.what());
      instance.attr("line") = error.line;
      instance.attr("column") = error.column;
      PyErr_SetObject(level_error.ptr(), instance.ptr());
    } catch (const ValueError& error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    } catch (const FileError& error) {
      PyErr_SetString(PyExc_OSError, error.what());
    } catch (const Interrupted&) {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
  });
}

}  // namespace recommit::bindings
