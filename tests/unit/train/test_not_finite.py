"""T5: losses, gradients and rewards that are no numbers, at random steps: nothing moves, it is logged, and no such
weight is ever kept or called the best."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from safetensors.torch import load_file
from tests.unit.train.runs import FINISHED, lines, plan_of

from recommit.train import trainer as loop
from recommit.train.engine.base import Engine
from recommit.train.grpo import reward
from recommit.train.grpo import trainer as run
from recommit.train.grpo.depth_head_optimizer import DepthHeadOptimizer
from recommit.train.sft import trainer as sft

#: What comes of a loss.
LOSSES = {"nan": math.nan, "infinite": math.inf, "overflow": 1e38}
STEPS = {"sft": 8, "grpo": 4}


def drawn(kind):
    """Some of the steps, never all: by their numbers in the log, from 1."""
    rng = np.random.default_rng(505)
    return set((1 + rng.choice(STEPS[kind], rng.integers(1, STEPS[kind] // 2 + 1), replace=False)).tolist())


def begin(kind, plan, data, init, out):
    if kind == "sft":
        return sft.train(plan, data, out, quiet=True)
    return run.train(plan_of(), init, out, quiet=True)


def train(kind, plan, data, init, out, when):
    """A run whose steps ``when`` are poisoned ends well, unless the last is one of them."""
    if STEPS[kind] in when:
        with pytest.raises(loop.Diverged, match=f"step {STEPS[kind]}: the gradient of the last step"):
            begin(kind, plan, data, init, out)
    else:
        assert begin(kind, plan, data, init, out) == 0


@pytest.fixture
def steps(monkeypatch):
    """The number of the step that is being taken, from 1, by the trainer's own count."""
    at = [0]
    for cls in (sft.SftTrainer, run.GrpoTrainer):

        def noted(self, take=cls._step):
            at[0] = self.state.step + 1
            return take(self)

        monkeypatch.setattr(cls, "_step", noted)
    return at


@pytest.fixture
def watched(monkeypatch, steps):
    """Steps whose gradient was not finite; they must leave every weight as it was, and the others must move some."""
    bad, take = set(), Engine.step

    def step(self, scale):
        before = self.full(self.parameters)
        norm = take(self, scale)
        moved = [not torch.equal(a, b) for a, b in zip(before, self.full(self.parameters), strict=True)]
        assert any(moved) == math.isfinite(norm), (steps[0], norm)
        if not math.isfinite(norm):
            bad.add(steps[0])
        return norm

    monkeypatch.setattr(Engine, "step", step)
    return bad


def poison(monkeypatch, steps, where, how, when):
    """Plant it in the losses, in one number of one gradient, or in the rewards of these steps."""
    backward, rewards = Engine.backward, reward.rewards

    def spoiled(self, loss):
        scale = LOSSES[how] if where == "loss" and steps[0] in when else 1.0
        backward(self, loss * scale)
        if where == "gradient" and steps[0] in when:
            next(p.grad for p in reversed(self.parameters) if p.grad is not None).view(-1)[-1] = LOSSES[how]

    def unrewarded(*arguments, **options):
        given = rewards(*arguments, **options)
        return given * LOSSES[how] if where == "reward" and steps[0] in when else given

    monkeypatch.setattr(Engine, "backward", spoiled)
    monkeypatch.setattr(reward, "rewards", unrewarded)


def checkpoints(folder):
    return {int(path.name.partition("-")[2]): path for path in (folder / "checkpoints").glob("step-*")}


def finite(kept):
    """Are all weights and moments of these checkpoints?"""
    saved = [load_file(path) for place in kept.values() for path in place.rglob("*.safetensors")]
    return all(bool(tensor.isfinite().all()) for weights in saved for tensor in weights.values())


def check(folder, kind, bad):
    """Everything that is promised of a run that met them."""
    logged = lines(folder)
    assert [line["step"] for line in logged] == list(range(1, STEPS[kind] + 1))
    assert {line["step"] for line in logged if not math.isfinite(line["gradient_norm"])} == bad
    kept = checkpoints(folder)
    assert not bad & kept.keys()
    assert finite(kept)
    if not kept:
        assert not (folder / "best.json").exists()
        return
    best = json.loads((folder / "best.json").read_text())
    assert best["step"] in kept
    assert all(math.isfinite(number) for number in best["score"])
    read = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert not bad & {line["step"] for line in read if "validation" in line}


WAYS = [("loss", "nan"), ("loss", "overflow"), ("gradient", "infinite")]
CASES = [(kind, *way, drawn(kind)) for kind in STEPS for way in WAYS]
CASES += [("grpo", "reward", "nan", {2, 3}), *((kind, "loss", "nan", {last}) for kind, last in STEPS.items())]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("kind", "where", "how", "when"), CASES)
def test_nothing_moves_and_nothing_of_it_is_kept(
    kind, where, how, when, plan, data, init, tmp_path, monkeypatch, steps, watched, record_property
):
    poison(monkeypatch, steps, where, how, when)
    train(kind, plan, data, init, tmp_path / "run", when)
    assert watched == when
    check(tmp_path / "run", kind, when)
    record_property("executed", len(when))


def test_several_in_a_row_end_the_run(plan, data, init, tmp_path, monkeypatch, steps):
    monkeypatch.setattr(loop, "PATIENCE_WITH_NAN", 2)
    poison(monkeypatch, steps, "loss", "nan", {2, 3})
    with pytest.raises(loop.Diverged, match="step 2: 2 gradients in a row were not finite"):
        begin("sft", plan, data, init, tmp_path / "run")


@pytest.mark.parametrize("at", [1, 4])
def test_the_depth_heads_own_moves_end_the_run(at, init, tmp_path, monkeypatch, steps):
    """Of a step for both heads, and of one that finishes the depth head alone."""
    whole = DepthHeadOptimizer._objective
    spoiled = lambda *a: whole(*a) * (math.nan if steps[0] == at else 1.0)
    monkeypatch.setattr(DepthHeadOptimizer, "_objective", spoiled)
    finished = {**FINISHED, "phases": [{"steps": 2, "head_updates": 2}, FINISHED["phases"][1]]}
    with pytest.raises(loop.Diverged, match="the depth head's own updates"):
        run.train(plan_of(**finished), init, tmp_path / "run", quiet=True)
    kept = checkpoints(tmp_path / "run")
    assert set(kept) == ({2} if at == 4 else set())
    assert finite(kept)


def test_the_checks_see_an_engine_that_moves_anyway(plan, data, init, tmp_path, monkeypatch, steps):
    def careless(self, scale):
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return scale

    monkeypatch.setattr(Engine, "step", careless)
    poison(monkeypatch, steps, "gradient", "nan", {3})
    train("sft", plan, data, init, tmp_path / "run", {3})
    with pytest.raises(AssertionError):
        check(tmp_path / "run", "sft", {3})
