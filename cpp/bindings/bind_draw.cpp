// Python bindings for pictures and patches of any puzzle.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "bindings/bind.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/run.hpp"
#include "core/draw/atlas.hpp"
#include "core/draw/frame.hpp"
#include "core/draw/patches.hpp"
#include "core/memory/stream.hpp"

namespace recommit::bindings {
namespace {

constexpr std::size_t kCheckGrain = 512;          // states per chunk where only states are read
constexpr std::size_t kPieceBytes = 1024 * 1024;  // of results per chunk

std::size_t grain(std::size_t bytes_per_item) {
  return std::max<std::size_t>(1, kPieceBytes / std::max<std::size_t>(1, bytes_per_item));
}

using ByteArray = Array<std::uint8_t>;

struct Look {
  Look(const Artist& artist, int cell_, const std::string& theme)
      : cell(cell_), sprites(atlas(artist.sprites(), cell_, theme_named(theme))) {}
  int cell;
  std::shared_ptr<const Atlas> sprites;
};

/// A batch of states checked to be drawable.
struct Scene {
  Scene(const Artist& artist, const ByteArray& argument, bool crop, const Threads& threads)
      : from(states(argument)), view(artist.view(from.shape, crop)) {
    run(from.count, threads, kCheckGrain,
        [&](std::size_t begin, std::size_t end) { artist.check_drawable(view, from.data, begin, end); });
  }
  std::vector<py::ssize_t> shape(int cell) const {
    return {size(from.count), py::ssize_t{view.rows()} * cell, py::ssize_t{view.cols()} * cell, 3};
  }
  States from;
  View view;
};

/// The caller's array, or a new one. It must not overlap the states that are still to be drawn.
template <class T>
py::object result(const std::optional<Array<T>>& out, const std::vector<py::ssize_t>& shape, const States& from,
                  T*& data) {
  if (out) {
    data = destination(*out, "out", shape);
    check_apart(py::reinterpret_borrow<py::array>(out->object), "out", from, "states");
    return out->object;
  }
  auto fresh_array = fresh<T>(shape);
  data = fresh_array.mutable_data();
  return fresh_array;
}

py::object render(const Artist& artist, const ByteArray& states_, int cell, const std::string& theme, bool crop,
                  const std::optional<ByteArray>& out, const Threads& threads) {
  const Look look(artist, cell, theme);
  const Scene scene(artist, states_, crop, threads);
  std::uint8_t* to = nullptr;
  py::object images = result(out, scene.shape(cell), scene.from, to);
  const std::size_t bytes = scene.view.bytes(cell);
  const bool stream = bytes * scene.from.count >= kStreamBytes;
  run(scene.from.count, threads, grain(bytes), [&](std::size_t begin, std::size_t end) {
    draw_frames(*look.sprites, scene.view, scene.from.data, to, stream, begin, end);
  });
  return images;
}

/// Grid size for pictures of this size.
Shape grid_of(const py::array& images, int cell, bool crop) {
  const auto side = [&](py::ssize_t axis) {
    return static_cast<int>(
        std::min<py::ssize_t>(images.shape(axis) / cell + (crop ? 2 : 0), std::numeric_limits<std::int16_t>::max()));
  };
  if (images.shape(3) != 3 || images.shape(1) % cell != 0 || images.shape(2) % cell != 0) {
    throw ValueError("images: expected shape (N, rows * " + std::to_string(cell) + ", columns * " +
                     std::to_string(cell) + ", 3), got " + shape_text(images));
  }
  return {side(1), side(2)};
}

py::object decode(const Artist& artist, const ByteArray& images_, int cell, const std::string& theme, bool crop,
                  const Threads& threads) {
  const Look look(artist, cell, theme);
  const py::array images = typed(images_, "images", 4, "[N, height, width, 3]");
  const View view = artist.view(grid_of(images, cell, crop), crop);
  const auto count = static_cast<std::size_t>(images.shape(0));
  auto out = fresh<std::uint8_t>({size(count), view.grid.rows, view.grid.cols});
  std::uint8_t* to = out.mutable_data();
  const auto* from = static_cast<const std::uint8_t*>(images.data());
  run(count, threads, grain(view.bytes(cell)), [&](std::size_t begin, std::size_t end) {
    read_frames(*look.sprites, view, artist.outside, from, to, begin, end);
    artist.check_read(view, to, begin, end);
  });
  return out;
}

/// All states are checked before the first pixel changes, except those equal to the drawn ones.
void redraw(const Artist& artist, const ByteArray& states_, const ByteArray& drawn_, const ByteArray& images_, int cell,
            const std::string& theme, bool crop, const Threads& threads) {
  const Look look(artist, cell, theme);
  const States from = states(states_);
  const View view = artist.view(from.shape, crop);
  std::uint8_t* drawn = destination(drawn_, "drawn", {size(from.count), from.shape.rows, from.shape.cols});
  std::uint8_t* images = destination(
      images_, "images", {size(from.count), py::ssize_t{view.rows()} * cell, py::ssize_t{view.cols()} * cell, 3});
  const States before{drawn, from.count, from.shape};
  check_apart(as_array(images_.object, "images"), "images", from, "states");
  check_apart(as_array(images_.object, "images"), "images", before, "drawn");
  check_apart(as_array(drawn_.object, "drawn"), "drawn", from, "states");
  run(from.count, threads, kCheckGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t at = i * view.cells();
      if (std::memcmp(from.data + at, drawn + at, view.cells()) != 0) artist.check_drawable(view, from.data, i, i + 1);
    }
  });
  run(from.count, threads, 64, [&](std::size_t begin, std::size_t end) {
    redraw_frames(*look.sprites, view, from.data, drawn, images, begin, end);
  });
}

