"""F9: every text is a commitment or exactly one counted reason, quickly, and never an exception."""

from __future__ import annotations

import contextlib
import json
import os
import random

import pytest
from tests.effort import effort

from recommit.zero_shot import parser
from recommit.zero_shot.parser import ACTIONS, DEPTHS, AnswerOutcome, Commitment, first_object, parse

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

EXAMPLES = int(os.environ.get("RECOMMIT_PARSER_EXAMPLES", "20000"))
UP = '{"h": 1, "actions": ["up"]}'
FOUR = '{"h":4,"actions":["up","down","left","right"]}'

#: Shapes seen in the wild or to be expected, and what each one is.
SHAPES = {
    # whole answers, dressed up
    UP: "ok",
    FOUR: "ok",
    f"```json\n{UP}\n```": "ok",
    f"Sure! Here is my answer:\n\n{UP}\n\nI hope this helps.": "ok",
    f"{UP}{FOUR}": "ok",
    f"{UP}\n{{broken": "ok",
    f'quote {{" then {UP}': "ok",
    f"{{not json}} {UP}": "ok",
    f"\ufeff{UP}": "ok",
    '\r\n\t{\r\n"h"\t:\r\n1,"actions":["up"]}': "ok",
    '{"\\u0068": 1, "actions": ["\\u0075p"]}': "ok",
    # nothing
    "": "empty",
    "   \n\t": "empty",
    "\u2003\u00a0": "empty",
    # text without an object
    "up, left": "no_object",
    "I am sorry, but I cannot help with that.": "no_object",
    '{"h": 4, "actions": ["up", "le': "no_object",
    "{": "no_object",
    "}{": "no_object",
    "{" * 5000: "no_object",
    # balanced, but no JSON
    "{}{}": "wrong_fields",
    "{h: 1, actions: [up]}": "bad_json",
    "{'h': 1, 'actions': ['up']}": "bad_json",
    '{"h": 1, "actions": ["up"]/* one */}': "bad_json",
    '{"h": 1, "actions": ["up"]' + ", []" * 10 + "}": "bad_json",
    '{"a": ' + "[" * 5000 + "]" * 5000 + "}": "bad_json",
    "{\u201ch\u201d: 1, \u201cactions\u201d: [\u201cup\u201d]}": "bad_json",
    # JSON, but not the fields
    "{}": "wrong_fields",
    '{"h": NaN, "actions": []}': "wrong_fields",
    '{"h": 1.0, "actions": ["up"]}': "wrong_fields",
    '{"h": true, "actions": ["up"]}': "wrong_fields",
    '{"h": 1, "actions": {"0": "up"}}': "wrong_fields",
    '{"h": 1, "actions": ["up"], "thought": "x"}': "wrong_fields",
    '{"h": 1, "h": 1, "actions": ["up"]}': "wrong_fields",
    f'{{"answer": {UP}}}': "wrong_fields",
    f"{{}} {UP}": "wrong_fields",
    # depth
    '{"h": 0, "actions": []}': "depth_outside",
    '{"h": 3, "actions": ["up","up","up"]}': "depth_outside",
    '{"h": ' + "9" * 500 + ', "actions": ["up"]}': "depth_outside",
    # count
    '{"h": 2, "actions": ["up"]}': "count_mismatch",
    '{"h": 4, "actions": [' + ",".join(['"up"'] * 8000) + "]}": "count_mismatch",
    # actions
    '{"h": 1, "actions": ["jump"]}': "unknown_action",
    '{"h": 1, "actions": [" up"]}': "unknown_action",
    '{"h": 1, "actions": [["up"]]}': "unknown_action",
    '{"h": 1, "actions": ["u\u200bp"]}': "unknown_action",
    '{"h": 1, "actions": ["\\ud800"]}': "unknown_action",
    '{"h": 1, "actions": ["le\ufb00t"]}': "unknown_action",
    # size
    "x" * (parser.MOST_CHARACTERS + 1): "too_long",
    UP + " " * parser.MOST_CHARACTERS: "too_long",
}


@pytest.mark.parametrize("text", SHAPES, ids=lambda text: f"{text[:40]!r}")
def test_shapes(text):
    made = parse(text)
    assert made.outcome.value == SHAPES[text]
    assert bool(made.actions) == (made.outcome is AnswerOutcome.OK)


