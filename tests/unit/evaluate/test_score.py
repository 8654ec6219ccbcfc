"""Scores follow from commitments by the rules alone, and a record that says anything else is refused."""

from __future__ import annotations

import copy
import importlib
import json
import os
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.reference.simulate import SlidingTwin

from recommit.cli import main
from recommit.data import frozen
from recommit.evaluate import score as scoring
from recommit.evaluate.score import ScoreOptions, score
from recommit.storage import verified
from recommit.storage.errors import Damaged
from recommit.zero_shot.options import ZeroShotOptions
from recommit.zero_shot.spec import ZeroShotSpec

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
    split = frozen.read(NAME)
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


def test_the_agent_is_told_what_remains(made):
    """Under another budget the same boards are played otherwise, since this agent reads it."""
    commitments = made[1]["commitments"]
    assert [level[0] for level in commitments["15"]] != [level[0] for level in commitments["10"]]


def test_a_record_is_checked_and_played_again(made):
    folder, record = made
    assert score(ScoreOptions(verify=folder / "record.json")) == record
    assert score(ScoreOptions(verify=folder / "record.json", agent=str(folder / "agent.py"), run_code=True)) == record


def test_no_file_is_run_unasked(tmp_path):
    (tmp_path / "agent.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n{AGENT}")
    with pytest.raises(ValueError, match="agent: expected --run-code beside it"):
        score(ScoreOptions(agent=str(tmp_path / "agent.py"), split=NAME, out=tmp_path / "r.json"))
    assert not (tmp_path / "ran").exists()


def test_another_agent_is_none_of_the_record(made, tmp_path):
    folder, _ = made
    (tmp_path / "agent.py").write_text(AGENT.replace("% 3", "% 2"))
    with pytest.raises(ValueError, match=r"agent: expected .* of .*record\.json"):
        score(ScoreOptions(verify=folder / "record.json", agent=str(tmp_path / "agent.py"), run_code=True))


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: put(r, ("name",), "another"), "its sha256 does not fit"),
        (lambda r: put(r, ("agent", "sha256"), "0"), "its sha256 does not fit"),
        (lambda r: resealed(r, split_sha256="0"), "expected split"),
        (lambda r: resealed(r, split="sliding-9x9"), "split"),
        (lambda r: resealed(put(r, ("rows", 0, "solve_rate"), 1.0)), "expected the figures of its commitments"),
        (lambda r: resealed(put(r, ("rows", 0, "lost"), False)), "expected the figures"),
        (lambda r: resealed(put(r, ("commitments", "10", 0), ["u"] * 11)), "at most 10 of level 0"),
        (lambda r: resealed(r, solve_rate=1.0), "solve_rate: expected no such field"),
        (lambda r: resealed(r, name="a\n# Hello"), "name: expected 1..80 printable characters"),
        (lambda r: resealed(r, name="x" * 81), "name: expected 1..80"),
        (lambda r: json.dumps(r).replace("{", '{"rows": [{"solve_rate": 1.0}], ', 1), "got other bytes"),
    ],
)
def test_a_record_that_says_anything_else_is_refused(made, tmp_path, change, message):
    with pytest.raises((Damaged, ValueError), match=message):
        _verified(change(made[1]), tmp_path)


@pytest.mark.parametrize(
    ("level", "message"),
    [
        ([17 * "u"], "1..16 letters of udlr in level 0, got 'uuuuuuuuuuuuuuuuu'"),
        ([""], "1..16 letters"),
        (["x"], "1..16 letters"),
        ([3], "1..16 letters"),
        ("ud", "a list of at most 15 of level 0"),
    ],
)
def test_what_is_no_commitment_is_refused(level, message):
    split = frozen.read(NAME)
    with pytest.raises(ValueError, match=message):
        scoring.row(split, 15, [level, *[[]] * (len(split.starts) - 1)])


def test_nothing_goes_on_beyond_the_goal():
    split = frozen.read(NAME)
    plans = split.task.solve(split.starts[:1])
    word = "".join("udlr"[action] for action in plans[0])
    parts = [word[begin : begin + 8] for begin in range(0, len(word), 8)]
    rest = [[]] * (len(split.starts) - 1)
    assert scoring.row(split, 15, [parts, *rest])["solved"] == 1
    for more in ([*parts, "u"], [*parts[:-1], parts[-1] + "u"] if len(parts[-1]) < 8 else [*parts, "d"]):
        with pytest.raises(ValueError, match="none beyond the goal"):
            scoring.row(split, 15, [more, *rest])


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


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("agent.py:nothing", "a function nothing in .*, got int"),
        ("agent.py:x", "a function x in .*, got nothing by that name"),
        ("nowhere.py", "a Python file"),
        ("nobody", "folder of a run"),
    ],
)
def test_what_is_no_agent_is_refused(made, tmp_path, given, message):
    where = f"{made[0]}/{given}" if given.startswith("agent") else given
    with pytest.raises(ValueError, match=message):
        score(ScoreOptions(agent=where, split=NAME, out=tmp_path / "r.json", run_code=True))


def test_models_can_be_asked_on_the_same_levels(tmp_path):
    split = frozen.read(NAME)
    options = ZeroShotOptions("m", tmp_path, data=Path(NAME), endpoint="custom", instances=40)
    starts = ZeroShotSpec.of(options).starts()
    assert np.array_equal(starts.states, split.starts[:40])
    assert tuple(starts.ids) == split.ids[:40]


