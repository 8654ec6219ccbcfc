"""F1: recipes, presets, answers of endpoints, JSON of policies and graphs, and files of data sets, damaged:
success or a typed error, soon, in little memory."""

from __future__ import annotations

import os
from datetime import date

import pytest

pytest.importorskip("torch")
pytest.importorskip("pyarrow")
import yaml
from tests.damage import inputs
from tests.effort import work

#: Of each commit. A night runs RECOMMIT_MUTATIONS of each kind, from a number that belongs to the day.
COUNTS = {"recipes": 4, "presets": 2, "data recipes": 20, "answers": 60, "policies": 40, "graphs": 20}
COUNTS |= dict.fromkeys(("manifests", "resealed manifests", "journals", "locks", "shards", "resealed shards"), 100)
MANY = int(os.environ.get("RECOMMIT_MUTATIONS", "20_000"))
#: Read whatever can be read of them.
LENIENT = ("answers", "journals", "locks")


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    return inputs.Kinds(tmp_path_factory.mktemp("inputs")).all


@pytest.mark.parametrize("name", COUNTS)
def test_damaged_inputs(kinds, name, record_property):
    count = COUNTS[name]
    refused = inputs.attack(name, kinds[name], range(count))
    assert count / 10 < refused <= count or name in LENIENT
    record_property("executed", count)


def test_inputs_depend_on_their_number_alone_and_some_are_taken(kinds):
    assert set(kinds) == set(COUNTS)
    kind = kinds["data recipes"]
    assert 0 < inputs.attack("data recipes", kind, range(100, 220)) < 120
    texts = [[inputs.made("answers", kinds["answers"], number) for number in range(5, 25)] for _ in range(2)]
    assert texts[0] == texts[1]
    assert len(set(texts[0])) > 10


#: Readers with a defect: how many inputs show it, and in how many units of effort.
CARELESS = {
    "trusting": (lambda text: yaml.safe_load(text)[0].split(), 30, inputs.UNITS),
    "slow": (lambda _: work(80), 1, 40),
    "greedy": (lambda _: len(b"x" * (inputs.peak() + inputs.BYTES)), 1, inputs.UNITS),
}


@pytest.mark.parametrize("defect", CARELESS)
def test_a_careless_reader_is_caught(kinds, defect):
    read, count, units = CARELESS[defect]
    with pytest.raises(AssertionError):
        inputs.attack("manifests", kinds["manifests"]._replace(read=read), range(count), units)


@pytest.mark.nightly
@pytest.mark.parametrize("name", COUNTS)
def test_many_damaged_inputs(kinds, name, record_property):
    first = date.today().toordinal() * MANY
    inputs.attack(name, kinds[name], range(first, first + MANY))
    record_property("executed", MANY)
