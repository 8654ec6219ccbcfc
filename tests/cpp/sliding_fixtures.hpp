// What the sliding tests share.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/rng.hpp"
#include "core/types.hpp"
#include "sliding/simulate.hpp"

/// What the sliding tests share.
namespace fixtures {

using recommit::Rng;
using recommit::Shape;

/// A folder of its own for cached tables, removed at the end; $RECOMMIT_CACHE points to it meanwhile.
class CacheFolder {
 public:
  explicit CacheFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("recommit-test-" + std::to_string(std::random_device{}()) + "-" + name)) {
    std::filesystem::create_directories(path_);
#if defined(_WIN32)
    _putenv_s("RECOMMIT_CACHE", path_.string().c_str());
#else
    setenv("RECOMMIT_CACHE", path_.c_str(), 1);
#endif
  }
  ~CacheFolder() { std::filesystem::remove_all(path_); }
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

using Board = std::vector<std::uint8_t>;

inline Board goal(Shape shape) {
  Board board(static_cast<std::size_t>(shape.cells()));
  for (std::size_t i = 0; i < board.size(); ++i) board[i] = static_cast<std::uint8_t>((i + 1) % board.size());
  return board;
}

/// Takes `action`; false where the border blocks it.
inline bool move(Board& board, Shape shape, int action) {
  const recommit::sliding::Moves moves(shape);
  std::size_t blank = 0;
  while (board[blank] != 0) ++blank;
  const std::size_t to = moves.to[blank][static_cast<std::size_t>(action)];
  std::swap(board[blank], board[to]);
  return to != blank;
}

/// Boards from walks of `steps` random actions, one after the other in one array.
inline Board walks(Shape shape, std::size_t count, int steps, std::uint64_t seed) {
  Board all;
  for (std::size_t i = 0; i < count; ++i) {
    Board board = goal(shape);
    Rng rng(seed, recommit::Purpose::Test, i);
    for (int k = 0; k < steps; ++k) move(board, shape, static_cast<int>(rng.below(4)));
    all.insert(all.end(), board.begin(), board.end());
  }
  return all;
}

/// The published instances with their lengths, as many as there are; none where the shared data are absent.
inline std::vector<std::pair<int, Board>> korf() {
  const char* variable = std::getenv("RECOMMIT_SHARED");
  std::vector<std::filesystem::path> folders;
  if (variable != nullptr) folders.emplace_back(variable);
  // From the sources or a build folder inside them: the data lie beside the repository.
  for (const char* up : {"../shared", "../../../shared", "../../../../shared"}) folders.emplace_back(up);
  std::vector<std::pair<int, Board>> out;
  for (const auto& folder : folders) {
    std::ifstream in(folder / "data" / "korf50.txt");
    for (std::string line; std::getline(in, line);) {
      if (line.empty() || line[0] == '#') continue;
      std::istringstream fields(line);
      int index = 0, length = 0, tile = 0;
      fields >> index >> length;
      Board board;
      while (fields >> tile) board.push_back(static_cast<std::uint8_t>(tile));
      out.emplace_back(length, board);
    }
    if (!out.empty()) break;
  }
  return out;
}

}  // namespace fixtures
