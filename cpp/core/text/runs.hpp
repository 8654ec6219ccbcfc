// Run-length encoded rows: `3#2-|#@$.#`.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/lines.hpp"

/// Run-length encoded rows: a number before a symbol repeats it, and `|` ends a row.
namespace recommit {

/// Whether a line consists of runs. Spaced: either runs, if a number could repeat a space, or text.
enum class Runs : std::uint8_t { No, Yes, Spaced };

/// `cells` are a puzzle's symbols; without any no line is a run.
Runs runs_of(std::string_view line, std::string_view cells) noexcept;

/// Appends up to `most` rows of a line of runs, and returns their total number. Rows are truncated to kMaxLineBytes,
/// ending with their wall, beyond any valid column. The texts are put into `store`, whose elements must outlive the
/// rows.
std::size_t unroll(const Line& line, std::size_t most, std::deque<std::string>& store, std::vector<Line>& rows);

}  // namespace recommit
