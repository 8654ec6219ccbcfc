// Enumeration of redundant words of moves.
#include "sliding/search/automaton.hpp"

#include <algorithm>
#include <unordered_set>

#include "core/rng.hpp"
#include "sliding/simulate.hpp"

namespace recommit::sliding {
namespace {

constexpr std::size_t kMaxWords = std::size_t{1} << 20;  // per length: bounds the time to a fraction of a second

/// A board as 5 bits per cell, 12 cells a word. The last cell of 25 follows from the others.
struct Key {
  std::array<std::uint64_t, 2> half{};
  bool operator==(const Key&) const = default;

  static constexpr int kPerHalf = 12;
  std::uint64_t get(int cell) const noexcept {
    return half[static_cast<std::size_t>(cell / kPerHalf)] >> (cell % kPerHalf * 5) & 31;
  }
  void flip(int cell, std::uint64_t tile) noexcept {
    half[static_cast<std::size_t>(cell / kPerHalf)] ^= tile << (cell % kPerHalf * 5);
  }
};

/// A word of moves from `start` that is not redundant.
struct Word {
  Key board;
  std::uint32_t moves = 0;                       // two bits each, the last one lowest
  std::uint8_t start = 0, blank = 0, last = 24;  // last: tile in cell 24, which the key leaves out
};

struct Seen {
  Key board;
  std::uint8_t start;
  bool operator==(const Seen&) const = default;
};
struct SeenHash {
  std::size_t operator()(const Seen& seen) const noexcept {
    return static_cast<std::size_t>(Rng::mix(Rng::mix(seen.board.half[0] + seen.start) ^ seen.board.half[1]));
  }
};

/// Trie of the refused words, one root per blank cell, numbered as in the final automaton.
class Trie {
 public:
  explicit Trie(Shape shape) : moves_(shape), roots_(static_cast<std::uint32_t>(shape.cells())), nodes_(1) {
    for (int cell = 0; cell < shape.cells(); ++cell) nodes_.push_back({{}, static_cast<std::uint8_t>(cell), false});
  }

  std::size_t size() const noexcept { return nodes_.size(); }
  std::size_t target(std::size_t cell, std::size_t action) const noexcept { return moves_.to[cell][action]; }

  void add(const Word& word, int length) {
    std::size_t node = Automaton::root(word.start);
    for (int k = length - 1; k >= 0; --k) {
      const std::size_t action = word.moves >> (2 * k) & 3;
      if (nodes_[node].next[action] == 0) {
        nodes_[node].next[action] = static_cast<std::uint32_t>(nodes_.size());
        nodes_.push_back({{}, static_cast<std::uint8_t>(target(nodes_[node].blank, action)), false});
      }
      node = nodes_[node].next[action];
    }
    nodes_[node].refused = true;
  }

  /// True if the trie contains a suffix of `word` as refused.
  bool refuses(const Word& word, int length) const noexcept {
    std::array<std::uint8_t, 17> cells{};
    cells[0] = word.start;
    for (int k = 0; k < length; ++k) {
      cells[static_cast<std::size_t>(k) + 1] = static_cast<std::uint8_t>(
          target(cells[static_cast<std::size_t>(k)], word.moves >> (2 * (length - 1 - k)) & 3));
    }
    for (int from = 0; from < length; ++from) {
      std::size_t node = Automaton::root(cells[static_cast<std::size_t>(from)]);
      for (int k = from; k < length && node != 0; ++k)
        node = nodes_[node].next[word.moves >> (2 * (length - 1 - k)) & 3];
      if (node != 0 && nodes_[node].refused) return true;
    }
    return false;
  }

