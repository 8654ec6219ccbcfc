// Generation of levels by pulling boxes away from their goals.
#include "sokoban/rooms/reverse_pull.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "core/errors.hpp"
#include "core/rng.hpp"
#include "sokoban/simulate.hpp"

namespace recommit::sokoban {
namespace {

constexpr int kMinSide = 3;

/// Working memory of an instance, reused so that a batch allocates once. One per thread.
class Builder {
 public:
  Builder(Shape shape, int boxes)
      : shape_(shape),
        boxes_(boxes),
        size_(static_cast<std::size_t>(shape.cells())),
        step_{-shape.cols, shape.cols, -1, 1},
        wall_(size_),
        goal_(size_),
        box_at_(size_),
        touched_(size_),
        seen_(size_),
        from_(size_),
        queue_(size_) {
    for (int row = 1; row + 1 < shape.rows; ++row) {
      for (int col = 1; col + 1 < shape.cols; ++col) interior_.push_back(row * shape.cols + col);
    }
  }

  void build(std::uint64_t seed, std::uint64_t index, std::uint8_t* out) {
    Rng rng(seed, Purpose::SokobanGenerate, index);
    open_room();
    place_goals(rng);
    play_backwards(rng);
    add_walls(rng);
    write(out);
  }

  /// The solution: the reversed sequence of the recorded actions.
  std::vector<std::uint8_t> plan() const { return {backwards_.rbegin(), backwards_.rend()}; }

 private:
  static std::size_t at(int cell) noexcept { return static_cast<std::size_t>(cell); }
  static int draw(Rng& rng, int bound) noexcept {
    return static_cast<int>(rng.below(static_cast<std::uint32_t>(bound)));
  }
  bool open(int cell) const noexcept { return wall_[at(cell)] == 0 && box_at_[at(cell)] == 0; }
  void touch(int cell) noexcept { touched_[at(cell)] = 1; }

  void open_room() {
    std::fill(wall_.begin(), wall_.end(), std::uint8_t{1});
    for (const int cell : interior_) wall_[at(cell)] = 0;
    std::fill(goal_.begin(), goal_.end(), std::uint8_t{0});
    std::fill(box_at_.begin(), box_at_.end(), std::uint8_t{0});
    std::fill(touched_.begin(), touched_.end(), std::uint8_t{0});
    box_.clear();
    backwards_.clear();
    off_goal_ = 0;
  }

  void put_goal_and_box(int cell) {
    goal_[at(cell)] = box_at_[at(cell)] = 1;
    touch(cell);
    box_.push_back(cell);
  }

  /// Places the player beside the first box with a free cell behind, so that one pull is always possible.
  void place_goals(Rng& rng) {
    const int height = shape_.rows - 2, width = shape_.cols - 2;
    const bool across = width >= 3 && (height < 3 || draw(rng, 2) == 1);
    const int direction = (across ? 2 : 0) + draw(rng, 2);
    const int row_span = across ? height : height - 2, col_span = across ? width - 2 : width;
    const int row = 1 + draw(rng, row_span) + (direction == 0 ? 2 : 0);
    const int col = 1 + draw(rng, col_span) + (direction == 2 ? 2 : 0);
    const int first = row * shape_.cols + col;
    put_goal_and_box(first);
    player_ = first + step_[direction];
    touch(player_);
    first_direction_ = direction;
    const int behind = player_ + step_[direction];
    const bool clustered = draw(rng, 3) == 0;
    const auto free_for_goal = [&](int cell) { return open(cell) && cell != player_ && cell != behind; };
    order_ = interior_;
    rng.shuffle(order_);
    std::size_t next = 0;
    while (static_cast<int>(box_.size()) < boxes_) {
      int cell = clustered ? beside_a_goal(rng) : 0;
      if (cell == 0 || !free_for_goal(cell)) {
        while (!free_for_goal(order_[next])) ++next;
        cell = order_[next];
      }
      put_goal_and_box(cell);
    }
  }

  int beside_a_goal(Rng& rng) const {
    const int goal = box_[at(draw(rng, static_cast<int>(box_.size())))];
    return goal + step_[draw(rng, 4)];
  }

  /// Pulls each box once if possible, then random ones; finally walks the player to a random cell.
  void play_backwards(Rng& rng) {
    const int longest = std::max(1, std::max(shape_.rows, shape_.cols) / 2);
    pull(0, first_direction_, 1 + draw(rng, longest));
    const int pulls = boxes_ + draw(rng, 2 * boxes_ + 2);
    for (int i = 1; i < pulls; ++i) {
      const int which = i < boxes_ ? i : draw(rng, boxes_);
      const int turn = draw(rng, 4), length = 1 + draw(rng, longest);
      for (int k = 0; k < 4; ++k) {
        if (walk_and_pull(rng, which, (turn + k) % 4, length)) break;
      }
    }
    const int reached = flood(player_, -1, draw(rng, 4));
    walk_back_to(queue_[at(draw(rng, reached))]);
  }

  bool walk_and_pull(Rng& rng, int which, int direction, int length) {
    const int stand = box_[at(which)] + step_[direction];
    if (!open(stand) || !open(stand + step_[direction])) return false;
    flood(player_, stand, draw(rng, 4));
    if (!seen_[at(stand)]) return false;
    walk_back_to(stand);
    pull(which, direction, length);
    return true;
  }