def test_every_outcome_of_a_text_has_a_shape():
    assert set(SHAPES.values()) == {outcome.value for outcome in AnswerOutcome} - {"refused", "cut_off"}


def test_what_the_endpoint_says_counts_only_without_an_object():
    assert parse("", refused=True).outcome is AnswerOutcome.REFUSED
    assert parse("No.", refused=True).outcome is AnswerOutcome.REFUSED
    assert parse("", cut_off=True).outcome is AnswerOutcome.CUT_OFF
    assert parse('{"h": 4, "act', cut_off=True).outcome is AnswerOutcome.CUT_OFF
    assert parse(UP, refused=True, cut_off=True).outcome is AnswerOutcome.OK
    assert parse("{}", cut_off=True).outcome is AnswerOutcome.WRONG_FIELDS


def check(text):
    made = parse(text)
    assert type(made.outcome) is AnswerOutcome
    if made.outcome is not AnswerOutcome.OK:
        assert made == Commitment(made.outcome)
        return
    assert len(made.actions) == made.depth
    assert made.depth in DEPTHS
    assert all(action in range(4) for action in made.actions)


PIECES = [*'{}[]",:\\', '"h"', '"actions"', '"up"', "1", "8", "null", " ", "\n", "é", "```", UP, '"h":4', '{"h":']
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(ACTIONS),
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.sampled_from(["h", "actions", "x"]), inner),
)


@hypothesis.settings(max_examples=EXAMPLES // 100, deadline=None, database=None)
@hypothesis.given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join) | values.map(json.dumps))
def test_any_text_has_one_outcome(text):
    check(text)


@hypothesis.settings(max_examples=EXAMPLES // 100, deadline=None, database=None)
@hypothesis.given(st.sampled_from(DEPTHS), st.data(), st.text(alphabet="abc .,\n'<>"), st.text())
def test_an_answer_is_found_behind_any_prose(depth, data, before, after):
    actions = data.draw(st.lists(st.sampled_from(range(4)), min_size=depth, max_size=depth))
    text = before + json.dumps({"h": depth, "actions": [ACTIONS[a] for a in actions]}) + after
    assert parse(text) == Commitment(AnswerOutcome.OK, depth, tuple(actions))


def reference(text):
    """The first object, tried from every brace to every other: slow and plain."""
    for begin in (i for i, c in enumerate(text) if c == "{"):
        for end in (i for i, c in enumerate(text) if c == "}" and i > begin):
            with contextlib.suppress(ValueError):
                return json.loads(text[begin : end + 1])
    return None


def test_the_search_is_that_of_a_plain_one():
    draw, found = random.Random(0), 0
    for _ in range(5000):
        text = "".join(draw.choice(["{", "}", "a", " ", '"x"', '"y}{"', ":", "[1]"]) for _ in range(draw.randrange(20)))
        assert first_object(text) == reference(text)
        found += first_object(text) is not None
    assert found > 500


M = parser.MOST_CHARACTERS
#: Units of tests/effort.py.
MOST_EFFORT = 100
HEAVY = {
    "open": "{" * M,
    "pairs": "{}" * (M // 2),
    "nested": "{" * (M // 2) + "}" * (M // 2),
    "quotes": '{"' * (M // 2),
    "hidden": '{"{' * (M // 3),
    "objects": '{"a":' * (M // 10) + "1" + "}" * (M // 10),
    "digits": '{"h":' + "1" * (M - 20) + "}",
    "fields": "{" + ",".join(f'"{i}":1' for i in range(8000)) + "}",
    "actions": '{"h":1000000,"actions":[' + '"up",' * 8000 + '"up"]}',
    "blank": " " * 10_000_000,
}


@pytest.mark.parametrize("name", HEAVY)
def test_hostile_texts_take_no_more_than_a_pass_over_them(name):
    """The dearest takes 16 units, of half a millisecond or so."""
    assert effort(lambda: parse(HEAVY[name])) < MOST_EFFORT


def test_a_search_from_every_brace_is_noticed():
    """The planted defect takes 600 units of a text that is a fiftieth of the longest that is looked into."""
    assert effort(lambda: reference(HEAVY["nested"][M // 2 - 300 : M // 2 + 300])) > MOST_EFFORT
