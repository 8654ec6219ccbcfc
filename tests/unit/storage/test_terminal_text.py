"""Foreign text is shown and never obeyed."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from recommit.storage import terminal_text

#: What a terminal obeys: escapes, bells, carriage returns, C1 controls, marks of direction, halves of surrogates.
ORDERS = ["\x1b[2J", "\x1b]0;title\x07", "\r", "\x9b31m", "\u202e", "\u2066", "\ud800", "\x00"]


@pytest.mark.parametrize("order", ORDERS, ids=ascii)
def test_orders_to_a_terminal_leave_a_mark(order):
    text = terminal_text.plain(f"a{order}b")
    assert text.startswith("a\ufffd")
    assert not set(text) & set("\x00\x07\r\x1b\x9b\u202e\u2066\ud800")


def test_text_stays_text():
    text = "Größe 3x3, 日本\tline\nnext"
    assert terminal_text.plain(text) == text
    assert terminal_text.plain(7) == "7"


def test_a_cell_of_a_table_stays_one():
    cell = terminal_text.cell("a|b\n<script>&#x41; [x](y)")
    assert cell == "a\\|b &lt;script>&amp;#x41; [x]\\(y)"
    assert terminal_text.cell("AT&T, 1 < 2 > 0") == "AT&T, 1 &lt; 2 > 0"


def test_nothing_unseen_is_left():
    """All of Unicode by its own categories; the signs that stand before Arabic numbers are seen."""
    seen = {chr(code) for code in (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD)}
    every = map(chr, range(sys.maxunicode + 1))
    remaining = [
        c for c in every if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and terminal_text.plain(c) == c
    ]
    assert set(remaining) - seen == {"\n", "\t"}


def test_one_place_writes_to_the_terminal(capsys):
    terminal_text.tell("a\x1bb")
    terminal_text.say("c\rd", over=True, end="")
    assert capsys.readouterr() == ("a\ufffdb\n", "\r\x1b[Kc\ufffdd")
