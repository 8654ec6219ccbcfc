// A ceiling: how many pictures of 224x224 pixels per second this machine copies together in a crude loop.
// bench/quick/test_drawing.py builds and runs it; by hand:
//   c++ -O3 -march=native -std=c++20 -o frames bench/peers/frames.cpp
//   ./frames full|dirty  ->  pictures per second of CPU time, the median of five rounds
//
// 8x8 sprites of 28 pixels, into 1,024 pictures by turns (154 MB). `full` copies every row of every sprite; `dirty`
// copies three sprites into a picture that stays.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t kSide = 8, kCell = 28, kSprites = 8, kPictures = 1024;
constexpr std::size_t kRun = kCell * 3, kRow = kSide * kRun, kPicture = kRow * kSide * kCell;

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Rng {
  std::uint32_t state = 1;
  std::size_t below(std::uint32_t bound) {
    state = state * 1664525U + 1013904223U;
    return (state >> 16) % bound;
  }
};

class Painter {
 public:
  Painter() : sprites_(kSprites * kCell * kRun), boards_(64), pictures_(kPictures * kPicture) {
    for (std::uint8_t& value : sprites_) value = static_cast<std::uint8_t>(rng_.below(256));
    for (auto& board : boards_) {
      for (std::size_t& code : board) code = rng_.below(kSprites);
    }
  }

  void full(std::size_t picture) {
    const auto& board = boards_[picture % boards_.size()];
    std::uint8_t* to = pictures_.data() + picture * kPicture;
    for (std::size_t row = 0; row < kSide; ++row) {
      for (std::size_t y = 0; y < kCell; ++y) {
        for (std::size_t col = 0; col < kSide; ++col, to += kRun) {
          std::memcpy(to, sprite(board[row * kSide + col]) + y * kRun, kRun);
        }
      }
    }
  }

  void dirty(std::size_t picture) {
    for (int change = 0; change < 3; ++change) {
      const std::size_t cell = rng_.below(kSide * kSide);
      const std::uint8_t* from = sprite(rng_.below(kSprites));
      std::uint8_t* to = pictures_.data() + picture * kPicture + cell / kSide * kCell * kRow + cell % kSide * kRun;
      for (std::size_t y = 0; y < kCell; ++y) std::memcpy(to + y * kRow, from + y * kRun, kRun);
    }
  }

  const void* seen() const { return pictures_.data(); }

 private:
  const std::uint8_t* sprite(std::size_t code) const { return sprites_.data() + code * kCell * kRun; }

  Rng rng_;
  std::vector<std::uint8_t> sprites_;
  std::vector<std::array<std::size_t, kSide * kSide>> boards_;
  std::vector<std::uint8_t> pictures_;
};

double rate(Painter& painter, void (Painter::*draw)(std::size_t)) {
  std::vector<double> rounds;
  for (int round = 0; round < 5; ++round) {
    const double begin = cpu_seconds();
    double seconds = 0, pictures = 0;
    while (seconds < 0.1) {
      for (std::size_t i = 0; i < kPictures; ++i) (painter.*draw)(i);
      asm volatile("" ::"r"(painter.seen()) : "memory");  // somebody looks
      pictures += kPictures;
      seconds = cpu_seconds() - begin;
    }
    rounds.push_back(pictures / seconds);
  }
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

}  // namespace

int main(int count, char** words) {
  const std::string_view kind = count == 2 ? words[1] : "";
  if (kind != "full" && kind != "dirty") {
    std::fprintf(stderr, "usage: frames full|dirty\n");
    return 2;
  }
  Painter painter;
  std::printf("%.0f\n", rate(painter, kind == "full" ? &Painter::full : &Painter::dirty));
}
