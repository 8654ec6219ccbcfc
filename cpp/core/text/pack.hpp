// Puzzle-independent packs of levels as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/kinds.hpp"
#include "core/text/lines.hpp"
#include "core/text/runs.hpp"
#include "core/types.hpp"

/// Puzzle-independent packs of levels as text: which lines are rows, and which level a title belongs to.
namespace recommit {

inline constexpr std::size_t kMaxLevels = std::size_t{1} << 20;
inline constexpr std::size_t kMaxPackCells = std::size_t{64} << 20;

/// Levels one after another: `cells` holds their grids back to back in reading order, with shapes[i] and titles[i].
/// Invariant: cells.size() is the sum of shapes[i].cells(), and there are as many titles as shapes. Not synchronised.
struct Pack {
  std::vector<std::uint8_t> cells;
  std::vector<Shape> shapes;
  std::vector<std::string> titles;
};

/// A puzzle's classification of a line that is not a comment, blank or key line.
enum class LineKind : std::uint8_t { Row, Text, Damaged, Foreign, Spaced };

/// A puzzle's text grammar.
struct PackGrammar {
  LineKind (*kind)(std::string_view line) noexcept;
  int max_rows;
  const char* foreign;         ///< for error messages about a Foreign line
  std::string_view runs = {};  ///< the symbols of rows that may be written as runs
};

/// The rows of one level; views into the text, or into the reader until its next block.
struct Block {
  std::vector<Line> rows;
  std::string_view title;
  bool titled = false;    // by a `Title:`
  bool numbered = false;  // by a number and words below it
};

/// Finds the levels of a text one by one, from top to bottom, without recursion or copying. Not thread-safe.
class PackReader {
 public:
  PackReader(const Text& text, const PackGrammar& grammar)
      : lines_(text), grammar_(grammar), numbers_(side_of_numbers(text, grammar)) {
    advance();
  }

  /// The next run of rows and its title, or false at the end. Throws LevelError.
  bool next(Block& block);

  /// Throws if the line right below the last block's rows looks like a damaged row of it. Call before checking the
  /// block as a whole, since a missing row is then the consequence.
  void check_below() const;

 private:
  enum class Kind : std::uint8_t { End, Comment, Blank, Key, Aside, Row, Text, Damaged, Foreign, Spaced };
  enum class Numbers : std::uint8_t { Above, Below, Either };

  static Numbers side_of_numbers(const Text& text, const PackGrammar& grammar);
  static bool is_aside(Kind kind) noexcept;
  static Kind classify(KindReader& lines, Line& line, const PackGrammar& grammar) noexcept;
  void advance();
  void take_heading();
  void take_rows(Block& block);
  void take_keys_below(Block& block);
  void take_number_below(Block& block);
  void take_header();
  void check_no_header_waits() const;
  [[noreturn]] void refuse_line() const;

  KindReader lines_;
  PackGrammar grammar_;
  Numbers numbers_;                   // position relative to their levels
  std::deque<std::string> unrolled_;  // expanded rows that were written as runs
  Line line_;
  Kind kind_ = Kind::End;
  bool under_row_ = false;      // true if line_ is directly below a row
  std::string_view heading_;    // last comment or text since the last level
  std::string_view key_title_;  // last `Title:` since the last level
  Line header_;                 // a numbered header still without level; number 0: none
};

/// Number of the first line, except comments and key lines, for which `is_row` is true; 0 if there is none.
int first_row(const Text& text, bool (*is_row)(std::string_view) noexcept);

/// Adds a level to the pack, refusing it if a limit of the whole pack would be exceeded. Returns its cells.
std::uint8_t* append_level(Pack& pack, Shape shape, std::string_view title, const Line& first_row);

/// Parses the levels of a text. A puzzle's Draft is constructed from the rows of one level; check(pack) validates it,
/// also against earlier levels, and copy_to(cells) writes it. Throws LevelError.
template <class Draft>
Pack read_pack(const Text& text, const PackGrammar& grammar) {
  Pack pack;
  PackReader reader(text, grammar);
  for (Block block; reader.next(block);) {
    Draft draft(block.rows);
    reader.check_below();
    draft.check(pack);
    draft.copy_to(append_level(pack, draft.shape(), block.title, block.rows.front()));
  }
  if (pack.shapes.empty()) throw LevelError("expected at least one level, got none", 0, 0);
  return pack;
}

/// Format of titles: a line `Title: ...` below each level, a line `; N` above each, or none.
enum class PackFormat : std::uint8_t { Xsb, Boxoban, Plain };

/// Throws ValueError unless the titles survive a round trip in this format; empty ones always do.
void check_titles(const std::vector<std::string>& titles, PackFormat format);

/// A level's rows between its header and its title; `rows` ends with a line feed. A boxoban level without a title gets
/// its index.
void append_text(std::string& out, std::string_view rows, std::string_view title, std::size_t index, PackFormat format);

/// A pack as text; write(out, state, shape, index) checks one level and appends its rows. Throws ValueError.
template <class Write>
std::string write_pack(const Pack& pack, PackFormat format, const Write& write) {
  check_titles(pack.titles, format);
  std::string out, rows;
  const std::uint8_t* state = pack.cells.data();
  for (std::size_t i = 0; i < pack.shapes.size(); ++i) {
    rows.clear();
    write(rows, state, pack.shapes[i], i);
    append_text(out, rows, pack.titles[i], i, format);
    state += pack.shapes[i].cells();
  }
  return out;
}

}  // namespace recommit
