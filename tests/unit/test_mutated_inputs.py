"""Recipes, presets, answers and folders that strangers wrote: a few of the nightly campaign's inputs, and the readers
that it must catch.
"""

from __future__ import annotations

import pytest
from tests.verify import mutations
from tests.verify.harness import Finding

pytest.importorskip("torch")
pytest.importorskip("pyarrow")


COUNTS = {"recipes": 4, "presets": 2, "data recipes": 20, "answers": 60}
COUNTS |= {"policies": 40, "graphs": 20, "recordings": 40}


@pytest.mark.parametrize(("name", "count"), COUNTS.items())
def test_mutated_inputs_end_in_a_sentence(name, count, record_property):
    assert mutations.campaign(name, 0, count) <= count
    record_property("executed", count)


def test_a_campaign_refuses_most_and_takes_some():
    assert 0 < mutations.campaign("data recipes", 100, 120) < 120


def test_a_careless_reader_is_caught():
    with pytest.raises(Finding):
        mutations.campaign("data recipes", 0, 30, mutations.careless)


def test_inputs_depend_on_their_number_alone():
    texts = [[], []]
    for each in texts:
        mutations.campaign("answers", 5, 20, each.append)
    assert texts[0] == texts[1]
    assert len(set(texts[0])) > 10