  /// Pulls a box; the player must stand on its `direction` side. Pulls that would solve the level are skipped.
  void pull(int which, int direction, int length) {
    for (int& box = box_[at(which)]; length > 0; --length) {
      const int behind = player_ + step_[direction];
      const int off_goal = off_goal_ + goal_[at(box)] - goal_[at(player_)];
      if (!open(behind) || off_goal == 0) return;
      off_goal_ = off_goal;
      box_at_[at(box)] = 0;
      box_at_[at(player_)] = 1;
      box = player_;
      player_ = behind;
      touch(player_);
      backwards_.push_back(static_cast<std::uint8_t>(direction ^ 1));
    }
  }

  /// Breadth-first search from `start` until `target` is reached; from_ stores the direction of entry of each cell.
  int flood(int start, int target, int turn) {
    std::fill(seen_.begin(), seen_.end(), std::uint8_t{0});
    int head = 0, tail = 0;
    seen_[at(start)] = 1;
    queue_[at(tail++)] = start;
    while (head < tail && (target < 0 || !seen_[at(target)])) {
      const int cell = queue_[at(head++)];
      for (int k = 0; k < 4; ++k) {
        const int direction = (turn + k) & 3, next = cell + step_[direction];
        if (seen_[at(next)] || !open(next)) continue;
        seen_[at(next)] = 1;
        from_[at(next)] = static_cast<std::uint8_t>(direction);
        queue_[at(tail++)] = next;
      }
    }
    return tail;
  }

  /// Records the walk to `target` found by flood().
  void walk_back_to(int target) {
    way_.clear();
    for (int cell = target; cell != player_; cell -= step_[from_[at(cell)]]) {
      way_.push_back(static_cast<std::uint8_t>(from_[at(cell)] ^ 1));
      touch(cell);
    }
    backwards_.insert(backwards_.end(), way_.rbegin(), way_.rend());
    player_ = target;
  }

  /// Turns cells that the plan never touches into walls, which keeps it valid. Their number is drawn per level, from
  /// open rooms to bare corridors; disconnected pockets are filled.
  void add_walls(Rng& rng) {
    order_.clear();
    for (const int cell : interior_) {
      if (!touched_[at(cell)]) order_.push_back(cell);
    }
    rng.shuffle(order_);
    const int choices = static_cast<int>(order_.size()) + 1, once = draw(rng, choices), twice = draw(rng, choices);
    const int walls = std::max(once, twice);  // open rooms look alike, so they are rarer
    for (const int cell : std::span(order_).first(at(walls))) wall_[at(cell)] = 1;
    for (const int box : box_) box_at_[at(box)] = 0;
    flood(player_, -1, 0);
    for (const int box : box_) box_at_[at(box)] = 1;
    for (const int cell : order_) wall_[at(cell)] |= static_cast<std::uint8_t>(!seen_[at(cell)]);
  }

  void write(std::uint8_t* out) const {
    for (std::size_t i = 0; i < size_; ++i) {
      const int plain = wall_[i] ? kWall : box_at_[i] ? (goal_[i] ? kBoxOnGoal : kBox) : goal_[i] ? kGoal : kFloor;
      out[i] = static_cast<std::uint8_t>(plain);
    }
    out[at(player_)] = goal_[at(player_)] ? kPlayerOnGoal : kPlayer;
  }

  Shape shape_;
  int boxes_;
  std::size_t size_;
  int step_[kActions];
  std::vector<std::uint8_t> wall_, goal_, box_at_;
  std::vector<std::uint8_t> touched_;  ///< cells occupied by the player or a box during the plan
  std::vector<std::uint8_t> seen_, from_;
  std::vector<int> queue_, interior_, order_, box_;
  std::vector<std::uint8_t> backwards_, way_;  ///< actions of the plan, last first
  int player_ = 0, first_direction_ = 0, off_goal_ = 0;
};

}  // namespace

void check_reverse_request(Shape shape, int boxes) {
  const auto bad = [](int side) { return side < kMinSide || side > kMaxSide; };
  const std::string size = std::to_string(shape.rows) + " by " + std::to_string(shape.cols);
  if (bad(shape.rows) || bad(shape.cols) || std::max(shape.rows, shape.cols) < 5) {
    throw ValueError("size: expected levels of 3..64 by 3..64 cells with one side of at least 5, got " + size);
  }
  const int most = (shape.rows - 2) * (shape.cols - 2) - 2;
  if (boxes < 1 || boxes > most) {
    throw ValueError("boxes: expected 1.." + std::to_string(most) + " in levels of " + size + " cells, got " +
                     std::to_string(boxes));
  }
}

void generate_reverse(Shape shape, int boxes, std::uint64_t seed, std::uint64_t start, std::uint8_t* out,
                      std::size_t begin, std::size_t end) {
  check_reverse_request(shape, boxes);
  Builder builder(shape, boxes);
  const auto cells = static_cast<std::size_t>(shape.cells());
  for (std::size_t i = begin; i < end; ++i) builder.build(seed, start + i, out + i * cells);
}

CertifiedLevel reverse_level(Shape shape, int boxes, std::uint64_t seed, std::uint64_t index) {
  check_reverse_request(shape, boxes);
  Builder builder(shape, boxes);
  CertifiedLevel level;
  level.state.resize(static_cast<std::size_t>(shape.cells()));
  builder.build(seed, index, level.state.data());
  level.plan = builder.plan();
  return level;
}

}  // namespace recommit::sokoban