/// One row (1, patches down, patches across) per picture.
py::array_t<std::int64_t> patch_grid(const View& view, int cell, std::size_t count) {
  auto grid = fresh<std::int64_t>({size(count), 3});
  std::int64_t* to = grid.mutable_data();
  for (std::size_t i = 0; i < count; ++i, to += 3) {
    to[0] = 1;
    to[1] = view.rows() * cell / kPatch;
    to[2] = view.cols() * cell / kPatch;
  }
  return grid;
}

template <class T>
py::tuple patches(const Artist& artist, const ByteArray& states_, int cell, const std::string& theme, bool crop,
                  const std::optional<Array<T>>& out, const Threads& threads) {
  const Look look(artist, cell, theme);
  const Scene scene(artist, states_, crop, threads);
  check_patches(scene.view, cell);
  const std::size_t rows = patch_rows(scene.view, cell), bytes = rows * kPatchValues * sizeof(T);
  T* to = nullptr;
  const py::object values = result<T>(out, {size(scene.from.count * rows), size(kPatchValues)}, scene.from, to);
  const bool stream = bytes * scene.from.count >= kStreamBytes;
  run(scene.from.count, threads, grain(bytes), [&](std::size_t begin, std::size_t end) {
    draw_patches(look.sprites, scene.view, scene.from.data, to, stream, begin, end);
  });
  return py::make_tuple(values, patch_grid(scene.view, cell, scene.from.count));
}

template <class T>
void define_patches(py::module_& module, const Artist& artist, const char* name) {
  module.def(
      name,
      [artist](const ByteArray& states_, int cell, const std::string& theme, bool crop,
               const std::optional<Array<T>>& out,
               const Threads& threads) { return patches<T>(artist, states_, cell, theme, crop, out, threads); },
      py::arg("states"), py::kw_only(), py::arg("cell"), py::arg("theme"), py::arg("crop"), py::arg("out") = py::none(),
      py::arg("threads") = py::none(),
      "(pixel_values, image_grid_thw) of the drawn states, as the Qwen2.5-VL image processor makes them");
}

}  // namespace

void define_artist(py::module_& module, const Artist& artist) {
  module.def(
      "render",
      [artist](const ByteArray& states_, int cell, const std::string& theme, bool crop,
               const std::optional<ByteArray>& out,
               const Threads& threads) { return render(artist, states_, cell, theme, crop, out, threads); },
      py::arg("states"), py::kw_only(), py::arg("cell"), py::arg("theme"), py::arg("crop"), py::arg("out") = py::none(),
      py::arg("threads") = py::none(), "uint8[N, rows * cell, columns * cell, 3]: a picture of each state");
  module.def(
      "decode",
      [artist](const ByteArray& images, int cell, const std::string& theme, bool crop, const Threads& threads) {
        return decode(artist, images, cell, theme, crop, threads);
      },
      py::arg("images"), py::kw_only(), py::arg("cell"), py::arg("theme"), py::arg("crop"),
      py::arg("threads") = py::none(), "the states that pictures show");
  module.def(
      "redraw",
      [artist](const ByteArray& states_, const ByteArray& drawn, const ByteArray& images, int cell,
               const std::string& theme, bool crop,
               const Threads& threads) { redraw(artist, states_, drawn, images, cell, theme, crop, threads); },
      py::arg("states"), py::arg("drawn"), py::arg("images"), py::kw_only(), py::arg("cell"), py::arg("theme"),
      py::arg("crop"), py::arg("threads") = py::none(),
      "draws into `images` the cells in which `states` differs from `drawn`, and updates `drawn`");
  define_patches<float>(module, artist, "patches_float32");
  define_patches<std::uint16_t>(module, artist, "patches_bfloat16");
}

}  // namespace recommit::bindings
