"""Recipes: what is refused, by name and with both values; equal recipes have equal text."""

from __future__ import annotations

from tests.refusals import refused

from recommit.data.spec import DataSpec, Difficulty
from recommit.storage import errors

GOOD = {
    "task": "sokoban",
    "size": [8, 8],
    "difficulties": [{"length": [8, 32], "boxes": 2}],
    "count": 10,
    "test": 3,
}


def test_round_trip():
    recipe = DataSpec.from_dict(GOOD)
    assert recipe.difficulties == (Difficulty((8, 32), 2),)
    assert DataSpec.from_text(recipe.to_json()) == recipe
    yaml = "task: sokoban\nsize: 8\ndifficulties:\n- {length: [8, 32], boxes: 2}\ncount: 10\ntest: 3\n"
    assert DataSpec.from_text(yaml) == recipe
    assert recipe.generator == "rooms"
    reverse = DataSpec.from_dict({**GOOD, "generator": "reverse"})
    assert reverse.hash != recipe.hash == DataSpec.from_dict({**GOOD, "generator": ""}).hash
    assert reverse.ids([0], [7]) == ["sokoban/8x8-2-reverse:8..32/0/7"]


SLIDING = {"task": "sliding", "size": 3, "difficulties": [{"length": [8, 9]}]}
WRONG = [
    ({"task": "chess"}, "task: expected one of sliding, sokoban, ice, got 'chess'"),
    ({"colour": 1}, "got colour"),
    ({"count": -1}, "count: expected 0..1099511627776, got -1"),
    ({"difficulties": []}, "number of difficulties: expected 1..64, got 0"),
    ({"difficulties": [3]}, "difficulties[0]: expected a mapping, got int"),
    ({"difficulties": [{"length": [9, 8], "boxes": 1}]}, "(shortest, longest) in this order, got (9, 8)"),
    ({"difficulties": [{"length": [1, 2, 3], "boxes": 1}]}, "expected 2 values, got"),
    ({"difficulties": [{"length": [8, 9]}]}, "difficulties.boxes: expected 1..1024, got 0"),
    ({"difficulties": [{"length": [8, 9], "boxes": 2}] * 2}, "difficulties: expected each once, got "),
    ({"task": "sliding", "size": 3}, "difficulties.boxes: expected 0..0, got 2"),
    ({"size": [8, 65]}, "size: expected 4..64, got 65"),
    ({"ties": "both"}, "ties: expected first or random, got both"),
    ({"disjoint": "regions"}, "disjoint: expected starts or layouts, got regions"),
    ({**SLIDING, "disjoint": "layouts"}, "disjoint: expected starts or regions, got layouts"),
    (
        {**SLIDING, "disjoint": "regions", "difficulties": [{"length": [5, 9]}]},
        "length: expected from 6 on with disjoint: regions, as paths meet, got 5",
    ),
    ({**SLIDING, "disjoint": "regions", "perturbed": 1}, "perturbed: expected 0 with disjoint: regions, got 1"),
    ({"generator": "walk"}, "generator: expected rooms, reverse, boxoban, unfiltered, medium or hard, got walk"),
    ({"generator": "unfiltered"}, "generator: expected size 10, 4 boxes and disjoint: starts for published levels"),
]


def test_wrong_values_are_named():
    rows = [(lambda change=change: DataSpec.from_dict({**GOOD, **change}), words) for change, words in WRONG]
    refused(rows, errors.WrongDataSpec)
