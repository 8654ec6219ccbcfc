"""Recipes of strangers: aliases that grow, texts without end, values unknown to JSON; each is a sentence, soon."""

from __future__ import annotations

import pytest
from tests.effort import Meter
from tests.refusals import refused

from recommit.data.spec import DataSpec
from recommit.estimate.options import EstimateOptions
from recommit.reproduce import preset
from recommit.storage import recipe_text
from recommit.storage.errors import WrongDataSpec
from recommit.storage.recipe_text import MOST_VALUES, brief, read
from recommit.train import config

pytest.importorskip("yaml")


def laughs(levels, width, inside):
    """A value of ``width ** levels`` items in a few hundred bytes, where ``inside`` has a place for it."""
    lines = ["&a0 [" + ", ".join(["ha"] * width) + "]"]
    lines += [f"&a{i} [" + ", ".join([f"*a{i - 1}"] * width) + "]" for i in range(1, levels)]
    return inside.replace("HERE", "[" + ", ".join(lines) + "]")


def merged(before, name):
    """A mapping that is nine times the one before."""
    return f"{name}: &{name} {{<<: [{', '.join([f'*{before}'] * 9)}], {name}: 1}}\n"


BOMBS = {
    "in a value": laughs(9, 9, "sft: {optim: {steps: HERE}}\n"),
    "at the top": laughs(9, 9, "bomb: HERE\nsft: {optim: {steps: 1}}\n"),
    "for a preset": laughs(9, 9, "- for: {x: HERE}\n  do: [report {x} --out y]\n"),
    "for a data set": laughs(9, 9, "task: sliding\nsize: HERE\n"),
    "merged": "a: &a {x: 1}\n" + "".join(map(merged, "abcdefghi", "bcdefghij")),
    "a long text": f"a: &a {'x' * 100_000}\nb: [" + ", ".join(["*a"] * 5000) + "]\n",
    "itself": "sft: &a {optim: *a}\n",
    "itself in a list": "sft: &a [*a]\n",
    "deep lists": "sft: " + "[" * 600 + "]" * 600,
    "deep mappings": "sft: " + "{a: " * 600 + "1" + "}" * 600,
    "a long file": "a: 1\n" * 100_000,
    "names": "{" + "a: 1, " * 4000 + "}",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_a_sentence_to_every_reader(name, tmp_path):
    path = tmp_path / "r.yaml"
    path.write_text(BOMBS[name])
    readers = config.load, lambda path: preset.load(str(path), path.parent), DataSpec.read
    for reads in readers if name == "in a value" else [lambda path: read(path.read_text())]:
        with Meter() as meter, pytest.raises((ValueError, WrongDataSpec)) as caught:
            reads(path)
        assert meter.cheaper(10_000)
        assert len(str(caught.value)) < 1000


def test_aliases_that_do_not_grow_are_fine():
    assert read("a: &a {x: [1, 2]}\nb: *a\nc: {<<: *a, y: 3}\n") == {
        "a": {"x": [1, 2]},
        "b": {"x": [1, 2]},
        "c": {"x": [1, 2], "y": 3},
    }
    assert read("") is None
    assert len(read("- &a {x: 1}\n" + "- *a\n" * (MOST_VALUES // 3 - 1))) == MOST_VALUES // 3


def test_what_was_read_belongs_to_its_reader():
    """A text is parsed once, and an alias is a value of its own."""
    first = read("a: &a {x: [1]}\nb: *a\n")
    first["a"]["x"].append(2)
    first["a"]["y"] = 3
    assert first == {"a": {"x": [1, 2], "y": 3}, "b": {"x": [1]}}
    assert read("a: &a {x: [1]}\nb: *a\n") == {"a": {"x": [1]}, "b": {"x": [1]}}


NOT_PLAIN = [
    ("a: 2026-11-23", "got date: datetime.date"),
    ("a: 2026-99-99", "month must be in 1..12"),
    ("a: !!timestamp x", "a value that cannot be one"),
    ("a: !!int x", "invalid literal"),
    ("a: !!set {b}", "got set"),
    ("a: !!binary aGE=", "got bytes"),
    ("1: a", "expected text for keys, got 1"),
    ("[a]: b", "expected YAML, got another text"),
    ("a: .nan", "expected finite numbers, got nan"),
    ("a: -.inf", "expected finite numbers, got -inf"),
    (f"a: 0x{'f' * 40}", "expected whole numbers of 64 bits, got one of 160"),
    (f"a: {'9' * 5000}", "expected whole numbers of at most 100 characters, got one of 5,000"),
    (f"a: 1{':01' * 50}", "expected whole numbers of at most 100 characters, got one of 151"),
    (f"{'9' * 101}: a", "expected whole numbers of at most 100 characters, got one of 101"),
    (f"%YAML 1.{'9' * 5000}\n---\na: 1", "expected YAML, got a value that cannot be one: Exceeds the limit"),
    ("a: {b: 1, c: 2, b: 3}", "expected every name once, got 'b' 2 times"),
    ('{"a": 1, "a": 2}', "expected every name once, got 'a' 2 times"),
    ("a: !!python/object/apply:os.system [x]", "expected YAML, got another text"),
    ("a: *b", "expected YAML, got another text"),
    ("a: [", "expected YAML, got another text"),
    ("a: 1\n---\nb: 2", "expected YAML, got another text"),
    ("a: \x1b", "expected YAML, got another text"),
]


def test_what_is_no_plain_value_is_named(tmp_path):
    refused([(lambda text=text: read(text), words) for text, words in NOT_PLAIN])
    for data, words in ((b"sft: \xff", "expected UTF-8"), (b" " * (2 << 20), "expected at most 1,048,576 bytes")):
        (path := tmp_path / "r.yaml").write_bytes(data)
        for reads in (config.load, DataSpec.read, lambda path: EstimateOptions(str(path)).estimates()):
            refused([(lambda reads=reads: reads(path), words), (lambda reads=reads: reads(path), "r.yaml")])
    for tasks in ("5", "{a: 1}", "[[1]]", "[1]", "text"):
        path.write_text(f"tasks: {tasks}\nsft: {{}}\n")
        refused([(lambda: config.tasks(path), "recipe: expected names of puzzles as tasks, got ")])
    finite, long = ["nan", ".inf", "1e999"], "0xffffffffffffffffffff"
    rows = [(lambda n=n: config.load("laptop-sliding", [f"optim.lr={n}"]), "finite number") for n in finite]
    refused([*rows, (lambda: config.load("laptop-sliding", [f"optim.lr={long}"]), "64 bits")])


def test_what_is_shown_of_a_value_is_short():
    assert brief({"a": [1, (2.5, None)], "b": "x"}) == "{'a': [1, (2.5, None)], 'b': 'x'}"
    grown = ["ha"]
    for _ in range(40):
        grown = [grown] * 9
    for long in (grown, "x" * 10**6, {"x" * 500: 1}, 10**4000, list(range(10**6))):
        assert len(brief(long)) <= 83


def test_a_reader_that_writes_aliases_out_is_caught(monkeypatch):
    """The planted defect: nobody counts."""
    monkeypatch.setattr(recipe_text, "_count", lambda *_: 0)
    assert len(read(laughs(3, 9, "HERE"))[-1][0]) == 9
