"""``recommit evaluate`` as a user calls it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

pq = pytest.importorskip("pyarrow.parquet")

import recommit
from recommit.cli import main
from recommit.data import assignment
from recommit.evaluate import EvaluateOptions, agent_names, evaluate
from recommit.evaluate.agent_names import MEMORY, ON_PUZZLES, AgentName
from recommit.evaluate.agents import PolicyPlayer
from recommit.graph.build import PolicyGraph
from recommit.policy.config import HeadConfig
from recommit.policy.world_model import WorldModel
from recommit.storage import verified
from recommit.storage.files import Files
from recommit.train.heads import world_model

AGENTS = [
    "fixed-4",
    "adaptive",
    "fixed-4-sampled",
    "random",
    "shuffled",
    "oracle-dp",
    "solver",
    "random-actions",
    "confidence-entropy",
]


def call(run, out, *more):
    given = ["evaluate", str(run), "--out", str(out), "--instances", "12", "--validation", "8", "--quiet"]
    return main([*given, "--agents", *AGENTS, *more])


@pytest.fixture(scope="module")
def done(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("evaluations") / "eval"
    assert call(run, out) == 0
    return out


def files_of(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_it_writes_what_it_promises(done):
    summary = json.loads((done / "summary.json").read_text())
    assert [(row["agent"], row["budget"]) for row in summary] == [(a, b) for a in AGENTS for b in ("loose", "tight")]
    keys = {"agent", "task", "budget", "decisions", "instances", "solved", "solve_rate", "actions_per_episode"}
    assert all(keys <= row.keys() for row in summary)
    by_name = {(row["agent"], row["budget"]): row for row in summary}
    assert by_name["solver", "loose"]["solve_rate"] == 1
    assert by_name["solver", "loose"]["spl"] == 1
    assert by_name["fixed-4", "tight"]["decisions"] == 10
    assert by_name["random", "loose"]["seeds"] == 5
    episodes = pq.read_table(done / "episodes.parquet").to_pydict()
    for row in summary:
        mine = [
            i
            for i, (agent, budget) in enumerate(zip(episodes["agent"], episodes["budget"], strict=True))
            if (agent, budget) == (row["agent"], row["budget"])
        ]
        assert len(mine) == 12 * row["seeds"]
        assert np.mean([episodes["solved"][i] for i in mine]) == pytest.approx(row["solve_rate"])
        assert np.mean([episodes["actions"][i] for i in mine]) == pytest.approx(row["actions_per_episode"])
    states = pq.read_table(done / "instances.parquet")["state"].to_pylist()
    grids = np.stack([np.frombuffer(state, np.uint8).reshape(2, 3) for state in states])
    assert assignment.belongs(assignment.keys("sliding", grids), "test").all()
    compared = json.loads((done / "comparisons.json").read_text())
    assert {one["against"] for one in compared} == set(AGENTS[1:])


def test_a_finished_one_is_left_as_it_is_and_a_torn_one_completed(done, run, tmp_path, monkeypatch):
    before = files_of(done)
    again = tmp_path / "again"
    shutil.copytree(done, again)
    for name in ("summary.json", "thresholds.json", "episodes.parquet", "decisions/solver@15.parquet"):
        (again / name).unlink()
    played = []
    whole = PolicyPlayer._play
    monkeypatch.setattr(PolicyPlayer, "_play", lambda *a: (played.append(a[1].base), whole(*a))[1])
    assert call(run, again) == 0
    assert played == ["solver"]
    assert files_of(again) == before


def test_a_file_that_was_not_noted_before_a_kill_is_noted(done, run, tmp_path):
    """A kill between a file and its digest leaves one that nobody would notice to be damaged later."""
    again = tmp_path / "again"
    shutil.copytree(done, again)
    listed = verified.digests(done)
    verified.write_digests(Files(), again, {name: listed[name] for name in listed if name != "thresholds.json"})
    assert call(run, again) == 0
    assert files_of(again) == files_of(done)
    assert verified.digests(again) == listed


def test_thresholds_do_not_depend_on_who_has_played_already(run, tmp_path, monkeypatch):
    """Of a policy whose last bits depend on which states pass through it together."""
    plan = PolicyGraph._plan

    def noisy(self, piece, others):
        said, cells = plan(self, piece, others), self.states[piece].reshape(len(piece), -1)
        probs = said["probs"] * np.float32(1 - 1e-6 * len(self))
        return {"probs": probs, "plans": np.tile(cells % 4, 2)[:, :8], "logits": cells[:, :4].astype(np.float32)}

    def thresholds():
        words = ["--instances", "12", "--validation", "8", "--quiet", "--agents", "fixed-3", "confidence-entropy"]
        assert main(["evaluate", str(run), "--out", str(tmp_path), *words]) == 0
        (entry, *_) = json.loads((tmp_path / "thresholds.json").read_text()).values()
        return entry["threshold"], [each["threshold"] for each in entry["curve"]]

    monkeypatch.setattr(PolicyGraph, "_plan", noisy)
    before = thresholds()
    (tmp_path / "thresholds.json").unlink()
    assert thresholds() == before


def test_a_policy_that_has_changed_since_is_refused(run, tmp_path, capsys):
    """Old decisions would pass for those of the new policy."""
    moved = tmp_path / "run"
    shutil.copytree(run, moved)
    for digests in moved.rglob("DIGESTS"):
        digests.unlink()
    assert call(moved, tmp_path / "eval") == 0
    best = moved / json.loads((moved / "best.json").read_text())["policy"] / "heads.safetensors"
    whole = best.read_bytes()
    best.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert call(moved, tmp_path / "eval") == 2
    assert f"eval: the folder belongs to another run: best policy.{moved} was " in capsys.readouterr().err
    assert call(moved, tmp_path / "other") == 0


def test_with_prices_everybody_has_a_value(done, run, tmp_path, capsys):
    """Of the same episodes as before, but for the ceiling's, which is the highest value."""
    out, action, look = tmp_path / "priced", 0.01, 0.05
    assert call(run, out, "--price-action", str(action), "--price-observation", str(look)) == 0
    printed = capsys.readouterr().out
    assert "| value, points (95 %) |" in " ".join(printed.split())
    before, after = (
        {(r["agent"], r["budget"]): r for r in json.loads((f / "summary.json").read_text())} for f in (done, out)
    )
    for key, row in after.items():
        spent = action * row["actions_per_episode"] + look * row["decisions_per_episode"]
        assert row["value"] == pytest.approx(row["solve_rate"] - spent)
        assert row["value_low"] <= row["value"] <= row["value_high"]
        if "validation_value" in row:
            assert row["validation_value"] < row["validation_solve_rate"]
        own = {n: value for n, value in row.items() if not n.startswith(("value", "validation_value", "gain"))}
        assert (
            own == {n: value for n, value in before[key].items() if not n.startswith("gain")}
            or row["agent"] == "oracle-dp"
        )
        assert "value" not in before[key]
        if not row["agent"].startswith(("solver", "random-actions", "fixed-4-sampled")):
            assert row["value"] <= after["oracle-dp", row["budget"]]["value"] + 1e-12
    for one in json.loads((out / "comparisons.json").read_text()):
        difference = after[one["agent"], one["budget"]]["value"] - after[one["against"], one["budget"]]["value"]
        assert one["value_difference"]["mean"] == pytest.approx(difference)
        assert one["value_difference"]["low"] <= difference + 1e-12
    assert "value_difference" not in (done / "comparisons.json").read_text()


