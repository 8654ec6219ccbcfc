// Levels for the Sokoban tests: from text, at random, or known.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "core/rng.hpp"
#include "core/types.hpp"
#include "sokoban/simulate.hpp"

/// Levels for the Sokoban tests: drawn from text, at random, or read from the known answers.
namespace fixtures {

struct Raw {
  recommit::Shape shape;
  std::vector<std::uint8_t> cells;
  const std::uint8_t* data() const { return cells.data(); }
};

/// Rows separated by '/', or by line ends, in the usual characters.
inline Raw parse(const std::string& text) {
  static const std::string codes = " #.$*@+";
  Raw raw;
  int cols = 0;
  for (const char c : text + "/") {
    if (c == '/') {
      raw.shape = {raw.shape.rows + 1, cols};
      cols = 0;
    } else {
      raw.cells.push_back(static_cast<std::uint8_t>(codes.find(c)));
      ++cols;
    }
  }
  return raw;
}

/// A walled rectangle with `walls` percent of random walls inside; boxes, goals and player anywhere, so that goals out
/// of reach, boxes in dead corners, pockets and solved states all occur.
inline Raw random_level(std::uint64_t index, recommit::Shape shape, int boxes, std::uint32_t walls) {
  using namespace recommit::sokoban;
  recommit::Rng rng(2024, recommit::Purpose::Test, index);
  for (;;) {
    Raw raw{shape, std::vector<std::uint8_t>(static_cast<std::size_t>(shape.cells()), kWall)};
    std::vector<std::size_t> open;
    for (int row = 1; row + 1 < shape.rows; ++row) {
      for (int col = 1; col + 1 < shape.cols; ++col) {
        if (rng.below(100) >= walls) open.push_back(static_cast<std::size_t>(row * shape.cols + col));
      }
    }
    const auto needed = static_cast<std::size_t>(boxes);
    if (open.size() < needed + 1) continue;
    for (const std::size_t cell : open) raw.cells[cell] = kFloor;
    rng.shuffle(open);
    for (std::size_t i = 0; i < needed; ++i) raw.cells[open[i]] = kGoal;
    rng.shuffle(open);
    for (std::size_t i = 0; i < needed; ++i) raw.cells[open[i]] = has_goal(raw.cells[open[i]]) ? kBoxOnGoal : kBox;
    raw.cells[open[needed]] = has_goal(raw.cells[open[needed]]) ? kPlayerOnGoal : kPlayer;
    return raw;
  }
}

/// The folder of known answers; empty if there is none here.
inline std::string shared_folder() {
  const char* set = std::getenv("RECOMMIT_SHARED");
  for (const std::string& folder :
       {std::string(set == nullptr ? "" : set), std::string("../shared"), std::string("../../shared"),
        std::string("../../../shared"), std::string("../../../../shared")}) {
    if (!folder.empty() && std::ifstream(folder + "/data/korf50.txt")) return folder;
  }
  return {};
}

struct Known {
  Raw level;
  int moves;
};

/// One set of Boxoban levels with their optimal lengths; empty where the files are absent.
inline std::vector<Known> boxoban(const std::string& set) {
  std::vector<Known> known;
  std::ifstream levels(shared_folder() + "/data/boxoban-" + set + ".txt"),
      moves(shared_folder() + "/data/boxoban-" + set + ".moves");
  std::string line, text;
  const auto finish = [&] {
    if (!text.empty()) known.push_back({parse(text), -1});
    text.clear();
  };
  while (std::getline(levels, line)) {
    if (line.empty() || line[0] == ';') {
      finish();
    } else {
      text += (text.empty() ? "" : "/") + line;
    }
  }
  finish();
  for (std::size_t i; moves >> line;) {
    if (line[0] == '#') {
      std::getline(moves, line);
      continue;
    }
    i = std::stoul(line);
    moves >> known.at(i).moves;
  }
  return known;
}

}  // namespace fixtures
