"""Scores follow from commitments by the rules alone, and a record that says anything else is refused."""

from __future__ import annotations

import copy
import importlib
import json
import os
from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.reference.simulate import SlidingTwin
from tests.refusals import refused

from recommit.data import leaderboard_splits
from recommit.evaluate import score as scoring
from recommit.evaluate.score import ScoreOptions, score
from recommit.storage import verified
from recommit.storage.errors import Damaged

NAME = "sliding-3x3"
#: Moves at random, up to three at a time, and every seventh board not at all beyond the second observation.
AGENT = """
import numpy as np

def agent(boards, remaining):
    depths = 1 + boards[:, 0, 0].astype(int) % 3
    actions = (boards.reshape(len(boards), -1)[:, :8] + remaining) % 4
    return depths, actions.astype(np.uint8)

nothing = 3
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("score")
    (folder / "agent.py").write_text(AGENT)
    record = score(
        ScoreOptions(agent=f"{folder / 'agent.py'}:agent", split=NAME, out=folder / "record.json", run_code=True)
    )
    return folder, record


def twin(commitments, budget, defect=False):
    """Solved, actions and observations of every level, in plain Python; and the return at the split's prices."""
    split = leaderboard_splits.read(NAME)
    rows = []
    for start, level in zip(split.starts, commitments, strict=True):
        board, rules, actions = bytearray(start.tobytes()), SlidingTwin(3, 3), 0
        for word in level:
            executed, _, _ = rules.execute(board, ["udlr".index(letter) for letter in word])
            actions += executed
        looks = len(level) - defect
        solved = rules.is_solved(board)
        rows.append((solved, actions, looks, solved - 0.005 * actions - 0.01 * looks))
        assert looks <= budget
    return np.array(rows, float).mean(axis=0)


@pytest.mark.parametrize("budget", [15, 10])
def test_figures_are_those_of_plain_python(made, budget):
    record = made[1]
    row = next(row for row in record["rows"] if row["decisions"] == budget)
    found = [row[name] for name in ("solve_rate", "actions_per_episode", "decisions_per_episode", "value")]
    assert found == pytest.approx(twin(record["commitments"][str(budget)], budget).tolist(), abs=1e-12)
    assert found != pytest.approx(twin(record["commitments"][str(budget)], budget, defect=True).tolist(), abs=1e-12)


def test_a_record_is_checked(made):
    folder, record = made
    assert score(ScoreOptions(verify=folder / "record.json")) == record


def resealed(record, **changes):
    """With a digest that fits."""
    record = {**record, **changes}
    return record | {"sha256": verified.digest(record)}


def put(record, path, value):
    """A copy with another value at a path."""
    record = copy.deepcopy(record)
    inner = record
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return record


def test_a_file_of_commitments_scores_as_who_wrote_it(made, tmp_path):
    _, record = made
    lines = [
        json.dumps({"budget": int(budget), "level": number, "commitments": level})
        for budget, levels in record["commitments"].items()
        for number, level in enumerate(levels)
    ]
    (tmp_path / "moves.jsonl").write_text("\n".join(lines) + "\n")
    again = score(ScoreOptions(agent=str(tmp_path / "moves.jsonl"), split=NAME, out=tmp_path / "r.json", name="mine"))
    assert (again["rows"], again["name"]) == (record["rows"], "mine")


def _verified(record, folder):
    (folder / "record.json").write_text((record if isinstance(record, str) else json.dumps(record)) + "\n")
    return score(ScoreOptions(verify=folder / "record.json"))


def nothing_done(levels=1024):
    """A file of moves without any."""
    lines = [{"budget": budget, "level": level, "commitments": []} for budget in (10, 15) for level in range(levels)]
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_names_are_shown_on_the_leaderboard_and_never_obeyed(monkeypatch, tmp_path):
    (tmp_path / "moves.jsonl").write_text(nothing_done())
    monkeypatch.setattr(board := importlib.import_module("bench.pages.leaderboard"), "RECORDS", tmp_path)
    name = "<script>x</script> | <!-- end --> [a](javascript:x)"
    score(ScoreOptions(agent=str(tmp_path / "moves.jsonl"), split=NAME, out=tmp_path / "a](b) c.json", name=name))
    (line, _) = [each for each in board.table().splitlines() if "script" in each]
    assert line.count(" | ") == 7
    assert "<" not in line
    assert line.count("](") == 1
    assert line.endswith("[JSON](assets/leaderboard/a%5D%28b%29%20c.json) |")


