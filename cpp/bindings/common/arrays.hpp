// Checking of arrays from Python and conversion to plain pointers.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/common/recycled.hpp"
#include "core/errors.hpp"
#include "core/memory/narrow.hpp"
#include "core/types.hpp"

/// The only numpy code. Arguments arrive as Array<T> (any object), are checked here, with name, expected and actual
/// value in the message, and become plain pointers; nothing is converted or wrapped silently. The caller's frame
/// references the Python objects for the whole call, so pointers stay valid while the GIL is released.
///
/// Another thread may write into an argument while a call without the GIL reads it. The result is then unspecified
/// (that of some mixture, or a ValueError), but nothing is read or written out of bounds and every call ends. Actions,
/// depths and shapes are small and copied here, and never read again. For states, the core either works on a copy
/// (executions, searches, level banks, bit planes) or bounds every index after reading it (single steps, masks and
/// pictures, which would be a third slower with a copy).
namespace recommit::bindings {

namespace py = pybind11;

/// An argument declared as an array of T in the stub; `states` and the functions below check it.
template <class T>
struct Array {
  py::object object;
};

/// An argument declared as an array of any integer type.
struct Integers {
  py::object object;
};

inline std::string text(const py::handle& object) { return py::str(object).cast<std::string>(); }

/// A shape in Python's notation; -1 stands for any length.
inline std::string shape_text(const std::vector<py::ssize_t>& shape) {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    out += (i ? ", " : "") + (shape[i] < 0 ? std::string("any") : std::to_string(shape[i]));
  }
  return out + (shape.size() == 1 ? ",)" : ")");
}

inline std::string shape_text(const py::array& array) {
  return shape_text(std::vector<py::ssize_t>(array.shape(), array.shape() + array.ndim()));
}

inline bool is_masked(const py::object& array) {
  if (Py_TYPE(array.ptr()) == py::detail::npy_api::get().PyArray_Type_) return false;  // excludes subclasses
  return py::isinstance(array, py::module_::import("numpy.ma").attr("MaskedArray"));
}

inline py::array as_array(const py::object& object, const char* name) {
  if (!py::isinstance<py::array>(object)) {
    throw py::type_error(std::string(name) + ": expected a numpy array, got " +
                         text(py::type::of(object).attr("__name__")));
  }
  if (is_masked(object)) {
    throw py::type_error(std::string(name) +
                         ": expected an array without a mask, got a masked one (its mask would be " +
                         "ignored; use numpy.ma.filled)");
  }
  return py::reinterpret_borrow<py::array>(object);
}

/// Require the memory layout of the core: contiguous, aligned, native byte order.
inline void check_plain(const py::array& array, const char* name) {
  constexpr char kForeign = std::endian::native == std::endian::little ? '>' : '<';
  const auto expected = [name](const char* what) { return std::string(name) + ": expected " + what; };
  if ((array.flags() & py::array::c_style) == 0) {
    throw ValueError(expected("a C-contiguous array, got one with strides (use numpy.ascontiguousarray)"));
  }
  if ((array.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) == 0) {
    throw ValueError(expected("an aligned array, got one that begins inside a word (use numpy.array to copy it)"));
  }
  if (array.dtype().byteorder() == kForeign) {
    throw py::type_error(expected("native byte order, got dtype ") + text(array.dtype()));
  }
}

template <class T>
py::array typed(const Array<T>& argument, const char* name, py::ssize_t dimensions, const char* meaning) {
  py::array array = as_array(argument.object, name);
  const py::dtype expected = py::dtype::of<T>(), got = array.dtype();
  if (!got.is(expected) && !got.equal(expected)) {  // identity first: numpy's comparison is slower
    throw py::type_error(std::string(name) + ": expected dtype " + text(expected) + ", got " + text(got));
  }
  if (array.ndim() != dimensions) {
    throw ValueError(std::string(name) + ": expected " + std::to_string(dimensions) + " dimensions " + meaning +
                     ", got shape " + shape_text(array));
  }
  check_plain(array, name);
  return array;
}

/// A batch of grids.
struct States {
  const std::uint8_t* data;
  std::size_t count;
  Shape shape;
  std::size_t cells() const noexcept { return static_cast<std::size_t>(shape.cells()); }
};

inline States states(const Array<std::uint8_t>& argument, const char* name = "states") {
  const py::array array = typed(argument, name, 3, "[N, rows, columns]");
  const auto side = [&](py::ssize_t axis) {
    return static_cast<int>(std::min<py::ssize_t>(array.shape(axis), std::numeric_limits<std::int16_t>::max()));
  };
  return {static_cast<const std::uint8_t*>(array.data()), static_cast<std::size_t>(array.shape(0)), {side(1), side(2)}};
}

