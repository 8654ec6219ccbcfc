// Recycled memory has one owner at a time.
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/memory/copy.hpp"
#include "core/memory/recycler.hpp"
#include "core/rng.hpp"

using namespace recommit;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// A block and what its owner wrote into it.
struct Owned {
  Recycler::Block block;
  std::size_t bytes;
  std::uint8_t mark;
  bool intact() {
    for (std::size_t i = 0; i < bytes; ++i)
      if (block.data()[i] != mark) return false;
    return true;
  }
};

Owned own(Recycler& recycler, std::size_t bytes, std::uint8_t mark) {
  Owned owned{recycler.take(bytes), bytes, mark};
  std::memset(owned.block.data(), mark, bytes);
  return owned;
}

/// Takes and gives blocks of many sizes; false if anybody else ever wrote into one that was held.
bool juggle(Recycler& recycler, std::uint64_t seed) {
  Rng rng(seed, Purpose::Test, 0);
  std::vector<Owned> held;
  bool intact = true;
  for (int round = 0; round < 300; ++round) {
    held.push_back(
        own(recycler, 1 + rng.below(round % 50 == 0 ? 5 * kMiB : 100'000), static_cast<std::uint8_t>(round)));
    if (held.size() < 6) continue;
    const auto chosen = held.begin() + static_cast<std::ptrdiff_t>(rng.below(6));
    intact = intact && chosen->intact();
    recycler.give(std::move(chosen->block));
    held.erase(chosen);
  }
  for (Owned& each : held) intact = intact && each.intact();
  return intact;
}

}  // namespace

TEST(a_block_is_used_again_and_never_twice_at_once) {
  Recycler recycler;
  Recycler::Block first = recycler.take(1000), second = recycler.take(1000);
  const std::uint8_t *one = first.data(), *two = second.data();
  CHECK(one != two);
  recycler.give(std::move(first));
  CHECK(recycler.take(2001).data() != one);  // too small for it
  CHECK(recycler.take(100).data() != one);   // it would be mostly empty
  Recycler::Block third = recycler.take(900);
  CHECK(third.data() == one);
  CHECK(recycler.take(900).data() != one);
  recycler.give(std::move(second));
  recycler.give(std::move(third));
  CHECK(recycler.take(900).data() == one);  // the latest
}

TEST(a_block_begins_in_the_middle_of_a_page) {
  Recycler recycler;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{70'000}, 3 * kMiB}) {
    Owned owned = own(recycler, bytes, 9);
    CHECK(reinterpret_cast<std::uintptr_t>(owned.block.data()) % 4096 == 2048);
    CHECK(owned.block.room() >= bytes);
  }
}

TEST(what_nobody_has_is_bounded) {
  Recycler recycler({3000, 2});
  std::vector<Recycler::Block> blocks;
  std::vector<const std::uint8_t*> at;
  for (int i = 0; i < 3; ++i) {
    blocks.push_back(recycler.take(1000));
    at.push_back(blocks.back().data());
  }
  for (Recycler::Block& block : blocks) recycler.give(std::move(block));
  CHECK(recycler.free_blocks() == 2);
  Recycler::Block latest = recycler.take(1000), earlier = recycler.take(1000);
  CHECK(latest.data() == at[2] && earlier.data() == at[1]);
  recycler.give(recycler.take(5000));
  CHECK(recycler.free_blocks() == 0);
  recycler.give(recycler.take(2500));
  recycler.give(std::move(latest));
  CHECK(recycler.free_blocks() == 1);
}

TEST(held_blocks_stay_as_they_are) {
  Recycler recycler;
  std::vector<std::thread> threads;
  std::vector<int> intact(4);
  for (std::uint64_t i = 0; i < 4; ++i) threads.emplace_back([&, i] { intact[i] = juggle(recycler, i) ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  for (const int each : intact) CHECK(each == 1);
}

TEST(a_copy_in_pieces_is_the_whole_copy) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{2047}, std::size_t{2048}, std::size_t{6401}}) {
    std::vector<std::uint8_t> from(bytes), to(bytes + 1, 7);
    for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<std::uint8_t>(i * 31 + i / 256);
    copy_in_pieces(to.data(), from.data(), bytes);
    CHECK(to.back() == 7);
    to.pop_back();
    CHECK(to == from);
  }
}

TEST_MAIN
