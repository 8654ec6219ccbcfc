"""Zero-shot runs beside the other agents: the same instances by content, the same figures by another way."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from tests.refusals import refused
from tests.unit.zero_shot.called import zero_shot
from tests.unit.zero_shot.servers import Server, answer, expert

import recommit
from recommit.cli import main
from recommit.evaluate import transcripts
from recommit.evaluate.options import EvaluateOptions
from recommit.storage import jsonl

COUNT = 12


def erring(request, number):
    """An expert that says nonsense every third time."""
    return answer("I would go left.") if number % 3 == 2 else expert(recommit.Sliding(2, 3), depth=2)(request, number)


@pytest.fixture(scope="module")
def asked(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("asked") / "zs"
    server = Server(script=erring)
    flags = {"endpoint": "custom", "base_url": server.url, "workers": 1, "quiet": True}
    assert zero_shot("tiny", out, data=data, instances=COUNT, **flags) == 0
    server.close()
    return out


def evaluate(run, out, *agents):
    call = ["evaluate", str(run), "--out", str(out), "--instances", str(COUNT), "--validation", "6", "--quiet"]
    return main([*call, "--agents", *agents])


@pytest.fixture(scope="module")
def done(run, asked, tmp_path_factory):
    out = tmp_path_factory.mktemp("beside") / "eval"
    assert evaluate(run, out, "adaptive", f"zero-shot@{asked}") == 0
    return out


def test_its_row_has_the_figures_of_the_run_itself(done, asked):
    theirs = {row["budget"]: row for row in json.loads((asked / "summary.json").read_text())}
    ours = [r for r in json.loads((done / "summary.json").read_text()) if r["agent"].startswith("zero-shot@")]
    assert [row["budget"] for row in ours] == ["loose", "tight"]
    names = "instances solved solve_rate solve_low solve_high actions_per_episode spl decisions_per_episode mean_depth"
    plan, manifest = (json.loads(path.read_text()) for path in (done / "plan.json", asked / "manifest.json"))
    assert manifest["run"]["played"]["test_set"] == plan["test_set"]
    for row in ours:
        assert (row["model"], row["cell"], theirs[row["budget"]]["cell"]) == ("tiny", 56, 56)
        for name in names.split():
            assert row[name] == pytest.approx(theirs[row["budget"]][name]), name
    trained = [r for r in json.loads((done / "summary.json").read_text()) if r["agent"] == "adaptive"]
    assert [row["cell"] for row in trained] == [28, 28]
    head, *rows = [line for line in (done / "tables.md").read_text().splitlines() if line.startswith("|")]
    column = [cell.strip() for cell in head.split("|")].index("cell px")
    assert [row.split("|")[column].strip() for row in rows[1:3]] == ["28", "56"]
    assert ours[0]["solved"] > 0
    assert ours[0]["wasted_solved"] > 0, "nonsense lowers no distance"


#: In the first line of a file, which a stranger may have written.
CHANGES = [
    ("manifest.json", {"cell": "x"}),
    ("episodes.jsonl", {"finished": 1}),
    ("decisions.jsonl", {"actions": ["jump"]}),
    ("decisions.jsonl", {"actions": ["up"] * 9, "h": 9}),
    ("decisions.jsonl", {"decision": 1}),
    ("decisions.jsonl", {"h": 3}),
]


def test_what_is_refused(run, asked, tmp_path):
    """Other instances, other states by the same names, unfinished, damaged and foreign runs."""
    task = recommit.Sliding(2, 3)
    ids = [one["instance"] for one in jsonl.read(asked / "episodes.jsonl")]
    first = {one["instance"]: one["state"] for one in jsonl.read(asked / "decisions.jsonl") if not one["decision"]}
    states = np.array([first[name] for name in ids], np.uint8)
    assert len(transcripts.rows(asked, task, ids, states, 15)) > COUNT
    read = lambda folder=asked, ids=ids, states=states, budget=15: (
        lambda: transcripts.rows(folder, task, ids, states, budget)
    )
    rows = [
        (
            read(ids=[*ids, "another"], states=np.concatenate([states, states[:1]])),
            f"expected all {COUNT + 1} instances",
        ),
        (read(states=states[::-1]), "expected the states of the test set"),
        (read(budget=16), "expected at most the 15 decisions"),
        (read(tmp_path), "expected the folder of a zero-shot run"),
        (
            lambda: EvaluateOptions(run, tmp_path / "e", ("zero-shot",)),
            "expected the folder of a run, zero-shot@FOLDER",
        ),
    ]
    for number, (name, change) in enumerate(CHANGES):
        folder = shutil.copytree(asked, tmp_path / str(number))
        (folder / "DIGESTS").unlink()
        lines = (folder / name).read_text().splitlines()
        if name == "manifest.json":
            whole = json.loads("\n".join(lines))
            lines = [json.dumps({**whole, "run": whole["run"] | change})]
        else:
            lines[0] = json.dumps(json.loads(lines[0]) | change)
        (folder / name).write_text("\n".join(lines) + "\n")
        rows.append((read(folder), name))
    refused(rows)
