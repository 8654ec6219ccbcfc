// Parsing of packs: rows, titles, keys and comments.
#include "core/text/pack.hpp"

#include <algorithm>

namespace recommit {
namespace {

/// Kinds of comments with a number: `; 7` is a header, `; 7 'Duh!'` may be one.
enum class Number : std::uint8_t { None, First, Alone };

Number number_in(std::string_view comment) noexcept {
  const std::string_view text = said_by(comment);
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  if (!is_number(text.substr(0, end))) return Number::None;
  return end == text.size() ? Number::Alone : Number::First;
}

/// Determines whether each number has its own level above it, or below it. Levels and numbers are added in order.
class Sides {
 public:
  void add_level() noexcept {
    above_is_free_ = true;
    below_waits_ = false;
  }
  void add_number() noexcept {
    above_ = above_ && above_is_free_;
    below_ = below_ && !below_waits_;
    above_is_free_ = false;
    below_waits_ = true;
  }
  bool level_above() const noexcept { return above_; }
  bool level_below() const noexcept { return below_ && !below_waits_; }

 private:
  bool above_ = true, below_ = true, above_is_free_ = false, below_waits_ = false;
};

}  // namespace

/// Numbers stand above their levels, unless a level comes first and only the other reading assigns one to each.
PackReader::Numbers PackReader::side_of_numbers(const Text& text, const PackGrammar& grammar) {
  if (text.body().find(';') == std::string_view::npos) return Numbers::Above;
  Sides sides, loose_sides;  // for numbers alone, for all numbers
  bool any = false, in_rows = false;
  KindReader lines(text);
  Line line;
  for (Kind kind = classify(lines, line, grammar); kind != Kind::End; kind = classify(lines, line, grammar)) {
    if (kind == Kind::Row && !in_rows) {
      sides.add_level();
      loose_sides.add_level();
    }
    in_rows = kind == Kind::Row;
    const Number number = kind == Kind::Comment ? number_in(line.text) : Number::None;
    if (number == Number::None) continue;
    loose_sides.add_number();
    if (number == Number::First) continue;
    any = true;
    sides.add_number();
    if (!sides.level_above()) return Numbers::Above;
  }
  if (!any || !sides.level_above()) return Numbers::Above;
  if (!sides.level_below()) return Numbers::Below;
  if (loose_sides.level_above() == loose_sides.level_below()) return Numbers::Either;
  return loose_sides.level_above() ? Numbers::Below : Numbers::Above;
}

PackReader::Kind PackReader::classify(KindReader& lines, Line& line, const PackGrammar& grammar) noexcept {
  switch (lines.next(line)) {
    case CommonKind::End: return Kind::End;
    case CommonKind::Comment: return Kind::Comment;
    case CommonKind::Blank: return Kind::Blank;
    case CommonKind::Key: return Kind::Key;
    case CommonKind::Aside: return Kind::Aside;
    case CommonKind::Other: break;
  }
  switch (grammar.kind(line.text)) {
    case LineKind::Row: return Kind::Row;
    case LineKind::Damaged: return Kind::Damaged;
    case LineKind::Foreign: return Kind::Foreign;
    case LineKind::Spaced: return Kind::Spaced;
    default: return Kind::Text;
  }
}

void PackReader::advance() {
  under_row_ = kind_ == Kind::Row;
  kind_ = classify(lines_, line_, grammar_);
}

bool PackReader::next(Block& block) {
  for (; kind_ != Kind::Row; advance()) {
    if (kind_ == Kind::End) {
      check_no_header_waits();
      return false;
    }
    take_heading();
  }
  header_ = {};
  take_rows(block);
  block.title = key_title_.empty() ? heading_ : key_title_;
  block.titled = !key_title_.empty();
  block.numbered = false;
  heading_ = key_title_ = {};
  take_keys_below(block);
  if (numbers_ == Numbers::Below) take_number_below(block);
  return true;
}

void PackReader::check_below() const {
  const bool words = kind_ == Kind::Text || kind_ == Kind::Spaced;
  if (under_row_ && (words || kind_ == Kind::Damaged || kind_ == Kind::Foreign)) refuse_line();
}

void PackReader::take_heading() {
  if (kind_ == Kind::Damaged || kind_ == Kind::Foreign || kind_ == Kind::Spaced) refuse_line();
  std::string_view heading;
  if (kind_ == Kind::Comment) {
    heading = said_by(line_.text);
    if (is_number(heading)) take_header();
  } else if (kind_ == Kind::Text) {
    heading = trimmed(line_.text);
  } else if (kind_ == Kind::Key) {
    const std::string_view title = title_of_key(line_.text);
    if (!title.empty()) key_title_ = title;
  }
  if (!heading.empty()) heading_ = heading;
}

void PackReader::take_rows(Block& block) {
  const auto most = static_cast<std::size_t>(grammar_.max_rows);
  block.rows.clear();
  unrolled_.clear();
  Line extra;
  std::size_t count = 0;
  for (; kind_ == Kind::Row; advance()) {
    const bool runs = runs_of(line_.text, grammar_.runs) == Runs::Yes;
    const std::size_t before = count;
    count += runs ? unroll(line_, most - block.rows.size(), unrolled_, block.rows) : 1;
    if (!runs && before < most) block.rows.push_back(line_);
    if (before <= most && count > most) extra = line_;
  }
  if (count > most) {
    throw error_at(extra, 0, "expected at most " + std::to_string(most) + " rows, got " + std::to_string(count));
  }
}

/// Key lines right below the rows belong to them; a blank line separates `Title:` from the next level.
void PackReader::take_keys_below(Block& block) {
  for (; kind_ == Kind::Key || kind_ == Kind::Aside; advance()) {
    const std::string_view title = kind_ == Kind::Key ? title_of_key(line_.text) : std::string_view{};
    if (title.empty()) continue;
    block.title = title;
    block.titled = true;
  }
}

/// Lines between a level and its number belong to that level, and a `Title:` takes precedence over a number. Faults of
/// the lines themselves are reported later: the level's own faults come first.
void PackReader::take_number_below(Block& block) {
  if (under_row_ && kind_ == Kind::Text) return;
  for (; is_aside(kind_); advance()) {
    const Number number = kind_ == Kind::Comment ? number_in(line_.text) : Number::None;
    if (number == Number::None) take_heading();
    if (number == Number::First && !block.titled && !block.numbered) block.title = said_by(line_.text);
    block.numbered = block.numbered || number == Number::First;
    if (number != Number::Alone) continue;
    if (!key_title_.empty())
      block.title = key_title_;
    else if (!block.titled)
      block.title = said_by(line_.text);
    heading_ = key_title_ = {};
    return advance();
  }
}

bool PackReader::is_aside(Kind kind) noexcept {
  return kind == Kind::Comment || kind == Kind::Blank || kind == Kind::Key || kind == Kind::Aside || kind == Kind::Text;
}

void PackReader::take_header() {
  if (numbers_ == Numbers::Either) {
    throw error_at(line_, line_.text.find(';'),
                   "two readings: this numbers the level above it or the level below it (begin the file with a number, "
                   "or end it with one)");
  }
  if (numbers_ == Numbers::Below) return;
  check_no_header_waits();
  header_ = line_;
}

void PackReader::check_no_header_waits() const {
  if (header_.number == 0) return;
  throw error_at(header_, header_.text.find(';'), "expected a level under this numbered header, got none");
}

void PackReader::refuse_line() const {
  const std::size_t at = first_symbol(line_.text);
  if (kind_ == Kind::Foreign)
    throw error_at(line_, at, std::string("expected levels of one task, got ") + grammar_.foreign);
  if (kind_ == Kind::Spaced) {
    throw error_at(line_, at,
                   "two readings: a row in which a number repeats a space, or words (write '-' for floor, or start the "
                   "line with ';')");
  }
  throw error_at(line_, at,
                 "unknown character " + describe_char(line_.text, at) +
                     " in a row (a text line starts with ';' or stands after a blank line)");
}

int first_row(const Text& text, bool (*is_row)(std::string_view) noexcept) {
  KindReader lines(text);
  Line line;
  for (CommonKind kind = lines.next(line); kind != CommonKind::End; kind = lines.next(line)) {
    if (kind == CommonKind::Other && is_row(line.text)) return line.number;
  }
  return 0;
}

std::uint8_t* append_level(Pack& pack, Shape shape, std::string_view title, const Line& first_row) {
  const std::size_t old = pack.cells.size(), cells = static_cast<std::size_t>(shape.cells());
  if (pack.shapes.size() == kMaxLevels) {
    throw error_at(first_row, 0, "expected at most " + std::to_string(kMaxLevels) + " levels, got more");
  }
  if (cells > kMaxPackCells - old) {
    throw error_at(first_row, 0,
                   "expected at most " + std::to_string(kMaxPackCells) + " cells in all levels, got more");
  }
  pack.cells.resize(old + cells);
  pack.shapes.push_back(shape);
  pack.titles.emplace_back(title);
  return pack.cells.data() + old;
}

void check_titles(const std::vector<std::string>& titles, PackFormat format) {
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const std::string& title = titles[i];
    if (title.empty()) continue;
    const std::string at = "titles[" + std::to_string(i) + "]: expected ";
    // "Title: " and the title make one line.
    if (title.size() > kMaxLineBytes - 7) {
      throw ValueError(at + "at most " + std::to_string(kMaxLineBytes - 7) + " bytes, got " +
                       std::to_string(title.size()));
    }
    if (!is_clean_line(title)) {
      throw ValueError(at + "one line without control characters and without spaces at its ends, got something else");
    }
    if (format == PackFormat::Plain) throw ValueError(at + "no title in the format plain, got one");
    if (format == PackFormat::Boxoban && !is_number(title)) {
      throw ValueError(at + "a number in the format boxoban, got '" + title + "'");
    }
  }
}

void append_text(std::string& out, std::string_view rows, std::string_view title, std::size_t index,
                 PackFormat format) {
  if (index > 0) out += '\n';
  if (format == PackFormat::Boxoban)
    out.append("; ").append(title.empty() ? std::to_string(index) : title).append("\n");
  out += rows;
  if (format == PackFormat::Xsb && !title.empty()) out.append("Title: ").append(title).append("\n");
}

}  // namespace recommit
