"""Learning rates, schedules, gradients that are not finite, what a checkpoint holds, and what DeepSpeed is told."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from tests.refusals import refused

from recommit.runs.distributed import Team
from recommit.train.config import EngineConfig, OptimConfig
from recommit.train.engine.base import BUCKET, Engine, deepspeed_settings, load_states, save_states
from recommit.train.optim import ParameterGroup, lr_schedule


def engine(seed=0, lrs=(1e-2, 1e-3), **options):
    generator = torch.Generator().manual_seed(seed)
    parameters = [torch.nn.Parameter(torch.randn(5, generator=generator)) for _ in lrs]
    made = [ParameterGroup(str(i), lr, [p]) for i, (lr, p) in enumerate(zip(lrs, parameters, strict=True))]
    return Engine(made, OptimConfig(**options), Team()), parameters


def move(engine, parameters):
    engine.backward(sum((p**2).sum() for p in parameters))
    engine.step(1.0)


def test_groups_move_at_their_own_rate():
    made, parameters = engine(weight_decay=0.0)
    before = [p.detach().clone() for p in parameters]
    move(made, parameters)
    moved = [(p - b).abs().max().item() for p, b in zip(parameters, before, strict=True)]
    assert moved == pytest.approx([1e-2, 1e-3], rel=1e-3)  # Adam's first step is the learning rate


def test_saved_and_loaded_goes_on_to_the_bit(tmp_path):
    straight, parameters = engine()
    for _ in range(3):
        move(straight, parameters)
    straight.save(tmp_path)
    other, taken = engine(seed=1)
    other.load(tmp_path)
    for _ in range(3):
        move(straight, parameters)
        move(other, taken)
    assert all(torch.equal(p, q) for p, q in zip(parameters, taken, strict=True))


SCHEDULES = {"linear": [0.5, 0.9, 0.5, 0.1], "constant": [0.5, 1, 1, 1], "cosine": [0.5, 0.9755, 0.5, 0.0245]}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name):
    config = OptimConfig(steps=10, warmup=2, schedule=name)
    assert [lr_schedule(config, step) for step in (0, 1, 5, 9)] == pytest.approx(SCHEDULES[name], abs=1e-4)


STATES = [
    {"weight": torch.arange(6.0).view(2, 3), "exp_avg": torch.ones(2, 3), "step": torch.tensor(4.0)},
    {"weight": torch.arange(4.0)},
]
SHAPES = [torch.Size([2, 3]), torch.Size([4])]


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(("limit", "files"), [(1 << 20, 1), (1, 2)])
def test_it_comes_back_from_any_number_of_files(tmp_path, limit, files):
    save_states(tmp_path, STATES, limit=limit)
    assert len(list(tmp_path.iterdir())) == files
    assert all(equal(*pair) for pair in zip(load_states(tmp_path, SHAPES), STATES, strict=True))


def test_ranks_that_do_not_write_go_through_every_state(tmp_path):
    gathered = []
    save_states(tmp_path, (gathered.append(state) or state for state in STATES), write=False)
    assert gathered == STATES
    assert not list(tmp_path.iterdir())


def told(**engine):
    return deepspeed_settings(EngineConfig(**{"kind": "deepspeed", **engine}), OptimConfig(batch=64), 4, 2)


def test_deepspeed_is_told_what_follows_from_the_recipe():
    found = told(stage=3, offload=True)
    assert found["train_micro_batch_size_per_gpu"] * found["gradient_accumulation_steps"] * 2 == 64
    zero = found["zero_optimization"]
    assert (zero["stage"], zero["reduce_bucket_size"], zero["offload_param"]) == (3, BUCKET, {"device": "cpu"})
    assert zero["stage3_param_persistence_threshold"] == 0


def test_traps_are_refused(tmp_path):
    save_states(tmp_path, STATES)
    load = lambda *shapes: lambda: next(load_states(tmp_path, shapes))
    refused(
        [
            (load(SHAPES[0], torch.Size([5])), "expected weight 1 of shape (5,), got (4,)"),
            (load(SHAPES[0]), "expected the state of 1 weights, got 1.weight besides"),
            (load(*SHAPES, torch.Size([1])), "expected weight 2 of shape (1,), got None"),
            (lambda: told(stage=0, offload=True), "engine.offload: expected stage 1, 2 or 3, got 0"),
            (lambda: told(stage=4), "engine.stage: expected 0, 1, 2 or 3, got 4"),
            (lambda: told(kind="plain", offload=True), "engine.kind: expected deepspeed with"),
        ]
    )
