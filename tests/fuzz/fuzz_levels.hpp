// What all level parsers promise, whatever the bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/errors.hpp"
#include "core/text/lines.hpp"
#include "core/text/pack.hpp"

/// What both level parsers promise, whatever the bytes: a pack that satisfies `valid` and survives writing and reading
/// in every format, or a LevelError whose place lies in the text. The plain build replays the corpus through it.
namespace recommit::fuzz {

/// Ends a fuzzing run as a crash; the replay shows with planted defects that it does get thrown.
struct BrokenPromise : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require(bool holds, const char* promise) {
  if (!holds) throw BrokenPromise(promise);
}

/// The column may be one behind the end of its line, never further; 0 and 0 are the text as a whole.
inline void check_place(std::string_view bytes, const LevelError& error) {
  if (error.line == 0 && error.column == 0) return;
  require(error.line >= 1 && error.column >= 1, "line and column count from 1");
  std::size_t begin = 0;
  for (int line = 1; line < error.line; ++line) {
    const std::size_t end = bytes.find('\n', begin);
    require(end != std::string_view::npos, "the line exists");
    begin = end + 1;
  }
  const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
  require(static_cast<std::size_t>(error.column) <= end - begin + 1, "the column exists");
}

inline bool writable(const Pack& pack, PackFormat format) {
  try {
    check_titles(pack.titles, format);
    return true;
  } catch (const ValueError&) {
    return false;
  }
}

/// Parse and Format are the functions of one puzzle; valid(cells, shape) its idea of a state.
template <class Parse, class Format, class Valid>
int check_levels(const std::uint8_t* data, std::size_t size, Parse parse, Format format, Valid valid) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Pack pack;
  try {
    pack = parse(Text(bytes));
  } catch (const LevelError& error) {
    check_place(bytes, error);
    return 0;
  }
  require(!pack.shapes.empty() && pack.shapes.size() == pack.titles.size(),
          "a title for each level, at least one level");
  std::size_t cells = 0;
  for (const Shape shape : pack.shapes) {
    require(valid(pack.cells.data() + cells, shape), "an accepted level is valid");
    cells += static_cast<std::size_t>(shape.cells());
  }
  require(cells == pack.cells.size(), "the cells fit the shapes");
  for (const PackFormat each : {PackFormat::Xsb, PackFormat::Boxoban, PackFormat::Plain}) {
    if (!writable(pack, each)) continue;
    const Pack again = parse(Text(format(pack, each)));
    require(again.cells == pack.cells && again.shapes == pack.shapes, "written levels read back the same");
    if (each == PackFormat::Xsb) require(again.titles == pack.titles, "titles read back the same");
  }
  return 0;
}

}  // namespace recommit::fuzz
