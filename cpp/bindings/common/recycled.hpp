// Arrays for Python whose memory returns to the recycler.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "core/memory/recycler.hpp"

namespace recommit::bindings {

namespace py = pybind11;

/// The array's owner: returns the block to the recycler with the last array that references it.
inline py::capsule owner_of(Recycler::Block block) {
  auto held = std::make_unique<Recycler::Block>(std::move(block));
  const auto give_back = [](void* pointer) {
    const std::unique_ptr<Recycler::Block> ended(static_cast<Recycler::Block*>(pointer));
    recycler().give(std::move(*ended));
  };
  py::capsule owner(held.get(), give_back);
  held.release();
  return owner;
}

/// Bytes of an array of this shape; 0 on overflow, which numpy then reports.
inline std::size_t bytes_of(const std::vector<py::ssize_t>& shape, std::size_t item) noexcept {
  constexpr std::size_t kMost = std::numeric_limits<py::ssize_t>::max();
  std::size_t bytes = item;
  for (const py::ssize_t side : shape) {
    if (side > 0 && bytes > kMost / static_cast<std::size_t>(side)) return 0;
    bytes *= static_cast<std::size_t>(side);
  }
  return bytes;
}

/// A new result array: small ones are owned by numpy, big ones use a free block of the recycler.
template <class T>
py::array_t<T> fresh(const std::vector<py::ssize_t>& shape) {
  constexpr std::size_t kBig = std::size_t{64} << 10;  // allocators cache smaller ones themselves
  const std::size_t bytes = bytes_of(shape, sizeof(T));
  if (bytes < kBig) return py::array_t<T>(shape);
  Recycler::Block block = recycler().take(bytes);
  auto* data = reinterpret_cast<T*>(block.data());
  return py::array_t<T>(shape, data, owner_of(std::move(block)));
}

}  // namespace recommit::bindings
