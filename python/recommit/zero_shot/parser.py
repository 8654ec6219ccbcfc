"""What a model's text says: a commitment, or exactly one reason why it is none. Never raises, whatever the text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Any

#: Depths that a model may commit to, and the actions in the order of their codes.
DEPTHS = (1, 2, 4, 8)
ACTIONS = ("up", "down", "left", "right")
#: Longer texts are not looked into. A commitment has 100 characters, and a talkative model's thoughts some 10,000.
MOST_CHARACTERS = 1 << 17
#: Only this many braces and quotes count, the first ones, which keeps hostile texts cheap.
MOST_MARKS = 1 << 14

_MARK = re.compile(r'\\.|["{}]', re.DOTALL)


class AnswerOutcome(str, Enum):
    """What became of one decision. All but ``ok`` run no action."""

    OK = "ok"
    EMPTY = "empty"  #: no text
    REFUSED = "refused"  #: the endpoint says that the model refused, or that a filter did; and there is no object
    CUT_OFF = "cut_off"  #: the answer's token limit came before any whole object
    TOO_LONG = "too_long"  #: too much text to look into
    NO_OBJECT = "no_object"  #: text without a balanced {...}
    BAD_JSON = "bad_json"  #: the first balanced {...} is no JSON
    WRONG_FIELDS = "wrong_fields"  #: not exactly an int h and a list actions
    DEPTH_OUTSIDE = "depth_outside"  #: h is not 1, 2, 4 or 8
    COUNT_MISMATCH = "count_mismatch"  #: not h actions
    UNKNOWN_ACTION = "unknown_action"  #: an action that is none of the four


@dataclass(frozen=True)
class Commitment:
    """What a text was taken for; depth 0 and no actions unless the outcome is ok."""

    outcome: AnswerOutcome
    depth: int = 0
    actions: tuple[int, ...] = ()


def parse(text: str, *, refused: bool = False, cut_off: bool = False) -> Commitment:
    """The commitment in a text: its first balanced ``{...}``, which must be ``{"h": int, "actions": [...]}``.

    ``refused`` and ``cut_off`` are what the endpoint said about the answer; a whole object counts all the same.
    """
    if not text.strip():
        return Commitment(
            AnswerOutcome.REFUSED if refused else AnswerOutcome.CUT_OFF if cut_off else AnswerOutcome.EMPTY
        )
    if len(text) > MOST_CHARACTERS:
        return Commitment(AnswerOutcome.TOO_LONG)
    object_text = first_object(text)
    if object_text is None:
        return Commitment(
            AnswerOutcome.REFUSED if refused else AnswerOutcome.CUT_OFF if cut_off else AnswerOutcome.NO_OBJECT
        )
    try:
        fields = json.loads(object_text, object_pairs_hook=_unique, parse_int=_short, parse_constant=_refuse)
    except _Twice:
        return Commitment(AnswerOutcome.WRONG_FIELDS)
    except (ValueError, RecursionError, MemoryError):
        return Commitment(AnswerOutcome.BAD_JSON)
    return judged(fields)


def judged(fields: dict[str, Any]) -> Commitment:
    """The commitment in the fields of an object, as ``parse`` takes them."""
    depth, actions = fields.get("h"), fields.get("actions")
    if set(fields) != {"h", "actions"} or type(depth) is not int or not isinstance(actions, list):
        return Commitment(AnswerOutcome.WRONG_FIELDS)
    if depth not in DEPTHS:
        return Commitment(AnswerOutcome.DEPTH_OUTSIDE)
    if len(actions) != depth:
        return Commitment(AnswerOutcome.COUNT_MISMATCH)
    # ASCII alone: other letters that fold to these are look-alikes, not the words that were asked for.
    words = [word.lower() if isinstance(word, str) and word.isascii() else "" for word in actions]
    if not all(word in ACTIONS for word in words):
        return Commitment(AnswerOutcome.UNKNOWN_ACTION)
    return Commitment(AnswerOutcome.OK, len(words), tuple(ACTIONS.index(word) for word in words))


def first_object(text: str) -> str | None:
    """The first ``{...}`` whose braces balance by JSON's rules, in which braces inside strings do not count.

    A brace that is never closed is passed over. How many marks are looked at, over all attempts, is bounded.
    """
    marks = [(match.start(), match[0]) for match in islice(_MARK.finditer(text), MOST_MARKS)]
    begin, remaining = 0, 2 * MOST_MARKS
    while begin < len(marks) and remaining > 0:
        closed, hidden = _scan(marks, begin)
        if closed:
            first, last = min(closed)
            return text[first : last + 1]
        remaining -= len(marks) - begin
        # What this scan opened outside strings never closes; only what it took for a part of a string may.
        begin = hidden
    return None


def _scan(marks: list[tuple[int, str]], begin: int) -> tuple[list[tuple[int, int]], int]:
    """The pairs that close until the first brace does, or in all; and the first brace that stood in a string."""
    opened: list[int] = []
    closed: list[tuple[int, int]] = []
    hidden, quoted = len(marks), False
    for index in range(begin, len(marks)):
        place, mark = marks[index]
        if mark == '"':
            quoted = bool(opened) and not quoted
        elif quoted:
            hidden = min(hidden, index) if mark == "{" else hidden
        elif mark == "{":
            opened.append(place)
        elif mark == "}" and opened:
            closed.append((opened.pop(), place))
            if not opened:
                break
    return closed, hidden


class _Twice(ValueError):
    """A field that occurs twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise _Twice
    return dict(pairs)


def _short(digits: str) -> int:
    """Numbers of many digits take long to read, and no depth has any."""
    return int(digits) if len(digits) < 10 else -1


def _refuse(name: str) -> Any:
    raise ValueError(name)
