// Rows that are written as runs: `3#2-|#@$.#`.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/lines.hpp"

/// Rows that are written as runs: a number before a symbol repeats it, and `|` ends a row.
namespace recommit {

/// What a line is as runs. Spaced: it would be runs if a number could repeat a space, and it could be words as well.
enum class Runs : std::uint8_t { No, Yes, Spaced };

/// `cells` are the symbols of a puzzle; with none of them nothing is a run.
Runs runs_of(std::string_view line, std::string_view cells) noexcept;

/// Appends the rows of a line of runs, `most` of them at most, and returns how many it has. No row becomes longer than
/// kMaxLineBytes: one that would be ends with its wall there, beyond all columns that a level may have. The texts are
/// put into `store`, whose elements must outlive the rows.
std::size_t unroll(const Line& line, std::size_t most, std::deque<std::string>& store, std::vector<Line>& rows);

}  // namespace recommit