def test_whole_commitments_solve_no_more_and_cost_no_less(done, run, tmp_path):
    out = tmp_path / "whole"
    assert call(run, out, "--whole-commitments") == 0
    before, after = (
        {(r["agent"], r["budget"]): r for r in json.loads((f / "summary.json").read_text())} for f in (done, out)
    )
    assert after["solver", "loose"]["solve_rate"] == 1, "plans end at the goal"
    for key in (("fixed-4", "loose"), ("fixed-4", "tight")):
        assert after[key]["solve_rate"] <= before[key]["solve_rate"]
        assert after[key]["actions_per_episode"] == 4 * after[key]["decisions_per_episode"]
    assert after["oracle-dp", "loose"]["solved"] <= before["oracle-dp", "loose"]["solved"]
    moved = pq.read_table(out / "decisions" / "random-actions@15-s0.parquet").to_pydict()
    assert moved["depth"] == moved["executed"]
    sampled = pq.read_table(out / "decisions" / "fixed-4-sampled@15-s0.parquet").to_pydict()
    assert set(sampled["executed"]) == {4}


def asked(monkeypatch, task):
    """What the puzzle is asked that no policy can ask, from now on."""
    questions = []
    for name in ("solve", "optimal_actions", "distance", "step", "execute", "is_solved", "action_masks"):
        real = getattr(type(task), name)
        monkeypatch.setattr(
            type(task), name, lambda self, *a, _n=name, _real=real, **k: (questions.append(_n), _real(self, *a, **k))[1]
        )
    return questions


