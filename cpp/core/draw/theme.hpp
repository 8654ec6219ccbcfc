// The themes of all puzzles, light and dark.
#pragma once

#include <cstdint>
#include <string>

#include "core/errors.hpp"

namespace recommit {

/// The themes of all puzzles. Light is the default: vision models have mostly seen dark ink on light ground.
enum class Theme : std::uint8_t { Light, Dark };
inline constexpr Theme kThemes[] = {Theme::Light, Theme::Dark};

inline Theme theme_named(const std::string& name) {
  if (name == "light") return Theme::Light;
  if (name == "dark") return Theme::Dark;
  throw ValueError("theme: expected 'light' or 'dark', got '" + name + "'");
}

}  // namespace recommit
