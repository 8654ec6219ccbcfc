// Python bindings for running episodes of any puzzle: level banks, steps, resets and observations.
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bind.hpp"
#include "bindings/common/arrays.hpp"
#include "bindings/common/gil.hpp"
#include "bindings/common/run.hpp"
#include "core/episodes/episodes.hpp"
#include "core/episodes/level_bank.hpp"
#include "core/memory/copy.hpp"

namespace recommit::bindings {
namespace {

using Bank = std::shared_ptr<const LevelBank>;
using Bytes = py::array_t<std::uint8_t>;
using Bools = py::array_t<bool>;
using Seeds = std::vector<std::optional<std::uint64_t>>;

using MakeBank = Bank (*)(const std::uint8_t*, std::size_t, Shape);

/// The Python object: the episodes, their puzzle, and a buffer for actions as bytes. Guarded by `Episodes::Turn`.
struct Running {
  Running(std::unique_ptr<Episodes> batch, const Maker& puzzle, std::string task)
      : episodes(std::move(batch)), maker(puzzle), name(std::move(task)), actions(episodes->slots()) {}
  std::unique_ptr<Episodes> episodes;
  Maker maker;
  std::string name;
  std::vector<std::uint8_t> actions;

  py::ssize_t slots() const noexcept { return size(episodes->slots()); }
  std::vector<py::ssize_t> grids_shape(py::ssize_t count) const {
    return {count, episodes->shape().rows, episodes->shape().cols};
  }
};

template <class Integer>
const std::uint8_t* narrow(Running& self, const py::array& array) {
  const auto* from = static_cast<const Integer*>(array.data());
  const std::size_t count = self.actions.size();
  if (!narrow_actions(from, count, self.actions.data())) {
    for (std::size_t i = 0; i < count; ++i) {
      if (std::cmp_less(from[i], 0) || std::cmp_greater_equal(from[i], kActions)) {
        throw ValueError("actions: expected values 0..3 (up, down, left, right), got " + std::to_string(from[i]) +
                         " for slot " + std::to_string(i));
      }
    }
    throw ValueError("actions: expected memory that no other thread writes to, got some that changed during the call");
  }
  return self.actions.data();
}

/// Check actions and convert them to bytes, before any state changes.
const std::uint8_t* checked_actions(Running& self, const py::object& object) {
  const py::array array = as_array(object, "actions");
  if (array.ndim() != 1 || array.shape(0) != self.slots()) {
    throw ValueError("actions: expected shape " + shape_text({self.slots()}) + ", got " + shape_text(array));
  }
  check_plain(array, "actions");
  const py::dtype dtype = array.dtype();
  if (dtype.equal(py::dtype::of<std::uint8_t>())) return narrow<std::uint8_t>(self, array);
  if (dtype.equal(py::dtype::of<std::int64_t>())) return narrow<std::int64_t>(self, array);
  if (dtype.equal(py::dtype::of<std::int32_t>())) return narrow<std::int32_t>(self, array);
  throw py::type_error("actions: expected dtype uint8, int32 or int64, got " + text(dtype));
}

using Stepped = std::tuple<std::optional<Bytes>, py::array_t<float>, Bools, Bools, std::optional<Bools>>;

Stepped step(Running& self, const Integers& actions_, bool grids, bool masks) {
  const Episodes::Turn turn(*self.episodes);
  const std::uint8_t* actions = checked_actions(self, actions_.object);
  const py::ssize_t n = self.slots();
  auto rewards = fresh<float>({n});
  auto terminated = fresh<bool>({n}), truncated = fresh<bool>({n});
  std::optional<Bytes> after;
  std::optional<Bools> mask;
  StepResults out{rewards.mutable_data(), bytes(terminated), bytes(truncated), nullptr, nullptr};
  if (grids) {
    after = fresh<std::uint8_t>(self.grids_shape(n));
    out.grids = after->mutable_data();
  }
  if (masks) {
    mask = fresh<bool>({n, kActions});
    out.masks = bytes(*mask);
  }
  {
    const ReleasedGil release;  // only raw memory from here on; the arrays above stay alive
    self.episodes->step(actions, out);
  }
  return {std::move(after), std::move(rewards), std::move(terminated), std::move(truncated), std::move(mask)};
}

/// Step a single slot with plain Python numbers, for single environments.
std::tuple<Bytes, double, bool, bool, Bools> step_one(Running& self, std::int64_t action) {
  const Episodes::Turn turn(*self.episodes);
  if (self.slots() != 1) throw ValueError("step_one: expected one slot, got " + std::to_string(self.slots()));
  if (action < 0 || action >= kActions) {
    throw ValueError("action: expected 0..3 (up, down, left, right), got " + std::to_string(action));
  }
  const auto byte = static_cast<std::uint8_t>(action);
  const Shape shape = self.episodes->shape();
  auto grid = fresh<std::uint8_t>({shape.rows, shape.cols});
  auto mask = fresh<bool>({kActions});
  float reward = 0;
  std::uint8_t terminated = 0, truncated = 0;
  self.episodes->step(&byte, {&reward, &terminated, &truncated, grid.mutable_data(), bytes(mask)});
  return {std::move(grid), reward, terminated != 0, truncated != 0, std::move(mask)};
}

void reset(Running& self, const Seeds& seeds, const std::optional<Array<bool>>& mask) {
  const Episodes::Turn turn(*self.episodes);
  if (seeds.size() != self.episodes->slots()) {
    throw ValueError("seed: expected " + std::to_string(self.episodes->slots()) + " seeds, got " +
                     std::to_string(seeds.size()));
  }
  std::optional<py::array> chosen;
  if (mask) {
    chosen = typed(*mask, "reset_mask", 1, "[slots]");
    if (chosen->shape(0) != self.slots()) {
      throw ValueError("reset_mask: expected shape " + shape_text({self.slots()}) + ", got " + shape_text(*chosen));
    }
  }
  const auto* bytes_of = chosen ? static_cast<const std::uint8_t*>(chosen->data()) : nullptr;
  const ReleasedGil release;
  self.episodes->reset(seeds, bytes_of);
}

/// A read-only view of the live states, which keeps the episodes alive.
Bytes live(const py::object& self) {
  const auto& running = self.cast<const Running&>();
  Bytes view(running.grids_shape(running.slots()), running.episodes->grids(), self);
  py::detail::array_proxy(view.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return view;
}

Bytes grids(Running& self) {
  const Episodes::Turn turn(*self.episodes);
  auto out = fresh<std::uint8_t>(self.grids_shape(self.slots()));
  copy_in_pieces(out.mutable_data(), self.episodes->grids(), static_cast<std::size_t>(out.nbytes()));
  return out;
}

std::tuple<Bools, Bools> describe(Running& self) {
  const Episodes::Turn turn(*self.episodes);
  auto masks = fresh<bool>({self.slots(), kActions});
  auto solved = fresh<bool>({self.slots()});
  self.episodes->describe(bytes(masks), bytes(solved));
  return {std::move(masks), std::move(solved)};
}

std::tuple<py::array_t<std::int64_t>, Bytes, Bools> finals(Running& self) {
  const Episodes::Turn turn(*self.episodes);
  const std::vector<std::size_t>& ended = self.episodes->ended();
  auto slots = fresh<std::int64_t>({size(ended.size())});
  auto states = fresh<std::uint8_t>(self.grids_shape(size(ended.size())));
  auto masks = fresh<bool>({size(ended.size()), kActions});
  for (std::size_t i = 0; i < ended.size(); ++i) {
    slots.mutable_data()[i] = static_cast<std::int64_t>(ended[i]);
    std::memcpy(states.mutable_data() + i * self.episodes->cells(), self.episodes->final_grid(ended[i]),
                self.episodes->cells());
    std::memcpy(bytes(masks) + i * kActions, self.episodes->final_mask(ended[i]), kActions);
  }
  return {std::move(slots), std::move(states), std::move(masks)};
}

/// The puzzles' checks name the argument `states`; here it is called `levels`.
Bank checked_bank(MakeBank make, const Array<std::uint8_t>& levels_) {
  const States levels = states(levels_, "levels");
  if (levels.count == 0) throw ValueError("levels: expected at least one level, got none");
  try {
    return make(levels.data, levels.count, levels.shape);
  } catch (const ValueError& error) {
    const std::string message = error.what();
    const bool other_name = message.rfind("states:", 0) == 0;
    throw ValueError(other_name ? "levels:" + message.substr(7) : message);
  }
}

void place(Running& self, const Array<std::uint8_t>& levels, const Array<bool>& mask_) {
  const Episodes::Turn turn(*self.episodes);
  const Bank starts = checked_bank(self.maker.bank, levels);
  const py::array mask = typed(mask_, "mask", 1, "[slots]");
  if (mask.shape(0) != self.slots()) {
    throw ValueError("mask: expected shape " + shape_text({self.slots()}) + ", got " + shape_text(mask));
  }
  self.episodes->place(*starts, static_cast<const std::uint8_t*>(mask.data()));
}

void check_task(const LevelBank& bank, const std::string& task) {
  if (bank.task != task) throw ValueError("bank: expected levels of " + task + ", got those of " + bank.task);
}

void draw_from(Running& self, const std::shared_ptr<LevelBank>& bank) {
  const Episodes::Turn turn(*self.episodes);
  check_task(*bank, self.name);
  self.episodes->draw_from(bank);
}

using Words = std::vector<std::uint64_t>;
using Saved = std::tuple<Bytes, Words, Words, std::vector<std::int32_t>, Words>;

Saved save(Running& self) {
  const Episodes::Turn turn(*self.episodes);
  auto states = fresh<std::uint8_t>(self.grids_shape(self.slots()));
  copy_in_pieces(states.mutable_data(), self.episodes->grids(), static_cast<std::size_t>(states.nbytes()));
  Marks marks = self.episodes->marks();
  return {std::move(states), std::move(marks.seeds), std::move(marks.episodes), std::move(marks.steps),
          Words(marks.over.begin(), marks.over.end())};
}

void restore(Running& self, const Array<std::uint8_t>& states, const Words& seeds, const Words& episodes,
             const std::vector<std::int32_t>& steps, const Words& over) {
  const Episodes::Turn turn(*self.episodes);
  const Bank from = checked_bank(self.maker.survey, states);
  self.episodes->restore(*from, {seeds, episodes, steps, {over.begin(), over.end()}});
}

}  // namespace

void define_episodes(py::module_& module, const std::string& task, const Maker& maker) {
  module.def(
      "make_bank",
      [task, maker](const Array<std::uint8_t>& levels) {
        auto bank = std::const_pointer_cast<LevelBank>(checked_bank(maker.bank, levels));
        bank->task = task;
        return bank;
      },
      py::arg("levels"), "start states, checked once, for any number of running episodes");
  module.def(
      "make_episodes",
      [task, maker](const std::shared_ptr<LevelBank>& bank, std::size_t slots, std::int32_t max_steps,
                    Autoreset autoreset, const Threads& threads) {
        check_task(*bank, task);
        if (slots < 1) throw ValueError("slots: expected at least 1, got 0");
        if (max_steps < 1) throw ValueError("max_steps: expected at least 1, got " + std::to_string(max_steps));
        return std::make_unique<Running>(maker.episodes(bank, {slots, max_steps, autoreset, thread_count(threads)}),
                                         maker, task);
      },
      py::arg("bank").none(false), py::kw_only(), py::arg("slots"), py::arg("max_steps"), py::arg("autoreset"),
      py::arg("threads") = py::none(), "running episodes, stepped together and in place");
}

void bind_episodes(py::module_& module) {
  py::register_exception<EpisodeOver>(module, "EpisodeOver", PyExc_RuntimeError).doc() =
      "An episode that is over was stepped without a reset.";
  py::enum_<Autoreset>(module, "Autoreset", "When a finished episode gives way to the next one.")
      .value("NEXT_STEP", Autoreset::NextStep)
      .value("SAME_STEP", Autoreset::SameStep)
      .value("DISABLED", Autoreset::Disabled);
  py::class_<LevelBank, std::shared_ptr<LevelBank>>(module, "LevelBank",
                                                    "Start states that episodes draw from; immutable.")
      .def("__len__", [](const LevelBank& bank) { return bank.count(); })
      .def_property_readonly("shape", [](const LevelBank& bank) { return std::pair(bank.shape.rows, bank.shape.cols); })
      .def_readonly("walled", &LevelBank::walled, "are the outermost cells of every level walls?");
  py::class_<Running>(module, "Episodes", "Running episodes of one puzzle; one caller at a time.")
      .def("__len__", [](const Running& self) { return self.slots(); })
      .def("step", &step, py::arg("actions"), py::kw_only(), py::arg("grids"), py::arg("masks"),
           "(grids or None, rewards, terminated, truncated, masks or None)")
      .def("step_one", &step_one, py::arg("action"), "(grid, reward, terminated, truncated, mask) of the only slot")
      .def("reset", &reset, py::arg("seeds"), py::arg("mask") = py::none(),
           "episode 0 of each given seed; the next episode where it is None")
      .def("live", &live, "the states themselves, read-only")
      .def("grids", &grids, "a copy of the states")
      .def("place", &place, py::arg("levels"), py::arg("mask"), "starts the chosen slots from these states, in order")
      .def("draw_from", &draw_from, py::arg("bank").none(false), "later episodes draw from this bank")
      .def("save", &save, "(states, seeds, episodes, steps, over): all that the future depends on")
      .def("restore", &restore, py::arg("states"), py::arg("seeds"), py::arg("episodes"), py::arg("steps"),
           py::arg("over"), "goes on from what `save` gave")
      .def("describe", &describe, "(masks, solved) of the states as they are")
      .def("finals", &finals, "(slots, states, masks) of the episodes that ended in the last step, SAME_STEP only");
}

}  // namespace recommit::bindings