  /// Aho-Corasick: a missing edge is the edge of the longest proper suffix. Refused nodes vanish.
  std::vector<Automaton::Row> rows() const {
    std::vector<std::uint32_t> fail(nodes_.size(), 0), order, number(nodes_.size(), 0);
    std::vector<std::array<std::uint32_t, kActions>> go(nodes_.size());
    for (std::uint32_t root = 1; root <= roots_; ++root) order.push_back(root);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint32_t at = order[i];
      for (std::size_t a = 0; a < kActions; ++a) {
        const std::size_t to = target(nodes_[at].blank, a);
        if (to == nodes_[at].blank) continue;
        const std::uint32_t child = nodes_[at].next[a];
        const std::uint32_t suffix = fail[at] == 0 ? static_cast<std::uint32_t>(to + 1) : go[fail[at]][a];
        go[at][a] = child == 0 ? suffix : child;
        if (child != 0) {
          fail[child] = suffix;
          if (!nodes_[child].refused) order.push_back(child);
        }
      }
    }
    for (std::size_t i = 0; i < order.size(); ++i) number[order[i]] = static_cast<std::uint32_t>(i + 1);
    std::vector<Automaton::Row> out(order.size() + 1);
    for (const std::uint32_t at : order) {
      for (std::size_t a = 0; a < kActions; ++a) out[number[at]][a] = static_cast<Automaton::Number>(number[go[at][a]]);
    }
    return out;
  }

 private:
  struct Node {
    std::array<std::uint32_t, kActions> next{};
    std::uint8_t blank = 0;
    bool refused = false;
  };

  Moves moves_;
  std::uint32_t roots_;
  std::vector<Node> nodes_;
};

Word moved(const Word& word, int action, int to) noexcept {
  Word out = word;
  const std::uint64_t tile = to == 24 ? word.last : word.board.get(to);
  const auto flip = [&](int cell) {
    if (cell == 24) {
      out.last = static_cast<std::uint8_t>(out.last ^ tile);
    } else {
      out.board.flip(cell, tile);
    }
  };
  flip(word.blank);
  flip(to);
  out.blank = static_cast<std::uint8_t>(to);
  out.moves = word.moves << 2 | static_cast<std::uint32_t>(action);
  return out;
}

/// The empty word for every blank cell, on a board with distinct tiles.
std::vector<Word> empty_words(int cells) {
  std::vector<Word> words(static_cast<std::size_t>(cells));
  for (int start = 0; start < cells; ++start) {
    Word& word = words[static_cast<std::size_t>(start)];
    word.start = word.blank = static_cast<std::uint8_t>(start);
    word.last = static_cast<std::uint8_t>(start == 24 ? 0 : 24);
    for (int cell = 0, tile = 1; cell < std::min(cells, 24); ++cell) {
      if (cell != start) word.board.flip(cell, static_cast<std::uint64_t>(tile++));
    }
  }
  return words;
}

}  // namespace

Automaton::Automaton(Shape shape, int longest) {
  const Moves moves(shape);
  Trie trie(shape);
  std::unordered_set<Seen, SeenHash> seen;
  std::vector<Word> words = empty_words(shape.cells());
  for (const Word& word : words) seen.insert({word.board, word.start});
  for (int length = 1; length <= std::min(longest, 16) && words.size() <= kMaxWords; ++length) {
    // Words of one length are in ascending order per start, so the first to reach a board is the smallest.
    std::vector<Word> allowed, refused;
    for (const Word& word : words) {
      for (int action = 0; action < kActions; ++action) {
        const int to = moves.to[word.blank][static_cast<std::size_t>(action)];
        if (to == word.blank) continue;
        const Word next = moved(word, action, to);
        if (trie.refuses(next, length)) continue;
        (seen.insert({next.board, next.start}).second ? allowed : refused).push_back(next);
      }
    }
    if (trie.size() + refused.size() * static_cast<std::size_t>(length) > kMaxStates) break;
    for (const Word& word : refused) trie.add(word, length);
    words.swap(allowed);
  }
  rows_ = trie.rows();
}

Automaton::Automaton(const std::uint8_t* bytes) : rows_(kMaxStates + 1) {
  for (std::size_t i = 0; i < rows_.size() * kActions; ++i) {
    rows_[i / kActions][i % kActions] = static_cast<Number>(bytes[2 * i] | bytes[2 * i + 1] << 8);
  }
}

void Automaton::bytes(std::uint8_t* out) const noexcept {
  for (std::size_t i = 0; i < (kMaxStates + 1) * kActions; ++i) {
    const Number number = i / kActions < rows_.size() ? rows_[i / kActions][i % kActions] : Number{0};
    out[2 * i] = static_cast<std::uint8_t>(number & 255);
    out[2 * i + 1] = static_cast<std::uint8_t>(number >> 8);
  }
}

}  // namespace recommit::sliding
