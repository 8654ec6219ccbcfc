// Generated levels against everything that is promised of them.
#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "check.hpp"
#include "core/errors.hpp"
#include "core/threads/parallel.hpp"
#include "sokoban/generate.hpp"
#include "sokoban/rooms/rooms.hpp"
#include "sokoban/simulate.hpp"
#include "sokoban/solver.hpp"
#include "sokoban/symmetry.hpp"
#include "sokoban_fixtures.hpp"

using namespace recommit;
using namespace recommit::sokoban;
using fixtures::random_level;
using fixtures::Raw;

namespace {

struct Drawn {
  std::vector<std::uint8_t> states;
  std::vector<Distance> lengths;
};

Drawn draw(const Request& request, std::uint64_t seed, std::uint64_t start, std::size_t count, int threads = 1) {
  const auto cells = static_cast<std::size_t>(request.shape.cells());
  Drawn out{std::vector<std::uint8_t>(count * cells), std::vector<Distance>(count)};
  parallel_for(count, threads, 7, [&](std::size_t begin, std::size_t end) {
    generate(request, seed, start, out.states.data(), out.lengths.data(), begin, end);
  });
  return out;
}

/// All that is promised about an instance, by other means than those that made it.
void check_instance(const Request& request, const std::uint8_t* state, Distance length) {
  const auto count = [&](auto test) { return std::count_if(state, state + request.shape.cells(), test); };
  CHECK(count(is_box) == request.boxes && count(has_goal) == request.boxes);
  for (int i = 0; i < request.shape.cells(); ++i) {
    const int row = i / request.shape.cols, col = i % request.shape.cols;
    const bool edge = row == 0 || row == request.shape.rows - 1 || col == 0 || col == request.shape.cols - 1;
    CHECK(!edge || state[i] == kWall);
  }
  const Level level = Level::of_state(state, request.shape);
  CHECK(count([](std::uint8_t cell) { return cell != kWall; }) == level.cells());  // one connected piece
  CHECK(length >= request.shortest && length <= request.longest);
  State start;
  CHECK(level.read(state, start));
  CHECK(TableBuilder().build(level, request.boxes).table->distance(start) == length);
}

const std::vector<Request> kRequests{{{8, 8}, 2, 8, 32}, {{7, 7}, 1, 4, 20}, {{10, 10}, 4, 20, 40}, {{6, 9}, 2, 10, 30},
                                     {{5, 5}, 1, 1, 5},  {{7, 7}, 3, 8, 32}, {{16, 12}, 3, 15, 50}, {{3, 8}, 1, 1, 4}};

}  // namespace

TEST(every_instance_is_what_was_asked_for) {
  std::size_t checked = 0;
  for (const Request& request : kRequests) {
    const Drawn drawn = draw(request, 3, 0, 60);
    for (std::size_t i = 0; i < drawn.lengths.size(); ++i, ++checked) {
      check_instance(request, drawn.states.data() + i * static_cast<std::size_t>(request.shape.cells()),
                     drawn.lengths[i]);
    }
  }
  CHECK(checked == 60 * kRequests.size());
}

TEST(an_instance_depends_on_its_index_alone) {
  const Request request{{8, 8}, 2, 8, 32};
  const Drawn whole = draw(request, 11, 0, 100), threaded = draw(request, 11, 0, 100, 4),
              slice = draw(request, 11, 40, 20);
  CHECK(whole.states == threaded.states && whole.lengths == threaded.lengths);
  CHECK(std::equal(slice.states.begin(), slice.states.end(), whole.states.begin() + 40 * 64));
  CHECK(draw(request, 12, 0, 100).states != whole.states);
  CHECK(draw({{8, 8}, 2, 8, 31}, 11, 0, 100).states != whole.states);
}

TEST(exact_lengths_can_be_asked_for) {
  for (const Distance length : {9, 17, 25}) {
    const Drawn drawn = draw({{8, 8}, 2, length, length}, 0, 0, 30);
    for (const Distance each : drawn.lengths) CHECK(each == length);
  }
}

TEST(instances_differ_even_up_to_symmetry) {
  std::set<Digest> seen;
  const Drawn drawn = draw({{8, 8}, 2, 8, 32}, 0, 0, 3000);
  for (std::size_t i = 0; i < 3000; ++i) seen.insert(canonical_digest(drawn.states.data() + 64 * i, {8, 8}));
  CHECK(seen.size() >= 2995);
  std::printf("  %zu of 3000 differ up to symmetry\n", seen.size());
}

