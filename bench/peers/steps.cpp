// A ceiling: how many steps per second this machine takes in a crude loop with nothing around it. envs.py builds
// and runs it; by hand:
//   c++ -O3 -march=native -std=c++20 -o steps bench/peers/steps.cpp
//   ./steps sokoban|sliding SLOTS  ->  millions of steps per second of CPU time, the median of five rounds
//
// Random actions, one thread, episodes that end when solved or after 120 actions and begin again in place. Sokoban
// holds each 10x10 board as four planes of bytes (player, walls, boxes, goals), changed where they lie: that is its
// observation. The sliding board is one 64-bit word, four bits a cell.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <vector>

namespace {

constexpr int kSide = 10, kCells = kSide * kSide, kBoxes = 4, kMostSteps = 120, kLevels = 1000;

/// SplitMix64.
struct Rng {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
  }
  std::uint64_t below(std::uint64_t bound) { return (next() >> 32) * bound >> 32; }
};

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Two random bits per slot.
void draw_actions(std::vector<std::uint8_t>& actions, Rng& rng) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < actions.size(); ++i, bits >>= 2) {
    if (i % 32 == 0) bits = rng.next();
    actions[i] = bits & 3;
  }
}

/// What both games have: rewards and ends of episodes, which somebody would read.
struct Slots {
  explicit Slots(std::size_t count) : rewards(count), ends(count), steps(count) {
    for (std::size_t i = 0; i < count; ++i) steps[i] = static_cast<int>(i % kMostSteps);
  }
  bool finish(std::size_t i, bool solved, float reward) {
    const bool over = solved || ++steps[i] >= kMostSteps;
    rewards[i] = reward;
    ends[i] = over;
    return over;
  }
  std::vector<float> rewards;
  std::vector<std::uint8_t> ends;
  std::vector<int> steps;
};

/// Four planes of a board, and the player's cell.
struct Board {
  enum Plane : std::uint8_t { Player, Walls, Boxes, Goals, kPlanes };
  std::array<std::array<std::uint8_t, kCells>, kPlanes> plane{};
  int player = 0, home = 0;  ///< cell; boxes on goals
};

int free_cell(const Board& board, std::initializer_list<Board::Plane> taken, Rng& rng) {
  for (;;) {
    const auto cell = rng.below(kCells);
    if (std::none_of(taken.begin(), taken.end(), [&](auto p) { return board.plane[p][cell] != 0; })) {
      return static_cast<int>(cell);
    }
  }
}

Board random_board(Rng& rng) {
  Board board;
  for (int cell = 0; cell < kCells; ++cell) {
    const int row = cell / kSide, col = cell % kSide;
    const bool edge = row == 0 || col == 0 || row == kSide - 1 || col == kSide - 1;
    board.plane[Board::Walls][static_cast<std::size_t>(cell)] = edge || rng.below(100) < 15;
  }
  const auto put = [&](Board::Plane what, std::initializer_list<Board::Plane> taken) {
    const int cell = free_cell(board, taken, rng);
    board.plane[what][static_cast<std::size_t>(cell)] = 1;
    return cell;
  };
  for (int i = 0; i < kBoxes; ++i) put(Board::Goals, {Board::Walls, Board::Goals});
  for (int i = 0; i < kBoxes; ++i) put(Board::Boxes, {Board::Walls, Board::Boxes, Board::Goals});
  board.player = put(Board::Player, {Board::Walls, Board::Boxes});
  return board;
}

class Sokoban {
 public:
  explicit Sokoban(std::size_t count) : slots_(count), boards_(count) {
    for (int i = 0; i < kLevels; ++i) levels_.push_back(random_board(rng_));
    for (Board& board : boards_) begin(board);
  }
  void step(const std::vector<std::uint8_t>& actions) {
    for (std::size_t i = 0; i < boards_.size(); ++i) {
      Board& board = boards_[i];
      const float reward = static_cast<float>(move(board, kStep[actions[i]])) - 0.1F;
      const bool solved = board.home == kBoxes;
      if (slots_.finish(i, solved, solved ? reward + 10 : reward)) {
        begin(board);
        slots_.steps[i] = 0;
      }
    }
  }
  const void* seen() const { return boards_.data(); }

 private:
  static constexpr int kStep[] = {-kSide, kSide, -1, 1};

