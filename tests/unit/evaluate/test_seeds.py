"""Seeds taken together: every seed's adaptive policy against its own seed's others, instance by instance."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from tests.refusals import refused

from recommit.evaluate.agent_names import with_augmentations
from recommit.evaluate.seeds import Seeds
from recommit.evaluate.store import EvaluationStore

SOLVED = {
    0: {"adaptive": [1, 1, 0, 1], "shuffled": [1, 0, 0, 0], "fixed-4@/a/family/fixed-4-s0": [0, 1, 0, 1]},
    1: {"adaptive": [1, 1, 1, 1], "shuffled": [0, 0, 1, 1], "fixed-4@/a/family/fixed-4-s0": [0, 0, 0, 0]},
}
DRAWS = {"shuffled": 2}


def write(folder, seed, *, test_set="same", rooms=None, augmentations=0):
    names = dict(zip(SOLVED[seed], with_augmentations(SOLVED[seed], augmentations), strict=True))
    columns = {name: [] for name in ("agent", "budget", "seed", "instance", "solved", "actions", "decisions")}
    for agent, solved in SOLVED[seed].items():
        for draw in range(DRAWS.get(agent, 1)):
            for i in reversed(range(4)):  # in any order
                row = (names[agent], "loose", draw, i, bool(solved[i]), 10 * (i + 1) + draw, 2)
                for name, value in zip(columns, row, strict=True):
                    columns[name].append(value)
    with EvaluationStore(folder) as store:
        plan = {"agents": list(names.values()), "budgets": ["loose"], "run": f"/a/family/adaptive-s{seed}"}
        store.write_json("plan.json", plan | {"test_set": test_set})
        store.write_table("episodes.parquet", columns)
        store.write_table("instances.parquet", {"length": [8] * 4} | ({"room": rooms} if rooms else {}))
    return folder


def markdown(folders):
    return Seeds(folders).markdown()


def rows(text):
    return {
        cells[0]: cells[1:]
        for line in text.splitlines()
        if line.startswith("| ") and (cells := [c.strip() for c in line.strip("| ").split("|")])
    }


def test_figures_by_hand(tmp_path):
    table = rows(markdown([write(tmp_path / "0", 0), write(tmp_path / "1", 1)]))
    assert table["adaptive"][:3] == ["2", "87.5", "25.0"]
    assert table["adaptive"][4] == "75.0 at 25.0, 100.0 at 25.0"
    shuffled = table["shuffled depths"]
    assert shuffled[:3] == ["2", "37.5", "25.5"]
    assert shuffled[3].startswith("+50.0 (")
    assert shuffled[4] == "+50.0, +50.0"
    assert shuffled[5].startswith("-0.5")
    trained = table["fixed depth 4 (own RL)"]
    assert trained[:3] == ["1", "50.0", "25.0"]
    assert trained[3].startswith("+25.0 ("), "one seed has it; the other's evaluation has played this one's"


#: By agent: which of four instances each seed solves, and its looks; the constant is worse on the second seed.
PLAYED = {
    "adaptive": (([1, 1, 0, 1], 2), ([1, 0, 1, 1], 3)),
    "fixed-4": (([1, 0, 0, 0], 4), ([0, 0, 1, 0], 4)),
    "oracle-dp": (([1, 1, 1, 1], 1), ([1, 1, 1, 1], 2)),
}


def evaluated(folder, seed, *, look=0.0, gain=True):
    """With the constant and the ceiling of every agent's plans."""
    rows = [
        (name, i, bool(played[seed][0][i]), 8, played[seed][1]) for name, played in PLAYED.items() for i in range(4)
    ]
    agents, instances, solved, actions, decisions = map(list, zip(*rows, strict=True))
    columns = {"agent": agents, "budget": ["loose"] * 12, "seed": [0] * 12, "instance": instances, "solved": solved}
    more = {"gain_fixed": "fixed-4", "gain_oracle": "oracle-dp"} if gain else {}
    prices = {"price_observation": look} if look else {}
    with EvaluationStore(folder) as store:
        run = f"/a/family/adaptive-s{seed}"
        plan = {"test_set": "same", "agents": list(PLAYED), "budgets": ["loose"], "run": run}
        store.write_json("plan.json", plan | prices)
        store.write_table("episodes.parquet", columns | {"actions": actions, "decisions": decisions})
        store.write_table("instances.parquet", {"length": [8] * 4})
        store.write_json("summary.json", [{"agent": name, "budget": "loose", **more} for name in PLAYED])
    return folder


def cells(text, column):
    """By agent, the cells below a head."""
    head = next(line for line in text.splitlines() if line.startswith("| agent"))
    place = [cell.strip() for cell in head.strip("| ").split("|")].index(column)
    return {name: row[place - 1] for name, row in rows(text).items()}


@pytest.mark.parametrize("look", [0.0, 0.1])
def test_gain_share_and_value_by_hand(tmp_path, look):
    text = markdown([evaluated(tmp_path / str(s), s, look=look) for s in range(2)])
    worth = {
        name: np.mean([np.mean(solved) - look * looks for solved, looks in played]) for name, played in PLAYED.items()
    }
    share = (worth["adaptive"] - worth["fixed-4"]) / (worth["oracle-dp"] - worth["fixed-4"])
    gains = {name: each.split(" ")[0] for name, each in cells(text, "gain share (95 %)").items()}
    assert gains["adaptive"] == f"{share:.2f}"
    assert (gains["fixed depth 4 (same plans)"], gains["oracle depth"]) == ("0.00", "1.00")
    if look:
        assert cells(text, "value, points (95 %)")["adaptive"].startswith(f"{100 * worth['adaptive']:.1f} (")
    else:
        assert "| value" not in text
        assert "Nothing has a price" in text


def test_seeds_that_lack_something_are_named(tmp_path):
    folders = [evaluated(tmp_path / "new", 0), evaluated(tmp_path / "old", 1, gain=False)]
    text = markdown(folders)
    assert "There are no gain shares: old lacks" in text
    assert "gain share (95 %)" not in text
    dear, other = evaluated(tmp_path / "dear", 1, look=0.5), write(tmp_path / "other", 1, test_set="other")
    refused(
        [
            (lambda: Seeds([folders[0], dear]), "at the same prices, got 2 that differ"),
            (lambda: Seeds([folders[0], other]), "folders: expected evaluations on one test set, got 2 that differ"),
        ]
    )