def test_the_leaderboard_says_what_its_records_say():
    board = importlib.import_module("bench.pages.leaderboard")
    assert board.page() == board.PAGE.read_text(encoding="utf-8")


def test_what_is_refused(made, tmp_path):
    """Records, agents and commitments of strangers; no file is run unasked."""
    folder, record = made
    split, rest = leaderboard_splits.read(NAME), [[]] * 1023
    scored = lambda agent, **more: score(
        ScoreOptions(agent=str(agent), split=NAME, out=tmp_path / "r.json", run_code=True, **more)
    )

    def file(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    (tmp_path / "holes.json").touch()
    os.truncate(tmp_path / "holes.json", 1 << 40)
    ran = file("unasked.py", f"open({str(tmp_path / 'ran')!r}, 'w')\n{AGENT}")
    word = "".join("udlr"[action] for action in split.task.solve(split.starts[:1])[0])
    parts = [word[begin : begin + 8] for begin in range(0, len(word), 8)]
    changed = {
        "its sha256 does not fit": [put(record, ("name",), "another"), put(record, ("agent", "sha256"), "0")],
        "expected split": [resealed(record, split_sha256="0")],
        "expected the figures of its commitments": [
            resealed(put(record, ("rows", 0, "solve_rate"), 1.0)),
            resealed(put(record, ("rows", 0, "lost"), False)),
        ],
        "at most 10 of level 0": [resealed(put(record, ("commitments", "10", 0), ["u"] * 11))],
        "solve_rate: expected no such field": [resealed(record, solve_rate=1.0)],
        "name: expected 1..80": [resealed(record, name="a\n# Hello"), resealed(record, name="x" * 81)],
        "got other bytes": [json.dumps(record).replace("{", '{"rows": [{"solve_rate": 1.0}], ', 1)],
    }
    bodies = {
        "got float64 [1024]": "return np.full(n, 4.5), np.zeros((n, 8), int)",
        "actions of 0..3, got 256..256": "return np.full(n, 4), np.full((n, 8), 256)",
        "actions [1024, 8], or up to 16, got": "return np.full(n, 4), np.zeros((n, 4), int)",
        "body3.py, line 4: SystemExit": "raise SystemExit(0)",
    }
    head = "import numpy as np\ndef agent(boards, remaining):\n    n = len(boards)\n    "
    moves = {
        "got 1023 and none for level 1023": nothing_done(1023),
        "again": 2 * '{"budget": 10, "level": 0, "commitments": ["u"]}\n',
        "got budget 11": '{"budget": 11, "level": 0, "commitments": ["u"]}\n',
    }
    levels = {
        "1..16 letters of udlr in level 0, got": [[17 * "u"], [""], ["x"], [3]],
        "a list of at most 15 of level 0": ["ud"],
        "none beyond the goal": [[*parts, "u"], [*parts, "d"]],
    }
    assert scoring.row(split, 15, [parts, *rest])["solved"] == 1
    refused(
        [
            *((partial(_verified, each, tmp_path), words) for words, every in changed.items() for each in every),
            *(
                (partial(scored, file(f"body{i}.py", head + body)), words)
                for i, (words, body) in enumerate(bodies.items())
            ),
            *((partial(scored, file(f"m{i}.jsonl", text)), words) for i, (words, text) in enumerate(moves.items())),
            *(
                (partial(scoring.row, split, 15, [level, *rest]), words)
                for words, every in levels.items()
                for level in every
            ),
            (partial(scored, f"{folder}/agent.py:nothing"), "a function nothing in "),
            (partial(scored, "nobody"), "folder of a run"),
            (lambda: score(ScoreOptions(verify=tmp_path / "holes.json")), "expected at most"),
            (lambda: score(ScoreOptions(agent=str(ran), split=NAME, out=tmp_path / "r.json")), "expected --run-code"),
        ],
        Damaged,
        ValueError,
    )
    assert not (tmp_path / "ran").exists()
