// Lines of a pack told apart: rows, titles, keys and comments.
#include "core/text/pack.hpp"

#include <algorithm>

namespace recommit {
namespace {

constexpr std::string_view kBlanks = " \t-_";

constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Length of the key before the colon of a key line; 0 if the (trimmed) line is none.
std::size_t key_length(std::string_view line) noexcept {
  if (line.empty() || !is_letter(line.front())) return 0;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const char c = line[i];
    if (c == ':') return i;
    if (!is_letter(c) && !is_digit(c) && c != ' ' && c != '-' && c != '_') return 0;
  }
  return 0;
}

bool is_comment(std::string_view line) noexcept {
  const std::string_view text = trimmed(line);
  return !text.empty() && text.front() == ';';
}

bool is_title_key(std::string_view key) noexcept {
  constexpr std::string_view kTitle = "title";
  return std::equal(key.begin(), key.end(), kTitle.begin(), kTitle.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

/// What the line says if it is `Title: ...`, else empty.
std::string_view title_of_key(std::string_view line) noexcept {
  const std::string_view text = trimmed(line);
  const std::size_t length = key_length(text);
  return is_title_key(trimmed(text.substr(0, length))) ? trimmed(text.substr(length + 1)) : std::string_view{};
}

}  // namespace

std::size_t first_symbol(std::string_view line) noexcept { return line.find_first_not_of(kBlanks); }

PackReader::Kind PackReader::classify(std::string_view line, const PackGrammar& grammar) noexcept {
  if (is_comment(line)) return Kind::Comment;
  if (first_symbol(line) == std::string_view::npos) return Kind::Blank;
  if (key_length(trimmed(line)) != 0) return Kind::Key;
  switch (grammar.kind(line)) {
    case LineKind::Row: return Kind::Row;
    case LineKind::Damaged: return Kind::Damaged;
    case LineKind::Foreign: return Kind::Foreign;
    default: return Kind::Text;
  }
}

void PackReader::advance() {
  under_row_ = kind_ == Kind::Row;
  kind_ = lines_.next(line_) ? classify(line_.text, grammar_) : Kind::End;
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
  heading_ = key_title_ = {};
  take_keys_below(block);
  return true;
}

void PackReader::check_below() const {
  if (under_row_ && (kind_ == Kind::Damaged || kind_ == Kind::Foreign || kind_ == Kind::Text)) refuse_line();
}

void PackReader::take_heading() {
  if (kind_ == Kind::Damaged || kind_ == Kind::Foreign) refuse_line();
  const std::string_view text = trimmed(line_.text);
  std::string_view heading;
  if (kind_ == Kind::Comment) {
    heading = trimmed(text.substr(1));
    if (is_number(heading)) {
      check_no_header_waits();
      header_ = line_;
    }
  } else if (kind_ == Kind::Text) {
    heading = text;
  } else if (kind_ == Kind::Key) {
    const std::string_view title = title_of_key(line_.text);
    if (!title.empty()) key_title_ = title;
  }
  if (!heading.empty()) heading_ = heading;
}

void PackReader::take_rows(Block& block) {
  const auto most = static_cast<std::size_t>(grammar_.max_rows);
  block.rows.clear();
  Line extra;
  std::size_t count = 0;
  for (; kind_ == Kind::Row; advance()) {
    if (count < most) block.rows.push_back(line_);
    if (count == most) extra = line_;
    ++count;
  }
  if (count > most) {
    throw error_at(extra, 0, "expected at most " + std::to_string(most) + " rows, got " + std::to_string(count));
  }
}

/// Key lines right under the rows belong to them, so a blank line is what separates `Title:` from the next level.
void PackReader::take_keys_below(Block& block) {
  for (; kind_ == Kind::Key; advance()) {
    const std::string_view title = title_of_key(line_.text);
    if (!title.empty()) block.title = title;
  }
}

void PackReader::check_no_header_waits() const {
  if (header_.number == 0) return;
  throw error_at(header_, header_.text.find(';'), "expected a level under this numbered header, got none");
}

void PackReader::refuse_line() const {
  const std::size_t at = first_symbol(line_.text);
  if (kind_ == Kind::Foreign)
    throw error_at(line_, at, std::string("expected levels of one task, got ") + grammar_.foreign);
  throw error_at(line_, at,
                 "unknown character " + describe_char(line_.text, at) +
                     " in a row (a text line starts with ';' or stands after a blank line)");
}

int first_row(const Text& text, bool (*is_row)(std::string_view) noexcept) {
  Lines lines(text);
  for (Line line; lines.next(line);) {
    const bool aside = is_comment(line.text) || key_length(trimmed(line.text)) != 0;
    if (!aside && first_symbol(line.text) != std::string_view::npos && is_row(line.text)) return line.number;
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