  void begin(Board& board) { board = levels_[rng_.below(kLevels)]; }

  /// Boxes that came to goals, less those that left them.
  static int move(Board& board, int step) {
    auto& [players, walls, boxes, goals] = board.plane;
    const auto from = static_cast<std::size_t>(board.player), to = static_cast<std::size_t>(board.player + step);
    if (walls[to] != 0) return 0;
    int gain = 0;
    if (boxes[to] != 0) {
      const auto beyond = static_cast<std::size_t>(board.player + 2 * step);
      if ((walls[beyond] | boxes[beyond]) != 0) return 0;
      gain = goals[beyond] - goals[to];
      boxes[to] = 0;
      boxes[beyond] = 1;
    }
    players[from] = 0;
    players[to] = 1;
    board.player = static_cast<int>(to);
    board.home += gain;
    return gain;
  }

  Rng rng_{7};
  Slots slots_;
  std::vector<Board> levels_, boards_;
};

class Sliding {
 public:
  explicit Sliding(std::size_t count) : slots_(count), boards_(count) {
    for (Board& board : boards_) begin(board);
  }
  void step(const std::vector<std::uint8_t>& actions) {
    for (std::size_t i = 0; i < boards_.size(); ++i) {
      Board& board = boards_[i];
      move(board, actions[i]);
      const bool solved = board.tiles == kGoal;
      if (slots_.finish(i, solved, solved ? 1 : 0)) {
        begin(board);
        slots_.steps[i] = 0;
      }
    }
  }
  const void* seen() const { return boards_.data(); }

 private:
  struct Board {
    std::uint64_t tiles;
    int blank;
  };
  static constexpr std::uint64_t kGoal = 0x0fedcba987654321U;

  /// Where the blank goes; where it is, against the border.
  static constexpr auto kTo = [] {
    std::array<std::array<std::int8_t, 4>, 16> to{};
    for (int cell = 0; cell < 16; ++cell) {
      const int ways[] = {cell >= 4 ? cell - 4 : cell, cell < 12 ? cell + 4 : cell, cell % 4 > 0 ? cell - 1 : cell,
                          cell % 4 < 3 ? cell + 1 : cell};
      for (std::size_t a = 0; a < 4; ++a) to[static_cast<std::size_t>(cell)][a] = static_cast<std::int8_t>(ways[a]);
    }
    return to;
  }();

  static void move(Board& board, std::size_t action) {
    const int to = kTo[static_cast<std::size_t>(board.blank)][action];
    const std::uint64_t tile = board.tiles >> (4 * to) & 15;
    board.tiles ^= tile << (4 * to) | tile << (4 * board.blank);
    board.blank = to;
  }
  void begin(Board& board) {
    board = {kGoal, 15};
    std::uint64_t bits = 0;
    for (int i = 0; i < 40; ++i, bits >>= 2) {
      if (i % 32 == 0) bits = rng_.next();
      move(board, bits & 3);
    }
  }

  Rng rng_{7};
  Slots slots_;
  std::vector<Board> boards_;
};

/// Millions of steps per second of CPU time.
template <class Game>
double rate(std::size_t slots) {
  Game game(slots);
  Rng rng{1};
  std::vector<std::uint8_t> actions(slots);
  std::vector<double> rounds;
  for (int round = 0; round < 5; ++round) {
    const double begin = cpu_seconds();
    double seconds = 0, steps = 0;
    while (seconds < 0.25) {
      for (int i = 0; i < 4; ++i, steps += static_cast<double>(slots)) {
        draw_actions(actions, rng);
        game.step(actions);
        asm volatile("" ::"r"(game.seen()) : "memory");  // somebody looks
      }
      seconds = cpu_seconds() - begin;
    }
    rounds.push_back(steps / seconds / 1e6);
  }
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

}  // namespace

int main(int count, char** words) {
  const std::string_view game = count == 3 ? words[1] : "";
  const std::size_t slots = count == 3 ? std::strtoul(words[2], nullptr, 10) : 0;
  if ((game != "sokoban" && game != "sliding") || slots == 0) {
    std::fprintf(stderr, "usage: steps sokoban|sliding SLOTS\n");
    return 2;
  }
  std::printf("%.1f\n", game == "sokoban" ? rate<Sokoban>(slots) : rate<Sliding>(slots));
}
