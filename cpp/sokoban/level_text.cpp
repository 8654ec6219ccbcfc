// The grammar of Sokoban levels: symbols to cells and back.
#include "sokoban/level_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/errors.hpp"
#include "core/grid.hpp"
#include "sokoban/simulate.hpp"

namespace recommit::sokoban {
namespace {

constexpr std::string_view kSymbols = " #.$*@+";  // by cell code
constexpr std::string_view kFloors = " -_";
constexpr std::string_view kRunSymbols = " #.$*@+-_";
constexpr std::uint8_t kVoid = kCells;  // beyond the end of a row

int code_of(char c) noexcept {
  if (kFloors.find(c) != std::string_view::npos) return kFloor;
  const std::size_t at = kSymbols.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

LineKind kind(std::string_view line) noexcept {
  const char first = line[first_symbol(line)];
  if (kSymbols.substr(1).find(first) != std::string_view::npos) return LineKind::Row;
  const Runs runs = runs_of(line, kRunSymbols);
  if (runs == Runs::Yes) return LineKind::Row;
  if (is_number_row(line)) return LineKind::Foreign;
  if (runs == Runs::Spaced) return LineKind::Spaced;
  return line.find("##") != std::string_view::npos ? LineKind::Damaged : LineKind::Text;
}

bool is_row(std::string_view line) noexcept {
  const LineKind what = kind(line);
  return what == LineKind::Row || what == LineKind::Damaged || what == LineKind::Spaced;
}

constexpr PackGrammar kGrammar{kind, kMaxSide, "a row of numbers among Sokoban levels", kRunSymbols};

/// Width of a row without trailing floor.
std::size_t row_width(std::string_view row) noexcept { return row.find_last_not_of(kFloors) + 1; }

struct Place {
  int row = 0, col = 0;
};

/// A level being parsed: cell codes, kVoid beyond the rows' ends, in rows of 64.
class Draft {
 public:
  explicit Draft(const std::vector<Line>& rows) : rows_(rows), height_(static_cast<int>(rows.size())) {
    for (int row = 0; row < height_; ++row) read_row(row);
  }

  Shape shape() const noexcept { return {height_, width_}; }

  void check(const Pack&) {
    const Place player = check_counts();
    mark_outside();
    if (outside(player)) {
      throw error(find_leak(player), "expected the player's region to be enclosed by walls, got an opening here");
    }
    for_each([&](Place at) {
      if (outside(at) && (is_box(cell(at)) || has_goal(cell(at)))) {
        throw error(at, std::string("expected ") + (is_box(cell(at)) ? "a box" : "a goal") +
                            " inside the walls, got one outside");
      }
    });
  }

  void copy_to(std::uint8_t* out) const noexcept {
    for_each([&](Place at) { *out++ = outside(at) ? static_cast<std::uint8_t>(kWall) : cell(at); });
  }

 private:
  using Grid = std::array<std::uint8_t, std::size_t{kMaxSide} * kMaxSide>;

  static std::size_t index(Place at) noexcept { return static_cast<std::size_t>(at.row * kMaxSide + at.col); }
  bool inside_grid(Place at) const noexcept {
    return at.row >= 0 && at.row < height_ && at.col >= 0 && at.col < width_;
  }
  std::uint8_t cell(Place at) const noexcept { return cells_[index(at)]; }
  bool outside(Place at) const noexcept { return outside_[index(at)] != 0; }

  template <class Visit>
  void for_each(Visit visit) const {
    for (int row = 0; row < height_; ++row) {
      for (int col = 0; col < width_; ++col) visit(Place{row, col});
    }
  }

  LevelError error(Place at, const std::string& what) const {
    return error_at(rows_[static_cast<std::size_t>(at.row)], static_cast<std::size_t>(at.col), what);
  }

  void read_row(int row) {
    const Line& line = rows_[static_cast<std::size_t>(row)];
    const std::size_t width = row_width(line.text);
    std::fill_n(cells_.begin() + row * kMaxSide, kMaxSide, kVoid);
    for (std::size_t col = 0; col < width; ++col) {
      if (col == kMaxSide) {
        throw error_at(line, col, "expected at most 64 columns, got " + std::to_string(width));
      }
      const int code = code_of(line.text[col]);
      if (code < 0) refuse_char(line, col);
      cells_[index({row, static_cast<int>(col)})] = static_cast<std::uint8_t>(code);
    }
    width_ = std::max(width_, static_cast<int>(width));
  }

  [[noreturn]] static void refuse_char(const Line& line, std::size_t col) {
    if (line.text[col] == '\t') throw error_at(line, col, "a tab in a row has no defined width; use spaces");
    throw error_at(line, col, "unknown character " + describe_char(line.text, col));
  }

  /// Checks for one player, and equally many boxes and goals, at least one. Returns the player's position.
  Place check_counts() const {
    int players = 0, boxes = 0, goals = 0;
    Place player;
    for_each([&](Place at) {
      const std::uint8_t code = cell(at);
      if (code == kVoid) return;
      boxes += is_box(code);
      goals += has_goal(code);
      if (code < kPlayer) return;
      if (++players == 2) throw error(at, "expected one player, got a second one");
      player = at;
    });
    if (players == 0) throw error({}, "expected one player, got none");
    if (boxes != goals) {
      throw error({}, "expected as many boxes as goals, got " + std::to_string(boxes) + " boxes and " +
                          std::to_string(goals) + " goals");
    }
    if (boxes == 0) throw error({}, "expected at least one box, got none");
    return player;
  }

  /// Calls visit once for every cell connected to the start through `passable` cells.
  template <class Passable>
  void flood(Place start, Grid& seen, Passable passable) const {
    if (seen[index(start)] != 0 || !passable(start)) return;
    std::vector<Place> open{start};
    seen[index(start)] = 1;
    while (!open.empty()) {
      const Place from = open.back();
      open.pop_back();
      for (int action = 0; action < kActions; ++action) {
        const Place to{from.row + kRowStep[action], from.col + kColStep[action]};
        if (!inside_grid(to) || seen[index(to)] != 0 || !passable(to)) continue;
        seen[index(to)] = 1;
        open.push_back(to);
      }
    }
  }

  /// Marks everything reachable from the edge without crossing a wall.
  void mark_outside() {
    outside_.fill(0);
    const auto passable = [this](Place at) { return cell(at) != kWall; };
    for_each([&](Place at) {
      const bool edge = at.row == 0 || at.col == 0 || at.row == height_ - 1 || at.col == width_ - 1;
      if (edge) flood(at, outside_, passable);
    });
  }

  /// The first cell of the player's region with a neighbour outside.
  Place find_leak(Place player) const {
    Grid region{};
    flood(player, region, [this](Place at) { return cell(at) != kWall && cell(at) != kVoid; });
    Place leak = player;
    bool leaks = false;
    for_each([&](Place at) {
      if (leaks || region[index(at)] == 0) return;
      for (int action = 0; action < kActions; ++action) {
        const Place to{at.row + kRowStep[action], at.col + kColStep[action]};
        leaks = leaks || !inside_grid(to) || cell(to) == kVoid;
      }
      if (leaks) leak = at;
    });
    return leak;
  }

  const std::vector<Line>& rows_;
  int height_ = 0, width_ = 0;
  Grid cells_;    // filled row by row
  Grid outside_;  // filled by mark_outside
};

std::string state_name(std::size_t index) { return "states[" + std::to_string(index) + "]: "; }

/// Checks the invariants of parse_levels for a caller's state.
void check_state(const std::uint8_t* state, Shape shape, std::size_t index) {
  const int gap = first_gap(state, shape, kWall);
  if (gap >= 0) {
    throw ValueError(state_name(index) + "expected walls (1) all around, got " + std::to_string(state[gap]) + " at " +
                     place_name(gap / shape.cols, gap % shape.cols));
  }
  int boxes = 0, goals = 0;
  for (int i = 0; i < shape.cells(); ++i) {
    boxes += is_box(state[i]);
    goals += has_goal(state[i]);
  }
  if (boxes != goals || boxes == 0) {
    throw ValueError(state_name(index) + "expected at least one box and as many goals, got " + std::to_string(boxes) +
                     " boxes and " + std::to_string(goals) + " goals");
  }
}

void append_state(std::string& out, const std::uint8_t* state, Shape shape, std::size_t index) {
  check_shape(shape);
  find_player(state, shape, index);
  check_state(state, shape, index);
  append_rows(out, state, shape, kSymbols.data());
}

}  // namespace

Pack parse_levels(const Text& text) { return read_pack<Draft>(text, kGrammar); }

int first_row(const Text& text) { return recommit::first_row(text, is_row); }

bool owns(std::string_view line) noexcept { return kind(line) == LineKind::Row; }

bool recognises(const std::uint8_t* state, Shape shape) noexcept {
  const auto is_player = [](std::uint8_t cell) { return cell == kPlayer || cell == kPlayerOnGoal; };
  return std::any_of(state, state + shape.cells(), is_player);
}

std::string format_levels(const Pack& pack, PackFormat format) { return write_pack(pack, format, append_state); }

}  // namespace recommit::sokoban
