"""A family, an evaluation, a reproduction, a commitment graph, a head on it, a world model and a comparison
of rules go on after any change of the disk failed, or was the last."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("pyarrow")
from tests.crash.changes import ACTS, Changes, Undisturbed, dead, full

from recommit.cli import main
from recommit.storage import files

GRPO = (
    "optim.steps=2",
    "phases=[]",
    "advantage.group_size=2",
    "rollout={instances: 4, budget: 3, states: 64, length: [4, 14]}",
    "validation={instances: 4, every: 1, budget: 3, length: [4, 14]}",
    "run.tensorboard=false",
)
SFT = (
    "optim.steps=2",
    "optim.batch=16",
    "model.policy.decoder={width: 32, layers: 1, heads: 2, ffn: 64}",
    "model.shape={width: 32, layers: 2, heads: 2, kv_heads: 2, ffn: 64, vision_width: 16, vision_heads: 1}",
    "validation={instances: 4, every: 2, budget: 3, length: [4, 14]}",
    "run.tensorboard=false",
)
LINES = (
    ("data build --task sliding --size 2 3 --length 4 14 --count 40 --validation 8 --test 12 --ties random", "data"),
    (
        f"train sft --recipe laptop-sliding --backbone random:small --data HERE/data --quiet --set {shlex.join(SFT)}",
        "sft",
    ),
    (
        f"train grpo --recipe laptop-sliding --init HERE/sft --seed 0 --quiet --set {shlex.join(GRPO)}",
        "family/adaptive-s0",
    ),
)
#: In the quick tier; the other one takes longer.
KINDS = ("evaluate", "graph")
MORE = ("world-model", "head")


@pytest.fixture(scope="module")
def changes():
    gathered = Changes()
    yield gathered
    gathered.stop()


@pytest.fixture(scope="module")
def whole(tmp_path_factory, changes):
    """Data, a warm start and a run of GRPO that nobody disturbs."""
    folder = tmp_path_factory.mktemp("commands")

    def made(out):
        here = out / "small"
        return max(
            main([*shlex.split(line.replace("HERE", str(here))), "--out", str(here / name)]) for line, name in LINES
        )

    return Undisturbed.of(made, folder / "whole", changes)


def words_of(kind, place):
    """Of a command without its folder."""
    runs = place / "whole" / "small"
    run = str(runs / "family" / "adaptive-s0")
    graph = ["graph", "build", run, "--starts", "4", "--features", "--device", "cpu"]
    if kind == "world-model":
        return ["train", "world-model", run, "--steps", "2", "--starts", "4"]
    if kind == "graph":
        return graph
    if kind == "head":
        return ["train", "head", *_plans(graph, words_of("world-model", place), place), "--updates", "2"]
    words = ["evaluate", run, "--instances", "4", "--validation", "2"]
    return [*words, "--budgets", "2", "--agents", "adaptive", "random"]


def _plans(graph, world_model, place):
    """What a head is trained on: a graph, and the policy whose plans it has."""
    for name, words in (("plans", graph), ("model", world_model)):
        if not (place / name).exists():
            assert main([*words, "--out", str(place / name), "--quiet"]) == 0
    return [str(place / "plans"), "--policy", str(place / "model")]


@pytest.fixture(scope="module", params=[*KINDS, *(pytest.param(kind, marks=pytest.mark.nightly) for kind in MORE)])
def alone(request, whole, changes):
    place = whole.out.parent
    words = words_of(request.param, place)
    run = lambda out: main([*words, "--out", str(out), "--quiet"])
    return request.param, Undisturbed.of(run, place / request.param, changes)


def test_a_change_that_fails_or_is_the_last(alone, changes):
    """At the beginning, between and at the end."""
    command = alone[1]
    assert command.count > 10
    command.check(changes, ACTS.values(), (1, command.count // 2, command.count))


@pytest.mark.nightly
@pytest.mark.parametrize("act", ACTS)
def test_every_change_that_fails_or_is_the_last(alone, changes, act, record_property):
    command = alone[1]
    command.check(changes, [ACTS[act]], range(1, command.count + 1))
    record_property("executed", command.count)


@pytest.mark.parametrize("alone", ["evaluate"], indirect=True)
@pytest.mark.parametrize("plant", ["says that all is well", "sweeps nothing"])
def test_what_is_missing_or_left_is_seen(alone, changes, monkeypatch, plant):
    """Of any three changes in a row one is a rename, before which there is a temporary file."""
    _, command = alone
    if plant == "sweeps nothing":
        monkeypatch.setattr(files, "sweep", lambda *_: None)
    else:
        command = replace(command, run=lambda out: 0 * alone[1].run(out))
    middle = command.count // 2
    with pytest.raises(AssertionError, match="change"):
        command.check(changes, [dead if plant == "sweeps nothing" else full], range(middle, middle + 3))