def _verified(record, folder, **options):
    (folder / "record.json").write_text((record if isinstance(record, str) else json.dumps(record)) + "\n")
    return score(ScoreOptions(verify=folder / "record.json", **options))


def _sealed(record, split, better, budgets):
    """A record in which so many levels are solved by optimal plans, with figures and a digest that fit."""
    record = copy.deepcopy(record)
    plans = split.task.solve(split.starts[:better])
    for budget in budgets:
        levels = record["commitments"][str(budget)]
        for number in range(better):
            word = "".join("udlr"[action] for action in plans[number])
            levels[number] = [word[begin : begin + 8] for begin in range(0, len(word), 8)]
    record["rows"] = [scoring.row(split, budget, record["commitments"][str(budget)]) for budget in split.budgets]
    return record | {"sha256": verified.digest(record)}


def test_a_few_better_levels_are_not_what_the_agent_played(made, tmp_path):
    """Two of a hundred levels may be played otherwise on another processor, but not all of them for the better."""
    folder, record = made
    split = frozen.read(NAME)
    again = {"agent": str(folder / "agent.py"), "run_code": True}
    assert _verified(_sealed(record, split, 4, (10,)), tmp_path, **again)
    with pytest.raises(ValueError, match=r"agent: expected a value of .* at K = 10, got"):
        _verified(_sealed(record, split, 20, (10,)), tmp_path, **again)
    with pytest.raises(ValueError, match=r"got others in 21 of 1024 levels at K = 10"):
        _verified(_sealed(record, split, 21, (10,)), tmp_path, **again)


def test_moves_in_a_file_are_those_of_the_record_to_the_letter(tmp_path):
    (tmp_path / "moves.jsonl").write_text(nothing_done())
    record = score(ScoreOptions(agent=str(tmp_path / "moves.jsonl"), split=NAME, out=tmp_path / "r.json"))
    with pytest.raises(ValueError, match="got others in 1 of 1024 levels"):
        _verified(_sealed(record, frozen.read(NAME), 1, (15,)), tmp_path, agent=str(tmp_path / "moves.jsonl"))
    record["agent"]["kind"] = "policy"
    with pytest.raises(ValueError, match="agent: expected kind policy"):
        _verified(record | {"sha256": verified.digest(record)}, tmp_path, agent=str(tmp_path / "moves.jsonl"))


def test_a_record_of_holes_is_not_read(tmp_path):
    (tmp_path / "r.json").touch()
    os.truncate(tmp_path / "r.json", 1 << 40)
    with pytest.raises(Damaged, match="expected at most"):
        score(ScoreOptions(verify=tmp_path / "r.json"))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return np.full(n, 4.5), np.zeros((n, 8), int)", r"whole numbers, depths \[1024\] .* got float64 \[1024\]"),
        ("return np.full(n, 4), np.full((n, 8), 256)", "actions of 0..3, got 256..256"),
        ("return np.full(n, 4), np.zeros((n, 4), int)", r"actions \[1024, 8\], or up to 16, got"),
        ("return None", "got NoneType"),
        ("raise SystemExit(0)", "agent.py, line 4: SystemExit"),
        ("return {}[n]", "agent.py, line 4: KeyError: 1024"),
    ],
)
def test_what_an_agent_must_not_say(tmp_path, body, message):
    (tmp_path / "agent.py").write_text(
        f"import numpy as np\ndef agent(boards, remaining):\n    n = len(boards)\n    {body}"
    )
    with pytest.raises(ValueError, match=message):
        score(ScoreOptions(agent=str(tmp_path / "agent.py"), split=NAME, out=tmp_path / "r.json", run_code=True))


def nothing_done(levels=1024):
    """A file of moves without any."""
    lines = [{"budget": budget, "level": level, "commitments": []} for budget in (10, 15) for level in range(levels)]
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (nothing_done(1023), r"each of 1024 levels at budget \d+, got 1023 and none for level 1023"),
        (2 * '{"budget": 10, "level": 0, "commitments": ["u"]}\n', "expected budgets of .* again"),
        ('{"budget": 11, "level": 0, "commitments": ["u"]}\n', "expected budgets of"),
        ('{"budget": 10, "level": 1024, "commitments": ["u"]}\n', "expected budgets of"),
    ],
)
def test_moves_are_of_every_level_once(tmp_path, text, message):
    (tmp_path / "moves.jsonl").write_text(text)
    with pytest.raises(ValueError, match=message):
        score(ScoreOptions(agent=str(tmp_path / "moves.jsonl"), split=NAME, out=tmp_path / "r.json"))


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_played(made, tmp_path, capsys):
    pytest.importorskip("tyro")
    words = ["score", f"{made[0]}/agent.py", "--run-code", "--split", NAME, "--out", str(tmp_path / "no/sub/r.json")]
    assert main(words) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_a_verification_says_what_it_has_not_seen(made):
    record = made[1]
    assert "not checked: who played them" in scoring.checked("", record)
    assert "at most 2 % of the levels" in scoring.checked("agent.py", record)
    assert "has the same ones" in scoring.checked("moves.jsonl", {"agent": {"kind": "commitments"}})


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
