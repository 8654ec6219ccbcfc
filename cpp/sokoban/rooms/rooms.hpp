// Random layouts of walls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/rng.hpp"
#include "core/types.hpp"

namespace recommit::sokoban {

/// Families of random layouts. The order is part of the generator's format.
enum class RoomFamily : std::uint8_t {
  Scatter,     ///< single walls scattered over a hall
  Chambers,    ///< a hall split recursively, with doors
  Cave,        ///< smoothed noise
  Mosaic,      ///< small stamps, rotated and mirrored, side by side
  Corridors,   ///< tunnels dug by a random walk
  Rectangles,  ///< overlapping rectangular rooms with pillars
  Walk,        ///< a random walk with a broad brush, only on request (see Request::walked)
};
/// Number of families that a request draws from by default.
inline constexpr std::uint32_t kRoomFamilies = 6;

/// A layout of kWall and kFloor, enclosed by an outer wall, whose floor is one connected piece (possibly empty).
using Room = std::vector<std::uint8_t>;

/// Draws a layout of the family; at most `most` floor cells are kept, grown around a random one.
Room make_room(RoomFamily family, Shape shape, std::size_t most, Rng& rng);

/// Floor cells (grid positions, ascending).
std::vector<int> floor_cells(const Room& room);

}  // namespace recommit::sokoban