TEST(what_cannot_be_met_ends_in_an_error) {
  CHECK_THROWS(draw({{5, 5}, 1, 100, 120}, 0, 0, 1), ValueError);
  CHECK_THROWS(draw({{3, 3}, 1, 1, 5}, 0, 0, 1), ValueError);
  CHECK_THROWS(draw({{8, 8}, 35, 1, 5}, 0, 0, 1), ValueError);
  CHECK_THROWS(draw({{8, 65}, 2, 1, 5}, 0, 0, 1), ValueError);
  CHECK_THROWS(draw({{8, 8}, 2, 0, 5}, 0, 0, 1), ValueError);
  CHECK_THROWS(draw({{8, 8}, 2, 9, 8}, 0, 0, 1), ValueError);
  CHECK_THROWS(draw({{8, 8}, 2, 9, 255}, 0, 0, 1), ValueError);
  Watch watch;
  watch.stop();
  Drawn out = draw({{8, 8}, 2, 8, 32}, 0, 0, 1);
  CHECK_THROWS(generate({{8, 8}, 2, 8, 32}, 0, 0, out.states.data(), out.lengths.data(), 0, 1, &watch), Interrupted);
}

TEST(rooms_of_every_family_are_one_enclosed_piece) {
  static_assert(static_cast<std::uint32_t>(RoomFamily::Walk) == kRoomFamilies);
  for (std::uint32_t family = 0; family <= kRoomFamilies; ++family) {
    std::set<std::string> seen;
    for (std::uint64_t i = 0; i < 300; ++i) {
      const Shape shape{3 + static_cast<int>(i % 14), 3 + static_cast<int>(i / 14 % 14)};
      Rng rng(family, Purpose::Test, i);
      const std::size_t most = 5 + i % 60;
      const Room room = make_room(static_cast<RoomFamily>(family), shape, most, rng);
      const std::vector<int> floor = floor_cells(room);
      CHECK(room.size() == static_cast<std::size_t>(shape.cells()) && floor.size() <= most);
      if (floor.empty()) continue;
      Room grid = room;
      grid[static_cast<std::size_t>(floor[0])] = kPlayer;
      CHECK(Level::of_state(grid.data(), shape).cells() == static_cast<int>(floor.size()));
      if (shape.cells() > 80) seen.emplace(room.begin(), room.end());
    }
    CHECK(seen.size() > 100);
  }
}

TEST(symmetries_form_a_group_that_keeps_distances) {
  TableCache cache;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const Raw raw = random_level(i, {7, 5 + static_cast<int>(i % 4)}, 2, 12);
    std::set<std::string> keys;
    Distance own = 0;
    Solver(cache).distance(raw.data(), raw.shape, &own, {0, 1});
    for (int s = 0; s < kSymmetries; ++s) {
      std::vector<std::uint8_t> image(raw.cells.size()), back(raw.cells.size());
      const Shape shape = transform(raw.data(), raw.shape, s, image.data());
      CHECK(transform(image.data(), shape, inverse_symmetry(s), back.data()) == raw.shape && back == raw.cells);
      const auto key = canonical_key(image.data(), shape);
      keys.emplace(key.begin(), key.end());
      Distance d = 0;
      Solver(cache).distance(image.data(), shape, &d, {0, 1});
      CHECK(d == own);
      for (int action = 0; action < kActions; ++action) {  // acting and turning commute
        std::vector<std::uint8_t> acted = raw.cells, turned(raw.cells.size()), other = image;
        int player = find_player(acted.data(), raw.shape, 0);
        move(acted.data(), raw.shape, player, action);
        transform(acted.data(), raw.shape, s, turned.data());
        int image_player = find_player(other.data(), shape, 0);
        move(other.data(), shape, image_player, transform_action(action, s));
        CHECK(turned == other);
      }
    }
    CHECK(keys.size() == 1);
  }
}

TEST(keys_tell_states_apart) {
  // All states of a few levels: two have equal keys exactly if one is an image of the other within this level.
  const Raw square = fixtures::parse("#####/#@  #/# $ #/#  .#/#####"),
            shifted = fixtures::parse("######/######/##@  #/## $ #/##  .#/######");
  CHECK(canonical_key(square.data(), square.shape) == canonical_key(shifted.data(), shifted.shape));
  const Raw other = fixtures::parse("#####/# @ #/# $ #/#  .#/#####"),
            mirrored = fixtures::parse("#####/#   #/#@$ #/#  .#/#####");
  CHECK(canonical_key(square.data(), square.shape) != canonical_key(other.data(), other.shape));
  CHECK(canonical_key(other.data(), other.shape) == canonical_key(mirrored.data(), mirrored.shape));
  const Raw lost = fixtures::parse("########/#@$.#.$#/########"), fine = fixtures::parse("########/#@$.#.*#/########");
  CHECK(canonical_key(lost.data(), lost.shape) != canonical_key(fine.data(), fine.shape));
}

TEST_MAIN
