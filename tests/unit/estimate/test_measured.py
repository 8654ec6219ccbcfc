"""What an estimate says, against real steps."""

from __future__ import annotations

import pytest
from tests.unit.estimate.measuring import ADAPTED, WHOLE, apart, estimated, grpo, sft, taken

from recommit.data import DataSpec, Difficulty, build
from recommit.estimate import costs
from recommit.estimate.meta_model import Shadow
from recommit.policy.policy import CommitPolicy

#: Name -> the stage, and the model of its warm start if it is a reinforcement. One state is played once: no play, no
#: bound.
CASES = {
    "warm start of a whole model in parts": (sft(WHOLE, optim={"micro_batch": 3}), None),
    "warm start on states of its own": (sft(WHOLE, targets={"dagger": 0.5}), None),
    "adapter in bfloat16": (sft({**ADAPTED, "dtype": "bfloat16"}), None),
    "reinforcement of a whole model": (grpo(head={"features": "z+confidence", "hidden": 8}), sft(WHOLE).model),
    "of an adapter, computed again": (grpo(engine={"checkpointing": True}), sft(ADAPTED).model),
    "of the depth head alone": (grpo(variant="depth-only"), sft(ADAPTED).model),
    "of a fixed depth by episodes": (
        grpo(variant="fixed-4", advantage={"estimator": "episode", "group_size": 3}, optim={"batch": 24}),
        sft(ADAPTED).model,
    ),
}

#: In the nightly tier: the same two engines, models and stages in other combinations.
MORE = (
    "of the depth head alone",
    "adapter in bfloat16",
    "of an adapter, computed again",
    "of a fixed depth by episodes",
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.nightly) if name in MORE else name for name in CASES]
)
def test_a_step_takes_what_was_estimated(name, data, tmp_path):
    config, model = CASES[name]
    real, said = taken(config, data, tmp_path / "run", model), estimated(config, model)
    assert apart(said, real) < 0.05
    # Only pictures that come again, and what kernels need for themselves, lie between the two.
    assert said.phases[0].flops >= real.flops


@pytest.mark.parametrize(
    ("config", "model"), [(sft(ADAPTED, optim={"batch": 16}), None), (grpo(optim={"batch": 16}), sft(ADAPTED).model)]
)
def test_sizes_that_share_a_pass(config, model, data, tmp_path):
    """One estimate of both, and one that forgets that they share."""
    larger = tmp_path / "larger"
    build(DataSpec("sliding", (3, 3), (Difficulty((8, 14)),), count=60, ties="random"), larger)
    real, sizes = taken(config, [data, larger], tmp_path / "run", model), ((2, 3), (3, 3))
    assert apart(estimated(config, model, sizes), real) < 0.05
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CommitPolicy, "together", lambda *_: [[0], [1]])
        assert apart(estimated(config, model, sizes), real) > 0.05


def forget_recomputation(patch):
    once = Shadow.cost

    def kept(self, passes):
        self.policy.backbone.recompute = False
        return once(self, passes)

    patch.setattr(Shadow, "cost", kept)


def forget_the_reference(patch):
    patch.setattr(Shadow, "_reference", lambda *_: lambda: [None])


def forget_the_moments(patch):
    patch.setattr(costs, "MOMENTS", 0)


@pytest.mark.parametrize(
    ("forget", "config", "model"),
    [
        (forget_recomputation, sft(WHOLE, engine={"checkpointing": True}), None),
        (forget_the_reference, grpo(), sft(ADAPTED).model),
        (forget_the_moments, sft(WHOLE, engine={"checkpointing": True}), None),
    ],
)
def test_an_estimate_that_forgets_something_is_seen(forget, config, model, data, tmp_path, monkeypatch):
    real = taken(config, data, tmp_path / "run", model)
    assert apart(estimated(config, model), real) < 0.05
    forget(monkeypatch)
    assert apart(estimated(config, model), real) > 0.1
