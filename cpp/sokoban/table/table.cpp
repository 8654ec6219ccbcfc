// Construction of a level's table within limits.
#include "sokoban/table/table.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

#include "sokoban/table/goal_sets.hpp"
#include "sokoban/table/retrograde.hpp"

namespace recommit::sokoban {
namespace {

using retrograde::End;

/// Looks at the watch and at the clock.
class Deadline final : public retrograde::Pause {
 public:
  Deadline(const Limits& limits, Watch* watch) : limits_(limits), watch_(watch) {}
  bool operator()() override {
    if (watch_ != nullptr) watch_->poll();
    return !timed_ || std::chrono::duration<double>(Clock::now() - start_).count() < limits_.seconds;
  }

 private:
  using Clock = std::chrono::steady_clock;
  const Limits& limits_;
  Watch* watch_;
  bool timed_ = limits_.seconds < std::numeric_limits<double>::infinity();
  Clock::time_point start_ = Clock::now();
};

End run(TableBuilder::Kernel kernel, const retrograde::Ground& ground, retrograde::Progress& progress, auto* distances,
        retrograde::Pause& pause) {
  return kernel == TableBuilder::Kernel::Best ? retrograde::run(ground, progress, distances, pause)
                                              : retrograde::run_portable(ground, progress, distances, pause);
}

std::unique_ptr<std::uint8_t[]> allocate(std::uint64_t bytes) {
  return std::make_unique_for_overwrite<std::uint8_t[]>(static_cast<std::size_t>(bytes));
}

/// Initialises all entries as unreached, with periodic checks: two gigabytes of new pages take seconds.
bool unreached(std::uint8_t* entries, std::uint64_t count, Deadline& go_on) {
  constexpr std::uint64_t kStep = std::uint64_t{16} << 20;
  for (std::uint64_t at = 0; at < count; at += kStep) {
    if (at > 0 && !go_on()) return false;
    std::memset(entries + at, 0xFF, static_cast<std::size_t>(std::min(kStep, count - at)));
  }
  return true;
}

/// Two bytes per entry, in the machine's order.
std::unique_ptr<std::uint8_t[]> widen(const std::uint8_t* narrow, std::uint64_t entries) {
  auto wide = allocate(2 * entries + retrograde::kSlack);
  auto* values = reinterpret_cast<std::uint16_t*>(wide.get());
  for (std::uint64_t i = 0; i < entries; ++i) {
    values[i] = narrow[i] == 0xFF ? std::uint16_t{0xFFFF} : std::uint16_t{narrow[i]};
  }
  return wide;
}

}  // namespace

std::uint64_t Table::table_bytes(const Level& level, int boxes, bool wide) noexcept {
  const std::uint64_t entries =
      multiply_saturated(BoxSets::count(level, boxes), static_cast<std::uint64_t>(level.cells()));
  return add_saturated(multiply_saturated(entries, wide ? 2 : 1), retrograde::kSlack);
}

std::uint64_t Table::build_bytes(const Level& level, int boxes, bool wide) noexcept {
  const std::uint64_t sets = BoxSets::count(level, boxes);
  const int places = level.box().cells();
  const std::uint64_t goal_ranks =
      multiply_saturated(binomial(static_cast<std::uint64_t>(level.goals()), static_cast<std::uint64_t>(boxes)),
                         2 * static_cast<std::uint64_t>(boxes));
  const std::uint64_t per_set = 8 * (retrograde::slot_words(retrograde::mask_words(places)) + 1);
  std::uint64_t bytes = add_saturated(multiply_saturated(sets, per_set), 8 * (retrograde::kLine + 1));
  bytes = add_saturated(bytes,
                        multiply_saturated(static_cast<std::uint64_t>(boxes) * 8, static_cast<std::uint64_t>(places)));
  bytes = add_saturated(bytes, goal_ranks);
  bytes = add_saturated(bytes, table_bytes(level, boxes));
  return wide ? add_saturated(bytes, table_bytes(level, boxes, true)) : bytes;
}

Distance Table::distance(const State& state) const noexcept {
  if (state.boxes.size() != static_cast<std::size_t>(boxes())) return kUnsolvable;
  const std::uint32_t rank = sets_.rank(state.boxes.data());
  if (rank == BoxSets::kDead) return kUnsolvable;
  return at(std::uint64_t{rank} * static_cast<std::uint64_t>(cells_) + state.player);
}

std::uint64_t* TableBuilder::work(std::uint64_t words) {
  if (8 * words > work_.size()) {
    trim();
    work_ = Buffer(static_cast<std::size_t>(8 * words));
  }
  return reinterpret_cast<std::uint64_t*>(work_.data());
}

Built TableBuilder::build(const Level& level, int boxes, const Limits& limits, Watch* watch) {
  const std::uint64_t sets = BoxSets::count(level, boxes);
  if (sets >= BoxSets::kDead || Table::build_bytes(level, boxes) > limits.bytes) return {nullptr, Status::ByteLimit};
  if (multiply_saturated(sets, static_cast<std::uint64_t>(level.cells())) > limits.nodes) {
    return {nullptr, Status::NodeLimit};
  }
  std::shared_ptr<Table> table(new Table(level, boxes));
  table->data_ = allocate(table->entries() + retrograde::kSlack);
  Deadline go_on(limits, watch);
  if (!unreached(table->data_.get(), table->entries(), go_on)) return {nullptr, Status::TimeLimit};
  if (boxes > level.goals()) return {std::move(table), Status::Exact};  // nothing is solvable

  const retrograde::Ground ground(level, table->sets_);
  retrograde::Progress progress = retrograde::begin(ground, work(retrograde::work_words(sets, ground.words)));
  retrograde::enter_goals(ground, progress, goal_sets(level, boxes));

  End end = run(kernel_, ground, progress, table->data_.get(), go_on);
  if (end == End::NeedsTwoBytes) {
    if (Table::build_bytes(level, boxes, true) > limits.bytes) return {nullptr, Status::ByteLimit};
    table->data_ = widen(table->data_.get(), table->entries());
    table->wide_ = true;
    end = run(kernel_, ground, progress, reinterpret_cast<std::uint16_t*>(table->data_.get()), go_on);
  }
  if (end != End::Done) return {nullptr, end == End::GaveUp ? Status::TimeLimit : Status::ByteLimit};
  return {std::move(table), Status::Exact};
}

}  // namespace recommit::sokoban
