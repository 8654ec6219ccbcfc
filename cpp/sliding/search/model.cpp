// Loading or construction of the tables and automaton of a shape.
#include "sliding/search/model.hpp"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/errors.hpp"
#include "core/threads/once.hpp"
#include "sliding/patterns/pattern_build.hpp"

namespace recommit::sliding {
namespace {

// Increment when the bytes of a file change: partition, packing, order of the automaton.
constexpr std::uint32_t kTablesVersion = 1;
constexpr std::uint32_t kMovesVersion = 1;

std::string shape_name(Shape shape) { return std::to_string(shape.rows) + "x" + std::to_string(shape.cols); }

Automaton load_automaton(Shape shape) {
  // Longer words have diminishing returns, and the table must fit in the cache beside the patterns.
  const int longest = shape.cells() <= 16 ? 13 : 11;
  TableSource source;
  const TableKey key{"sliding-" + shape_name(shape) + "-moves", kMovesVersion, Automaton::kBytes};
  const Buffer bytes = load_or_make_table(
      key,
      [&] {
        Buffer out(Automaton::kBytes);
        Automaton(shape, longest).bytes(out.data());
        return out;
      },
      source);
  return Automaton(bytes.data());
}

int mirrored(int cell, Shape shape) noexcept { return cell % shape.cols * shape.rows + cell / shape.cols; }

int taxicab(int a, int b, int cols) noexcept { return std::abs(a / cols - b / cols) + std::abs(a % cols - b % cols); }

}  // namespace

Model::Model(Shape shape, Database database, int threads, Watch* watch)
    : shape_(shape), database_(database), moves_(shape), automaton_(load_automaton(shape)) {
  std::size_t offset = 0;
  for (auto& tiles : partition(shape, database)) {
    patterns_.emplace_back(shape, std::move(tiles));
    offsets_.push_back(offset);
    offset += packed_bytes(patterns_.back());
  }
  if (database != Database::Manhattan && patterns_.empty()) {
    throw ValueError("database: expected small for " + shape_name(shape) + " boards, got large (there is one for 4x4)");
  }
  if (!patterns_.empty()) load(threads, watch);
  make_views();
  make_farther();
}

std::size_t table_bytes(Shape shape, Database database) {
  std::size_t sum = 0;
  for (auto& tiles : partition(shape, database)) sum += packed_bytes(Pattern(shape, std::move(tiles)));
  return sum;
}

void Model::load(int threads, Watch* watch) {
  const std::size_t total = offsets_.back() + packed_bytes(patterns_.back());
  const char* kind = database_ == Database::Small ? "small" : "large";
  const TableKey key{"sliding-" + shape_name(shape_) + "-" + kind, kTablesVersion, total};
  tables_ = load_or_make_table(
      key,
      [&] {
        Buffer all(total);
        for (std::size_t p = 0; p < patterns_.size(); ++p) {
          const Buffer one = build_pattern(patterns_[p], threads, watch);
          std::memcpy(all.data() + offsets_[p], one.data(), one.size());
        }
        return all;
      },
      source_);
}

void Model::make_views() {
  for (int v = 0; v < views(); ++v) {
    View& view = views_[static_cast<std::size_t>(v)];
    const int across = v == 0 ? shape_.cols : shape_.rows;
    // Tile t has the role of tile `part` in this view.
    std::array<std::pair<int, int>, kMaxCells> seat{};  // by role: pattern and index in it
    for (int p = 0; p < patterns(); ++p) {
      for (int i = 0; i < pattern(p).count(); ++i) seat[pattern(p).tiles()[static_cast<std::size_t>(i)]] = {p, i};
    }
    const auto part = [&](int tile) {
      return static_cast<std::size_t>(v == 0 ? tile : mirrored(tile - 1, shape_) + 1);
    };
    for (int tile = 1; tile < shape_.cells() && patterns() > 0; ++tile) {
      const auto t = static_cast<std::size_t>(tile);
      const auto [p, i] = seat[part(tile)];
      view.pattern[t] = static_cast<std::uint8_t>(p);
      view.step[t] = {static_cast<std::int32_t>(pattern(p).weight(i)),
                      across * static_cast<std::int32_t>(pattern(p).weight(i))};
      for (int other = 1; other < shape_.cells(); ++other) {
        const auto [q, j] = seat[part(other)];
        view.jump[t][static_cast<std::size_t>(other)] = q == p ? pattern(p).jump(i, j) : 0;
      }
    }
  }
}

void Model::make_farther() {
  for (int tile = 1; tile < shape_.cells(); ++tile) {
    for (int cell = 0; cell < shape_.cells(); ++cell) {
      for (int action = 0; action < kActions; ++action) {
        // The blank comes from the opposite cell, to which the tile moves.
        const int from = moves_.to[static_cast<std::size_t>(cell)][static_cast<std::size_t>(action ^ 1)];
        if (from == cell) continue;
        const bool away = taxicab(from, tile - 1, shape_.cols) > taxicab(cell, tile - 1, shape_.cols);
        std::uint8_t& bits = farther_[static_cast<std::size_t>(tile)][static_cast<std::size_t>(cell)];
        bits = static_cast<std::uint8_t>(bits | (away ? 1U << action : 0U));
      }
    }
  }
}

int Model::manhattan(const std::uint8_t* state) const noexcept {
  int sum = 0;
  for (int cell = 0; cell < shape_.cells(); ++cell) {
    if (state[cell] != 0) sum += taxicab(cell, state[cell] - 1, shape_.cols);
  }
  return sum;
}

void Model::ranks(const std::uint8_t* state, int view, std::uint32_t* out) const noexcept {
  std::array<std::uint8_t, kMaxCells> cell_of{};
  for (int cell = 0; cell < shape_.cells(); ++cell) {
    if (state[cell] == 0) continue;
    const int tile = view == 0 ? state[cell] : mirrored(state[cell] - 1, shape_) + 1;
    cell_of[static_cast<std::size_t>(tile)] = static_cast<std::uint8_t>(view == 0 ? cell : mirrored(cell, shape_));
  }
  for (int p = 0; p < patterns(); ++p) {
    std::array<std::uint8_t, kMaxPattern> cells{};
    for (int i = 0; i < pattern(p).count(); ++i) {
      cells[static_cast<std::size_t>(i)] = cell_of[pattern(p).tiles()[static_cast<std::size_t>(i)]];
    }
    out[p] = pattern(p).rank(cells.data());
  }
}

namespace {

using Models = Once<std::array<int, 3>, Model>;

Models& models() {
  static auto& all = forever(new Models);
  return all;
}

std::array<int, 3> key_of(Shape shape, Database database) {
  return {shape.rows, shape.cols, static_cast<int>(database)};
}

}  // namespace

std::shared_ptr<const Model> Model::shared(Shape shape, Database database, int threads, Watch* watch) {
  return models().get(key_of(shape, database), watch,
                      [&] { return std::make_shared<const Model>(shape, database, threads, watch); });
}

bool Model::is_loaded(Shape shape, Database database) { return models().peek(key_of(shape, database)) != nullptr; }

}  // namespace recommit::sliding
