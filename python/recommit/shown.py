"""Foreign text for people: names in files, titles of levels and words of models are shown and never obeyed."""

from __future__ import annotations

import re

#: What a terminal, a spreadsheet or a parser might take for an order; line feeds and tabs are text.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028-\u202e\u2066-\u2069]")
#: What ends a cell of a Markdown table, and what begins a tag, an entity or a link in one.
_MARKDOWN = re.compile(r"[|\n<]|&(?=#|\w+;)|\]\(")
_ESCAPES = {"|": "\\|", "\n": " ", "<": "&lt;", "&": "&amp;", "](": "]\\("}


def plain(value: object) -> str:
    """Text without control characters, whose places stay visible."""
    return _CONTROL.sub("\ufffd", str(value))


def cell(value: object) -> str:
    """Text for a table in Markdown that is read in a terminal too."""
    return _MARKDOWN.sub(lambda found: _ESCAPES[found[0]], plain(value))
