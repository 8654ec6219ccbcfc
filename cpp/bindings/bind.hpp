// The interface between a puzzle and the bindings, and its registration.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/draw/atlas.hpp"
#include "core/draw/frame.hpp"
#include "core/episodes/episodes.hpp"
#include "core/episodes/level_bank.hpp"
#include "core/outcomes.hpp"
#include "core/text/lines.hpp"
#include "core/text/pack.hpp"
#include "core/types.hpp"

/// The functions that every puzzle provides to the bindings, and their registration. A bind_<puzzle>.cpp with one
/// static `Registered` is all that a puzzle needs here: module.cpp finds it and names no puzzle.
namespace recommit::bindings {

struct Simulator {
  void (*check_shape)(Shape);
  void (*step)(const std::uint8_t*, Shape, const std::uint8_t*, std::uint8_t*, std::size_t, std::size_t);
  void (*execute)(const std::uint8_t*, Shape, const std::uint8_t*, std::size_t, const std::int32_t*, bool, Outcomes,
                  std::size_t, std::size_t);
  void (*is_solved)(const std::uint8_t*, Shape, std::uint8_t*, std::size_t, std::size_t);
  void (*action_masks)(const std::uint8_t*, Shape, std::uint8_t*, std::size_t, std::size_t);
};

struct Artist {
  const Sprites& (*sprites)();
  View (*view)(Shape, bool);
  void (*check_drawable)(const View&, const std::uint8_t*, std::size_t, std::size_t);
  void (*check_read)(const View&, const std::uint8_t*, std::size_t, std::size_t);
  std::uint8_t outside;  ///< code of the cells that a cropped picture leaves out
};

struct Maker {
  std::shared_ptr<const LevelBank> (*bank)(const std::uint8_t*, std::size_t, Shape);
  std::shared_ptr<const LevelBank> (*survey)(const std::uint8_t*, std::size_t, Shape);  ///< solved states, too
  std::unique_ptr<Episodes> (*episodes)(std::shared_ptr<const LevelBank>, const EpisodesOptions&);
};

struct Scribe {
  Pack (*parse)(const Text&);
  std::string (*format)(const Pack&, PackFormat);
  int (*first_row)(const Text&);            ///< number of the first line that may be a row, 0: none; the lowest wins
  bool (*owns)(std::string_view) noexcept;  ///< true for a row that cannot be text in another level file
  bool (*recognises)(const std::uint8_t*, Shape) noexcept;  ///< true for a state of the puzzle; the first match wins
};

struct PuzzleBinding {
  const char* task;   ///< name of the puzzle and of its submodule
  const char* about;  ///< the submodule's docstring
  Simulator simulator;
  Artist artist;
  Maker maker;
  Scribe scribe;
  void (*define_own)(pybind11::module_&);  ///< solver and generator
};

/// All puzzles by name; complete once the module is loaded.
std::vector<PuzzleBinding>& puzzles();

struct Registered {
  explicit Registered(const PuzzleBinding& puzzle);
};

void bind_errors(pybind11::module_& module);
void bind_levels(pybind11::module_& module);
void bind_episodes(pybind11::module_& module);
void define_simulator(pybind11::module_& puzzle, const Simulator& simulator);
void define_artist(pybind11::module_& puzzle, const Artist& artist);
void define_episodes(pybind11::module_& puzzle, const std::string& task, const Maker& maker);

}  // namespace recommit::bindings
