// Tables on disk: they come back, and every damage is found.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "sokoban/solver.hpp"
#include "sokoban/table/table_store.hpp"
#include "sokoban_fixtures.hpp"

using namespace recommit;
using namespace recommit::sokoban;
using fixtures::random_level;
using fixtures::Raw;
namespace fs = std::filesystem;

namespace {

/// A folder of this test's own, gone at the end.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("recommit-store-" + std::to_string(std::random_device{}()) + "-" +
                                               std::to_string(reinterpret_cast<std::uintptr_t>(this)));
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }
  std::size_t files() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : fs::directory_iterator(path)) ++count;
    return count;
  }
};

std::string slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void spill(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// A snake of corridors: its distances need two bytes.
Raw snake() {
  Raw raw{{40, 20}, std::vector<std::uint8_t>(800, kWall)};
  for (std::size_t row = 1; row < 39; ++row) {
    if (row % 2 == 1) {
      for (std::size_t col = 1; col < 19; ++col) raw.cells[row * 20 + col] = kFloor;
    } else {
      raw.cells[row * 20 + (row % 4 == 0 ? 1 : 18)] = kFloor;
    }
  }
  raw.cells[20 + 5] = kBox;
  raw.cells[20 + 9] = kGoal;
  raw.cells[37 * 20 + 2] = kPlayer;
  return raw;
}

bool same(const Table& a, const Table& b) {
  return a.bytes() == b.bytes() && a.solvable() == b.solvable() && a.max_distance() == b.max_distance() &&
         std::equal(a.data(), a.data() + a.bytes(), b.data());
}

}  // namespace

TEST(tables_come_back_as_they_went) {
  const Folder folder;
  const TableStore store(folder.path);
  for (const Raw& raw : {random_level(4, {8, 8}, 2, 10), snake()}) {
    const Level level = Level::of_state(raw.data(), raw.shape);
    State state;
    level.read(raw.data(), state);
    const int boxes = static_cast<int>(state.boxes.size());
    const Built built = TableBuilder().build(level, boxes);
    std::string note;
    CHECK(store.load(level, boxes, note) == nullptr && note.empty());
    CHECK(store.save(level, *built.table, note) && note.empty());
    const auto loaded = store.load(level, boxes, note);
    CHECK(loaded != nullptr && note.empty() && same(*loaded, *built.table));
    CHECK(loaded->wide() == (raw.shape.rows == 40) && loaded->distance(state) == built.table->distance(state));
  }
  CHECK(folder.files() == 2);
}

TEST(every_damage_is_found) {
  const Folder folder;
  const TableStore store(folder.path);
  const Raw raw = random_level(4, {6, 6}, 1, 10);
  const Level level = Level::of_state(raw.data(), raw.shape);
  std::string note;
  CHECK(store.save(level, *TableBuilder().build(level, 1).table, note));
  const fs::path path = store.path(level, 1, false);
  const std::string good = slurp(path);
  for (std::size_t byte = 0; byte < good.size(); ++byte) {
    std::string bad = good;
    bad[byte] = static_cast<char>(bad[byte] ^ (1 << (byte % 8)));
    spill(path, bad);
    note.clear();
    CHECK(store.load(level, 1, note) == nullptr && !note.empty());
  }
  for (std::size_t length = 0; length < good.size(); length += 7) {
    spill(path, good.substr(0, length));
    note.clear();
    CHECK(store.load(level, 1, note) == nullptr && !note.empty());
  }
  spill(path, good + "x");
  note.clear();
  CHECK(store.load(level, 1, note) == nullptr && !note.empty());
  spill(path, good);
  note.clear();
  CHECK(store.load(level, 1, note) != nullptr && note.empty());
}

TEST(a_file_of_another_level_is_not_believed) {
  const Folder folder;
  const TableStore store(folder.path);
  const Raw a = fixtures::parse("#######/#@ $ .#/#     #/#######"),
            b = fixtures::parse("#######/#@ $. #/#     #/#######");
  const Level first = Level::of_state(a.data(), a.shape), second = Level::of_state(b.data(), b.shape);
  std::string note;
  CHECK(store.save(first, *TableBuilder().build(first, 1).table, note));
  fs::rename(store.path(first, 1, false), store.path(second, 1, false));  // as if their hashes were equal
  CHECK(store.load(second, 1, note) == nullptr);
}

TEST(a_cache_loads_instead_of_building_and_repairs_what_is_damaged) {
  const Folder folder;
  const Raw raw = random_level(4, {8, 8}, 2, 10);
  const Level level = Level::of_state(raw.data(), raw.shape);
  Distance expected = 0, d = 0;
  {
    TableCache cache;
    cache.set_folder(folder.path.string());
    Solver(cache).distance(raw.data(), raw.shape, &expected, {0, 1});
    CHECK(cache.stats().builds == 1 && cache.stats().loads == 0);
  }
  const fs::path path = TableStore(folder.path).path(level, 2, false);
  for (const bool damage : {false, true, false}) {
    if (damage) {
      std::string bytes = slurp(path);
      bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
      spill(path, bytes);
    }
    TableCache cache;
    cache.set_folder(folder.path.string());
    Solver(cache).distance(raw.data(), raw.shape, &d, {0, 1});
    CHECK(d == expected);
    CHECK(cache.stats().builds == (damage ? 1U : 0U) && cache.stats().loads == (damage ? 0U : 1U));
    CHECK(cache.stats().damaged == (damage ? 1U : 0U) && cache.stats().note.empty() != damage);
  }
}

TEST(a_folder_that_cannot_be_written_is_no_obstacle) {
  const Folder folder;
  spill(folder.path, "a file where a folder is wanted");
  const Raw raw = random_level(4, {8, 8}, 2, 10);
  TableCache cache;
  cache.set_folder(folder.path.string());
  Distance d = 0;
  Solver(cache).distance(raw.data(), raw.shape, &d, {0, 1});
  CHECK(d != kUnknown && cache.stats().builds == 1 && cache.stats().damaged == 1);
}

TEST_MAIN
