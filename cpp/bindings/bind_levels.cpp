#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bind.hpp"
#include "bindings/gil.hpp"
#include "core/errors.hpp"
#include "core/pack.hpp"
#include "core/text.hpp"
#include "sliding/level_text.hpp"
#include "sokoban/level_text.hpp"

namespace recommit::bindings {
namespace {

constexpr const char* kSliding = "sliding";
constexpr const char* kSokoban = "sokoban";

/// The first row decides which task a text is about.
bool is_sliding(const Text& text) {
  const int tiles = sliding::first_row(text), symbols = sokoban::first_row(text);
  if (tiles == 0 && symbols == 0) throw LevelError("expected at least one level, got none", 0, 0);
  return tiles != 0 && (symbols == 0 || tiles < symbols);
}

py::tuple to_python(const Pack& pack, bool sliding) {
  auto cells = fresh<std::uint8_t>({size(pack.cells.size())});
  std::memcpy(cells.mutable_data(), pack.cells.data(), pack.cells.size());
  auto shapes = fresh<std::int32_t>({size(pack.shapes.size()), 2});
  std::int32_t* to = shapes.mutable_data();
  for (const Shape shape : pack.shapes) {
    *to++ = shape.rows;
    *to++ = shape.cols;
  }
  return py::make_tuple(sliding ? kSliding : kSokoban, cells, shapes, pack.titles);
}

py::tuple parse(const py::bytes& bytes) {
  const std::string_view view = bytes;
  Pack pack;
  bool sliding = false;
  {
    const ReleasedGil release;  // the caller's frame keeps the bytes alive
    const Text text(view);
    sliding = is_sliding(text);
    pack = sliding ? sliding::parse_levels(text) : sokoban::parse_levels(text);
  }
  return to_python(pack, sliding);
}

PackFormat format_named(const std::string& name) {
  if (name == "xsb") return PackFormat::Xsb;
  if (name == "boxoban") return PackFormat::Boxoban;
  if (name == "plain") return PackFormat::Plain;
  throw ValueError("format: expected xsb, boxoban or plain, got '" + name + "'");
}

/// The pack that the arrays describe, once they are known to fit each other.
Pack pack_of(const Array<std::uint8_t>& cells, const Integers& shapes, std::vector<std::string> titles) {
  const py::array flat = typed(cells, "cells", 1, "[cells of all levels]");
  const Narrowed<std::int32_t> sides(shapes, "shapes", {-1, 2}, 0, 64);
  const auto count = static_cast<std::size_t>(sides.shape(0));
  if (titles.size() != count) {
    throw ValueError("titles: expected one for each level, " + std::to_string(count) + ", got " +
                     std::to_string(titles.size()));
  }
  Pack pack;
  std::size_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    pack.shapes.push_back({sides.data()[2 * i], sides.data()[2 * i + 1]});
    total += static_cast<std::size_t>(pack.shapes.back().cells());
  }
  if (total != static_cast<std::size_t>(flat.size())) {
    throw ValueError("cells: expected " + std::to_string(total) + " for these shapes, got " +
                     std::to_string(flat.size()));
  }
  const auto* from = static_cast<const std::uint8_t*>(flat.data());
  pack.cells.assign(from, from + total);
  pack.titles = std::move(titles);
  return pack;
}

py::str format(const std::string& task, const Array<std::uint8_t>& cells, const Integers& shapes,
               std::vector<std::string> titles, const std::string& format_name) {
  if (task != kSliding && task != kSokoban) throw ValueError("task: expected sliding or sokoban, got '" + task + "'");
  const PackFormat format = format_named(format_name);
  const Pack pack = pack_of(cells, shapes, std::move(titles));
  std::string out;
  {
    const ReleasedGil release;  // the pack is a copy
    out = task == kSliding ? sliding::format_levels(pack, format) : sokoban::format_levels(pack, format);
  }
  return py::str(out);
}

}  // namespace

void bind_levels(py::module_& module) {
  module.def(
      "parse_levels", parse, py::arg("text"),
      "task, cells of all levels back to back, shapes[N, 2] and titles of a text; LevelError where it is malformed");
  module.def("format_levels", format, py::arg("task"), py::arg("cells"), py::arg("shapes"), py::arg("titles"),
             py::arg("format"), "the text that parse_levels turns into exactly these levels");
  module.attr("MAX_TEXT_BYTES") = kMaxTextBytes;
}

}  // namespace recommit::bindings
