// The bounded Sokoban search alone, without tables, on files of levels. sokoban_search.py builds and runs it; by hand:
//   c++ -O3 -std=c++20 -Icpp -pthread -o sokoban_search bench/solving/sokoban_search.cpp SOURCES
//   (SOURCES: $(find cpp/core cpp/sokoban -name "*.cpp"))
//   ./sokoban_search SECONDS MEBIBYTES NODES FIRST FILE
// Prints one line per level: status, length, lower bound, expanded nodes, bytes, CPU microseconds. Plans are replayed.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "sokoban/search/search.hpp"
#include "sokoban/simulate.hpp"

namespace recommit::sokoban {
namespace {

struct Raw {
  Shape shape;
  std::vector<std::uint8_t> cells;
};

Raw level_of(const std::vector<std::string>& rows) {
  std::size_t width = 0;
  for (const std::string& row : rows) width = row.size() > width ? row.size() : width;
  Raw raw{{static_cast<int>(rows.size()), static_cast<int>(width)},
          std::vector<std::uint8_t>(rows.size() * width, kWall)};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows[i].size(); ++j) {
      const char* symbols = " #.$*@+";
      const char* found = std::strchr(symbols, rows[i][j]);
      if (found != nullptr) raw.cells[i * width + j] = static_cast<std::uint8_t>(found - symbols);
    }
  }
  return raw;
}

std::vector<Raw> read(const char* path) {
  std::ifstream file(path);
  std::vector<Raw> levels;
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    const bool row = !line.empty() && line[0] != ';';
    if (row) rows.push_back(line);
    if (row || rows.empty()) continue;
    levels.push_back(level_of(rows));
    rows.clear();
  }
  if (!rows.empty()) levels.push_back(level_of(rows));
  return levels;
}

bool replay(const Raw& raw, const SearchResult& result) {
  std::vector<std::uint8_t> now = raw.cells;
  int player = find_player(now.data(), raw.shape, 0);
  for (const std::uint8_t action : result.plan) move(now.data(), raw.shape, player, action);
  return is_goal(now.data(), raw.shape) && static_cast<Distance>(result.plan.size()) == result.length;
}

/// False if a plan does not do what it promises.
bool report(const Raw& raw, const Limits& limits, const SearchOptions& options) {
  const std::clock_t begun = std::clock();
  const Level level = Level::of_state(raw.cells.data(), raw.shape);
  State state;
  level.read(raw.cells.data(), state);
  const SearchResult result = search(level, state, limits, options);
  const double micros = 1e6 * static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  std::printf("%d %d %d %" PRIu64 " %" PRIu64 " %.0f\n", static_cast<int>(result.status), result.length,
              result.lower_bound, result.nodes, result.bytes, micros);
  std::fflush(stdout);
  return result.status != Status::Exact || replay(raw, result);
}

}  // namespace
}  // namespace recommit::sokoban

int main(int count, char** words) {
  using namespace recommit;
  if (count != 6) return 2;
  Limits limits;
  limits.seconds = std::atof(words[1]);
  limits.bytes = static_cast<std::uint64_t>(std::atof(words[2]) * 1048576.0);
  limits.nodes = static_cast<std::uint64_t>(std::atof(words[3]));
  sokoban::SearchOptions options;
  options.first = words[4][0] == '1';
  for (const sokoban::Raw& raw : sokoban::read(words[5])) {
    if (!sokoban::report(raw, limits, options)) return 1;
  }
  return 0;
}
