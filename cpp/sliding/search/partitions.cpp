// Partitions of the tiles into patterns, by shape.
#include <cstddef>
#include <utility>

#include "sliding/search/model.hpp"

namespace recommit::sliding {
namespace {

using Tiles = std::vector<std::uint8_t>;

struct Entry {
  Shape shape;
  std::vector<Tiles> tiles;
};

/// Chosen by node counts: compact patterns, with the corner of the blank's goal kept together, at most 16 MB in total.
/// Within a pattern the first tile is the most significant digit of the rank.
const std::vector<Entry>& small() {
  static const std::vector<Entry> entries = {
      {{2, 5}, {{1, 2, 6, 7, 3}, {4, 5, 8, 9}}},
      {{5, 2}, {{1, 2, 3, 4, 5}, {6, 7, 8, 9}}},
      {{3, 3}, {{1, 2, 3, 4}, {5, 6, 7, 8}}},
      {{3, 4}, {{5, 9, 6, 10, 7, 11, 8}, {1, 2, 3, 4}}},
      {{4, 3}, {{5, 6, 7, 8, 9, 10, 11}, {1, 2, 3, 4}}},
      {{3, 5}, {{4, 5, 9, 10, 13, 14}, {1, 6, 11, 2, 7, 12}, {3, 8}}},
      {{5, 3}, {{9, 10, 11, 12, 13, 14}, {1, 2, 3, 4, 5, 6}, {7, 8}}},
      {{4, 4}, {{9, 13, 10, 14, 11, 15, 12}, {1, 5, 2, 6, 3, 7}, {4, 8}}},
      {{4, 5}, {{1, 2, 3, 6, 7}, {4, 5, 8, 9, 10}, {11, 12, 13, 16, 17}, {14, 15, 18, 19}}},
      {{5, 4}, {{1, 2, 5, 6, 9}, {3, 4, 7, 8, 12}, {10, 13, 14, 17, 18}, {11, 15, 16, 19}}},
      {{5, 5}, {{1, 2, 3, 6, 7}, {4, 5, 9, 10, 15}, {11, 12, 16, 17, 21}, {8, 13, 14, 18, 19}, {20, 22, 23, 24}}},
  };
  return entries;
}

const std::vector<Entry>& large() {
  static const std::vector<Entry> entries = {
      {{4, 4}, {{9, 13, 10, 14, 11, 15, 12}, {1, 5, 2, 6, 3, 7, 4, 8}}},
  };
  return entries;
}

}  // namespace

std::vector<Tiles> partition(Shape shape, Database database) {
  if (database == Database::Manhattan) return {};
  for (const Entry& entry : database == Database::Small ? small() : large()) {
    if (entry.shape == shape) return entry.tiles;
  }
  return {};
}

}  // namespace recommit::sliding
