"""The frozen splits of the leaderboard: python -m bench.pages.frozen NAME... writes python/recommit/splits/NAME.json.

A split that was published is never written again: records name its sha256.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

import numpy as np

import recommit
from recommit.data import held_out, leaderboard_splits
from recommit.data.spec import DataSpec
from recommit.prices import Prices
from recommit.storage import files, verified

#: Instances of each, and the seed, which is that of no preset's data.
COUNT, SEED = 1024, 2026
#: An action costs half a hundredth of a solved level, an observation a hundredth.
PRICES = Prices(action=0.005, observation=0.01)
DATA: dict[str, dict[str, Any]] = {
    "sliding-3x3": {"task": "sliding", "size": [3, 3], "disjoint": "regions", "difficulties": [{"length": [8, 24]}]},
    "sliding-4x4": {"task": "sliding", "size": [4, 4], "disjoint": "regions", "difficulties": [{"length": [8, 24]}]},
    "sokoban-7x7": {
        "task": "sokoban",
        "size": [7, 7],
        "disjoint": "layouts",
        "difficulties": [{"length": span, "boxes": boxes} for boxes in (1, 2, 3) for span in ([8, 17], [17, 32])],
    },
}


def write(name: str) -> None:
    """Freeze one."""
    counts = {"count": COUNT, "validation": 1, "test": COUNT}
    spec = DataSpec.from_dict({**DATA[name], **counts, "ties": "random", "seed": SEED})
    drawn = held_out.starts(spec, "test", COUNT, ())
    states = np.ascontiguousarray(drawn.states)
    task = spec.puzzle()
    rooms = held_out.rooms(spec, states)
    texts = [recommit.format_levels(state[None], task=spec.task).rstrip("\n") for state in states]
    values: dict[str, Any] = {
        "format": leaderboard_splits.FORMAT,
        "recipe": spec.to_dict(),
        "budgets": sorted(task.budgets(task.shape).values(), reverse=True),
        "prices": asdict(PRICES),
        "levels": texts,
        "ids": spec.ids(drawn.difficulty.tolist(), drawn.number.tolist()),
        "length": task.distance(states).tolist(),
        "rooms": None if rooms is None else rooms.tolist(),
    }
    values = json.loads(json.dumps(values))
    path = leaderboard_splits.FOLDER / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    content = json.dumps({**values, "sha256": verified.digest(values)}) + "\n"
    files.replace(files.Files(), path, content.encode())
    split = leaderboard_splits.read(name)
    assert np.array_equal(split.starts, states)
    print(name, len(states), "levels, mean length", round(float(np.mean(values["length"])), 2), split.sha256)


if __name__ == "__main__":
    for each in sys.argv[1:] or DATA:
        write(each)
