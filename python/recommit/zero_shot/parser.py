"""Parser of a model's answer: a commitment, or exactly one reason why it is none. Never raises, whatever the text."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Any

#: Depths that a model may commit to, and the actions in the order of their codes.
DEPTHS = (1, 2, 4, 8)
ACTIONS = ("up", "down", "left", "right")
#: Longer texts are not parsed. A commitment has 100 characters, and a talkative model's thoughts some 10,000.
MOST_CHARACTERS = 1 << 17
#: Number of opening braces at which an object is searched, which keeps hostile texts cheap.
MOST_BRACES = 1 << 8


class AnswerOutcome(str, Enum):
    """Outcome of parsing one answer. All but ``ok`` execute no action."""

    OK = "ok"
    EMPTY = "empty"  #: no text
    REFUSED = "refused"  #: no object, and the endpoint reports a refusal of the model or of a filter
    CUT_OFF = "cut_off"  #: the answer's token limit came before any whole object
    TOO_LONG = "too_long"  #: too much text to parse
    NO_OBJECT = "no_object"  #: text without {...}
    BAD_JSON = "bad_json"  #: {...} that is no JSON object
    WRONG_FIELDS = "wrong_fields"  #: not exactly an int h and a list actions
    DEPTH_OUTSIDE = "depth_outside"  #: h is not 1, 2, 4 or 8
    COUNT_MISMATCH = "count_mismatch"  #: not h actions
    UNKNOWN_ACTION = "unknown_action"  #: an action that is none of the four


@dataclass(frozen=True)
class Commitment:
    """A parsed answer; depth 0 and no actions unless the outcome is ok."""

    outcome: AnswerOutcome
    depth: int = 0
    actions: tuple[int, ...] = ()


def parse(text: str, *, refused: bool = False, cut_off: bool = False) -> Commitment:
    """Parse the commitment in a text: its first JSON object, which must be ``{"h": int, "actions": [...]}``.

    ``refused`` and ``cut_off`` are flags of the endpoint; a whole object counts in spite of them.
    """
    if len(text) > MOST_CHARACTERS and text.strip():
        return Commitment(AnswerOutcome.TOO_LONG)
    fields = first_object(text)
    if fields is not None:
        return judged(fields)
    if refused or cut_off:
        return Commitment(AnswerOutcome.REFUSED if refused else AnswerOutcome.CUT_OFF)
    if not text.strip():
        return Commitment(AnswerOutcome.EMPTY)
    braces = 0 <= text.find("{") < text.rfind("}")
    return Commitment(AnswerOutcome.BAD_JSON if braces else AnswerOutcome.NO_OBJECT)


def judged(fields: dict[str, Any]) -> Commitment:
    """Validate the fields of an object as a commitment; see ``parse``."""
    depth, actions = fields.get("h"), fields.get("actions")
    if set(fields) != {"h", "actions"} or type(depth) is not int or not isinstance(actions, list):
        return Commitment(AnswerOutcome.WRONG_FIELDS)
    if depth not in DEPTHS:
        return Commitment(AnswerOutcome.DEPTH_OUTSIDE)
    if len(actions) != depth:
        return Commitment(AnswerOutcome.COUNT_MISMATCH)
    # ASCII alone: other letters that fold to these are look-alikes, not the requested words.
    words = [word.lower() if isinstance(word, str) and word.isascii() else "" for word in actions]
    if not all(word in ACTIONS for word in words):
        return Commitment(AnswerOutcome.UNKNOWN_ACTION)
    return Commitment(AnswerOutcome.OK, len(words), tuple(ACTIONS.index(word) for word in words))


def first_object(text: str) -> dict[str, Any] | None:
    """Fields of the first JSON object in a text, None without one; empty if a field occurs twice."""
    for brace in islice(re.finditer("{", text), MOST_BRACES):
        with suppress(ValueError, RecursionError):
            return _DECODER.raw_decode(text, brace.start())[0]
    return None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else {}


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)