LOOKERS = [
    name
    for name in (*agent_names.AGENTS, *ON_PUZZLES, *(rule + MEMORY for rule in ON_PUZZLES))
    if AgentName(name).asks_policy
]


@pytest.mark.parametrize("agent", [name for name in LOOKERS if not AgentName(name).samples_actions])
def test_who_uses_the_picture_or_a_memory_asks_no_simulator(run, monkeypatch, agent):
    """Every agent's ``uses`` is what it does: distances and solutions are taken while a depth is chosen, or not."""
    policy, task = recommit.CommitPolicy.from_pretrained(run).eval(), recommit.Sliding(2, 3)
    player = PolicyPlayer(policy, task, task.generate(8, seed=1, length=(4, 10)).states, 4)
    questions = asked(monkeypatch, task)
    make, during = PolicyPlayer._choose, []

    def watched(self, *named):
        before = len(questions)
        choose = make(self, *named)
        during.extend(questions[before:] if AgentName(agent).uses == "simulator" else [])

        def chosen(*where):
            before = len(questions)
            columns = choose(*where)
            during.extend(questions[before:])
            return columns

        return chosen

    monkeypatch.setattr(PolicyPlayer, "_choose", watched)
    player.rows(agent, 4)
    assert bool(during) == (AgentName(agent).uses == "simulator"), during


@pytest.mark.parametrize("features", ["world-model", "conditioned", "z+conditioned", "planted"])
def test_a_head_that_sees_ahead_asks_no_simulator(run, monkeypatch, features):
    """A world model predicts where plans lead, and heads read the remaining decisions: none asks the puzzle."""
    policy, task = recommit.CommitPolicy.from_pretrained(run).eval(), recommit.Sliding(2, 3)
    world_model.replace_head(policy, WorldModel(world_model.config_of(policy, task)))
    if features != "world-model":
        policy.replace_head(
            HeadConfig("z+conditioned" if features == "z+conditioned" else "conditioned", 8, gelu="tanh"),
            depths=policy.config.depths,
        )
    player = PolicyPlayer(policy, task, task.generate(8, seed=1, length=(4, 10)).states, 4)
    questions, during, look = asked(monkeypatch, task), [], policy.plan

    def watched(*given):
        before = len(questions)
        if features == "planted":
            task.distance(given[1])
        seen = look(*given)
        during.append(questions[before:])
        return seen

    monkeypatch.setattr(policy, "plan", lambda *given, **more: watched(*given, *more.values()))
    player.rows("adaptive", 4)
    assert during
    assert AgentName("adaptive", "family/conditioned-s0").uses == "picture"
    assert any(during) == (features == "planted"), during


def test_a_first_start_before_anybody_played_binds_nothing(run, tmp_path):
    few = EvaluateOptions(run, tmp_path / "eval", "fixed-4", 4, instances=6, validation=4)
    with pytest.raises(ValueError, match="expected the folder of a run"):
        evaluate(replace(few, agents="fixed-4@nowhere"))
    evaluate(replace(few, instances=8))
    with pytest.raises(ValueError, match=r"belongs to another run: instances was 8, is 6"):
        evaluate(few)
