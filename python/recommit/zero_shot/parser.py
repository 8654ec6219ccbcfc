"""What a model's text says: a commitment, or exactly one reason why it is none. Never raises, whatever the text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import Any

#: Depths that a model may commit to, and the actions in the order of their codes.
DEPTHS = (1, 2, 4, 8)
ACTIONS = ("up", "down", "left", "right")
#: Longer texts are not looked into. A commitment has 100 characters, and a talkative model's thoughts some 10,000.
MOST_CHARACTERS = 1 << 17
#: Only the first so many opening braces are tried, which keeps hostile texts cheap.
MOST_BRACES = 1 << 10


class AnswerOutcome(str, Enum):
    """What became of one decision. All but ``ok`` run no action."""

    OK = "ok"
    EMPTY = "empty"  #: no text
    REFUSED = "refused"  #: the endpoint says that the model refused, or that a filter did; and there is no object
    CUT_OFF = "cut_off"  #: the answer's token limit came before any whole object
    TOO_LONG = "too_long"  #: too much text to look into
    NO_OBJECT = "no_object"  #: text without {...}
    BAD_JSON = "bad_json"  #: text with {...}, but without a JSON object
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


def parse(text: str, *, lenient: bool = False, refused: bool = False, cut_off: bool = False) -> Commitment:
    """The commitment in a text: its first JSON object, which must be ``{"h": int, "actions": [...]}``.

    ``lenient`` takes the actions as they are: the depth is min(their number, 8), what ``h`` says and further fields do
    not matter. ``refused`` and ``cut_off`` are what the endpoint said about the answer; a whole object counts all the
    same.
    """
    if len(text) > MOST_CHARACTERS and text.strip():
        return Commitment(AnswerOutcome.TOO_LONG)
    found = first_object(text)
    if isinstance(found, dict):
        return judged(found, lenient=lenient)
    if found is AnswerOutcome.NO_OBJECT:
        found = AnswerOutcome.NO_OBJECT if text.strip() else AnswerOutcome.EMPTY
        found = AnswerOutcome.REFUSED if refused else AnswerOutcome.CUT_OFF if cut_off else found
    return Commitment(found)


def judged(fields: dict[str, Any], *, lenient: bool = False) -> Commitment:
    """The commitment in the fields of an object, as ``parse`` takes them."""
    return _lenient(fields) if lenient else _strict(fields)


def _strict(fields: dict[str, Any]) -> Commitment:
    depth, actions = fields.get("h"), fields.get("actions")
    if set(fields) != {"h", "actions"} or type(depth) is not int or not isinstance(actions, list):
        return Commitment(AnswerOutcome.WRONG_FIELDS)
    if depth not in DEPTHS:
        return Commitment(AnswerOutcome.DEPTH_OUTSIDE)
    if len(actions) != depth:
        return Commitment(AnswerOutcome.COUNT_MISMATCH)
    return _of_words(actions)


def _lenient(fields: dict[str, Any]) -> Commitment:
    actions = fields.get("actions")
    if not isinstance(actions, list):
        return Commitment(AnswerOutcome.WRONG_FIELDS)
    return _of_words(actions[: DEPTHS[-1]]) if actions else Commitment(AnswerOutcome.DEPTH_OUTSIDE)


def _of_words(actions: list[Any]) -> Commitment:
    # ASCII alone: other letters that fold to these are look-alikes, not the words that were asked for.
    words = [word.lower() if isinstance(word, str) and word.isascii() else "" for word in actions]
    if not all(word in ACTIONS for word in words):
        return Commitment(AnswerOutcome.UNKNOWN_ACTION)
    return Commitment(AnswerOutcome.OK, len(words), tuple(ACTIONS.index(word) for word in words))


def first_object(text: str) -> dict[str, Any] | AnswerOutcome:
    """The first JSON object in a text, or why there is none; one with a field twice is none of ours."""
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end < begin:
        return AnswerOutcome.NO_OBJECT
    for _ in range(MOST_BRACES):
        try:
            fields: dict[str, Any] = _DECODER.raw_decode(text, begin)[0]
        except _Twice:
            return AnswerOutcome.WRONG_FIELDS
        except (RecursionError, MemoryError):
            break
        except ValueError:
            begin = text.find("{", begin + 1, end)
            if begin < 0:
                break
        else:
            return fields
    return AnswerOutcome.BAD_JSON


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


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_int=_short, parse_constant=_refuse)