/// Refuse an output array that shares memory with `from`.
inline void check_apart(const py::array& out, const char* name, const States& from, const char* other) {
  const auto begin = reinterpret_cast<std::uintptr_t>(out.data()), read = reinterpret_cast<std::uintptr_t>(from.data);
  const auto end = begin + static_cast<std::size_t>(out.nbytes()), read_end = read + from.count * from.cells();
  if (begin < read_end && read < end) {
    throw ValueError(std::string(name) + ": expected memory of its own, got an array that overlaps " + other);
  }
}

/// Check the caller's output array: writable, with exactly this shape.
template <class T>
T* destination(const Array<T>& argument, const char* name, const std::vector<py::ssize_t>& shape) {
  py::array array = typed(argument, name, static_cast<py::ssize_t>(shape.size()), "");
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (array.shape(static_cast<py::ssize_t>(i)) != shape[i]) {
      throw ValueError(std::string(name) + ": expected shape " + shape_text(shape) + ", got " + shape_text(array));
    }
  }
  if (!array.writeable()) throw ValueError(std::string(name) + ": expected a writable array, got a read-only one");
  return static_cast<T*>(array.mutable_data());
}

/// Integers of any width, checked against lo..hi and narrowed to T; a copy, so that checked values cannot change.
template <class T>
class Narrowed {
 public:
  Narrowed(const Integers& argument, const char* name, const std::vector<py::ssize_t>& shape, std::int64_t lo,
           std::int64_t hi)
      : array_(as_array(argument.object, name)) {
    if (array_.dtype().kind() != 'i' && array_.dtype().kind() != 'u') {
      throw py::type_error(std::string(name) + ": expected an integer dtype, got " + text(array_.dtype()));
    }
    check_shape(name, shape);
    check_plain(array_, name);
    const bool is_signed = array_.dtype().kind() == 'i';
    switch (array_.itemsize()) {
      case 1: is_signed ? take<std::int8_t>(name, lo, hi) : take<std::uint8_t>(name, lo, hi); break;
      case 2: is_signed ? take<std::int16_t>(name, lo, hi) : take<std::uint16_t>(name, lo, hi); break;
      case 4: is_signed ? take<std::int32_t>(name, lo, hi) : take<std::uint32_t>(name, lo, hi); break;
      default: is_signed ? take<std::int64_t>(name, lo, hi) : take<std::uint64_t>(name, lo, hi); break;
    }
  }

  const T* data() const noexcept { return values_.get(); }
  py::ssize_t shape(py::ssize_t axis) const { return array_.shape(axis); }

 private:
  /// -1 in `shape` allows any length.
  void check_shape(const char* name, const std::vector<py::ssize_t>& shape) const {
    bool same = array_.ndim() == static_cast<py::ssize_t>(shape.size());
    for (std::size_t i = 0; same && i < shape.size(); ++i) {
      same = shape[i] < 0 || array_.shape(static_cast<py::ssize_t>(i)) == shape[i];
    }
    if (!same)
      throw ValueError(std::string(name) + ": expected shape " + shape_text(shape) + ", got " + shape_text(array_));
  }

  template <class From>
  void take(const char* name, std::int64_t lo, std::int64_t hi) {
    const auto count = static_cast<std::size_t>(array_.size());
    if (count == 0) return;
    values_ = std::make_unique_for_overwrite<T[]>(count);
    const auto [smallest, largest] = narrow(static_cast<const From*>(array_.data()), count, values_.get());
    if (std::cmp_less(smallest, lo) || std::cmp_greater(largest, hi)) {
      const std::string bad = std::cmp_less(smallest, lo) ? std::to_string(smallest) : std::to_string(largest);
      throw ValueError(std::string(name) + ": expected values " + std::to_string(lo) + ".." + std::to_string(hi) +
                       ", got " + bad);
    }
  }

  py::array array_;
  std::unique_ptr<T[]> values_;
};

using Actions = Narrowed<std::uint8_t>;

/// The bytes of a bool array (0 or 1 each).
inline std::uint8_t* bytes(py::array_t<bool>& array) { return reinterpret_cast<std::uint8_t*>(array.mutable_data()); }

inline py::ssize_t size(std::size_t value) { return static_cast<py::ssize_t>(value); }

}  // namespace recommit::bindings

namespace pybind11::detail {

template <class T>
struct type_caster<recommit::bindings::Array<T>> {
  PYBIND11_TYPE_CASTER(recommit::bindings::Array<T>,
                       const_name("numpy.typing.NDArray[") + npy_format_descriptor<T>::name + const_name("]"));
  bool load(handle source, bool) {
    value.object = reinterpret_borrow<object>(source);
    return true;
  }
};

template <>
struct type_caster<recommit::bindings::Integers> {
  PYBIND11_TYPE_CASTER(recommit::bindings::Integers, const_name("numpy.typing.NDArray[numpy.integer[typing.Any]]"));
  bool load(handle source, bool) {
    value.object = reinterpret_borrow<object>(source);
    return true;
  }
};

}  // namespace pybind11::detail
