// Python bindings for level files: detection of the puzzle, and packs as arrays.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/bind.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/gil.hpp"
#include "core/errors.hpp"
#include "core/table_file.hpp"
#include "core/text/lines.hpp"
#include "core/text/pack.hpp"

namespace recommit::bindings {
namespace {

/// The puzzle of a text, determined by its first row.
const PuzzleBinding& puzzle_of(const Text& text) {
  const PuzzleBinding* owner = nullptr;
  int first = 0;
  for (const PuzzleBinding& each : puzzles()) {
    const int row = each.scribe.first_row(text);
    if (row == 0 || (first != 0 && row >= first)) continue;
    first = row;
    owner = &each;
  }
  if (owner == nullptr) throw LevelError("expected at least one level, got none", 0, 0);
  return *owner;
}

/// Refuse rows of other puzzles, which would be taken for titles. Runs after parsing, since the grammar's own errors
/// are more precise.
void check_one_task(const Text& text, const PuzzleBinding& puzzle) {
  for (const PuzzleBinding& each : puzzles()) {
    if (each.task == puzzle.task) continue;
    const int row = first_row(text, each.scribe.owns);
    if (row == 0) continue;
    throw LevelError("line " + std::to_string(row) + ", column 1: expected levels of one task, got a row of " +
                         each.task + " among " + puzzle.task + " levels",
                     row, 1);
  }
}

const PuzzleBinding& puzzle_named(const std::string& task) {
  std::string names;
  for (const PuzzleBinding& each : puzzles()) {
    if (each.task == task) return each;
    names += (names.empty() ? "" : ", ") + std::string(each.task);
  }
  throw ValueError("task: expected one of " + names + ", got '" + task + "'");
}

py::tuple to_python(const Pack& pack, const char* task) {
  auto cells = fresh<std::uint8_t>({size(pack.cells.size())});
  std::memcpy(cells.mutable_data(), pack.cells.data(), pack.cells.size());
  auto shapes = fresh<std::int32_t>({size(pack.shapes.size()), 2});
  std::int32_t* to = shapes.mutable_data();
  for (const Shape shape : pack.shapes) {
    *to++ = shape.rows;
    *to++ = shape.cols;
  }
  return py::make_tuple(task, cells, shapes, pack.titles);
}

py::tuple parse(const py::bytes& bytes) {
  const std::string_view view = bytes;
  Pack pack;
  const PuzzleBinding* puzzle = nullptr;
  {
    const ReleasedGil release;  // the caller's frame keeps the bytes alive
    const Text text(view);
    puzzle = &puzzle_of(text);
    pack = puzzle->scribe.parse(text);
    check_one_task(text, *puzzle);
  }
  return to_python(pack, puzzle->task);
}

/// The task of these cells: the first, in the order of names, that recognises them; None if none does.
py::object recognise(const Array<std::uint8_t>& state_) {
  const py::array state = typed(state_, "state", 2, "[rows, columns]");
  const Shape shape{static_cast<int>(std::min<py::ssize_t>(state.shape(0), 1 << 14)),
                    static_cast<int>(std::min<py::ssize_t>(state.shape(1), 1 << 14))};
  for (const PuzzleBinding& each : puzzles()) {
    if (each.scribe.recognises(static_cast<const std::uint8_t*>(state.data()), shape)) return py::str(each.task);
  }
  return py::none();
}

PackFormat format_named(const std::string& name) {
  if (name == "xsb") return PackFormat::Xsb;
  if (name == "boxoban") return PackFormat::Boxoban;
  if (name == "plain") return PackFormat::Plain;
  throw ValueError("format: expected xsb, boxoban or plain, got '" + name + "'");
}

/// The pack described by the arrays, after checking their consistency.
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
  const PuzzleBinding& puzzle = puzzle_named(task);
  const PackFormat format = format_named(format_name);
  const Pack pack = pack_of(cells, shapes, std::move(titles));
  std::string out;
  {
    const ReleasedGil release;  // the pack is a copy
    out = puzzle.scribe.format(pack, format);
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
  module.def("recognise", recognise, py::arg("state"),
             "the task whose state this is, as far as its cells can tell; None where they cannot");
  module.attr("MAX_TEXT_BYTES") = kMaxTextBytes;
  module.def(
      "cache_folder",
      [] {
        PyObject* name = PyUnicode_DecodeFSDefault(cache_folder().string().c_str());
        if (name == nullptr) throw py::error_already_set();
        return py::reinterpret_steal<py::str>(name);
      },
      "where tables and imported levels are kept; empty if there is no place for them");
}

}  // namespace recommit::bindings
