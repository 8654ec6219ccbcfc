"""T4: reinforcement on two and four ranks is that of one process, whatever the credit; no state is seen twice."""

from __future__ import annotations

import functools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("deepspeed", reason="needs the deepspeed extra")
from tests.invariant.rank_jobs import Job, apart, launch, run, train, weights, well
from tests.unit.train.runs import lines, plan_of, small_boards, warm_start

from recommit.train.config import plain

pytestmark = pytest.mark.nightly  # of every commit test_zero_lora.py puts two ranks beside one process

#: What weights may differ by; those of stage 3 are added up in another order, of which Adam makes more where a gradient
#: is next to nothing.
NEAR = {"plain": 2e-6, "0": 2e-6, "1": 2e-6, "2": 2e-6, "3": 2e-5}
STEPS = 3
EXACT = {"estimator": "exact"}
#: The last of three steps is the depth head's alone.
LAST = {"steps": 1, "head_only": True, "head_updates": 8, "depth_head_lr": 3e-3, "starts": 16, "budgets": [2, 4]}
MOVES = [{"steps": 3, "head_updates": 8}]
#: Changes to the plan by case.
CASES: dict[str, dict[str, Any]] = {
    "state": {},
    "state-best": {"advantage": {"follow": "best", "scale": "batch", "deadlock": "penalty"}},
    "episode": {"advantage": {"estimator": "episode"}},
    "branch": {"advantage": {"estimator": "branch", "follow": "random"}},
    "exact": {"advantage": {**EXACT, "depth_weighting": "chosen"}},
    "exact-uniform": {"advantage": {**EXACT, "depth_weighting": "uniform", "max_expansions": 1}},
    "exact-budgets": {"advantage": EXACT, "phases": [{"steps": 3, "budgets": [2, 4]}], "rollout": {"states": 20}},
    "exact-price": {"advantage": EXACT, "prices": {"action": [0.02, 0.005]}},
    "moves": {"advantage": EXACT, "phases": MOVES},
    "finish": {"head": {"features": "z+confidence", "hidden": 6}, "advantage": EXACT, "phases": [{"steps": 2}, LAST]},
    # What the laptop recipes have, all of it together.
    "sound": {
        "head": {"features": "z+confidence", "hidden": 6},
        "advantage": {**EXACT, "depth_weighting": "uniform", "max_expansions": 1},
        "prices": {"action": [0.02, 0.005]},
        "phases": [{"steps": 2, "head_updates": 8}, {**LAST, "price_action": 0.01}],
        "rollout": {"states": 20},
    },
    # Fewer states to learn from than there are ranks.
    "few": {"advantage": EXACT, "rollout": {"instances": 4, "budget": 2, "states": 2}},
}
for name in ("fixed-4", "random", "depth-only"):
    CASES |= {f"{name}-{group}": {"variant": name, "advantage": {"estimator": group}} for group in ("state", "exact")}
CASES["sound-lora"] = CASES["sound"]
CASES["depth-only-moves"] = {"variant": "depth-only", "advantage": EXACT, "phases": MOVES}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Warm starts with and without adapters, and recipes by case."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("credit")
    data = small_boards(folder / "data")
    warm_start(data, folder / "init")
    warm_start(data, folder / "lora", lora={"rank": 4, "alpha": 8, "dropout": 0.05})
    rates = {"steps": STEPS, "batch": 16, "micro_batch": 4, "lr": 1e-4, "decoder_lr": 2e-4, "depth_head_lr": 1e-3}
    shared = {"optim": rates, "validation": {"every": STEPS}, "run": {"save_every": STEPS, "device": "cpu"}}
    for case, changes in CASES.items():
        rollout = {"instances": 8, "budget": 4, **changes.get("rollout", {})}
        plan = plain(plan_of(**{**changes, **shared, "rollout": rollout}))
        (folder / f"{case}.yaml").write_text(json.dumps({"grpo": plan}))
    return folder


def job(place, case, stage="", world=1, patch="looks", name=""):
    """A run of a case, by plain PyTorch or by DeepSpeed of a stage."""
    out = place / f"{name or case}-{stage or 'plain'}-{world}"
    engine = ["engine.kind=deepspeed", f"engine.stage={stage}"] if stage not in ("", "plain") else []
    init = place / ("lora" if case.endswith("lora") else "init")
    return Job("grpo", str(place / f"{case}.yaml"), str(init), str(out), engine, patch)


@pytest.fixture(scope="module")
def alone(place):
    """A case's run in one plain process."""

    @functools.cache
    def run(case):
        own = job(place, case)
        assert train(own) == 0
        return Path(own.out)

    return run


def together(place, world, jobs):
    """Where the runs of several ranks lie."""
    well(run(jobs, world, place))
    return [Path(each.out) for each in jobs]


def same(one, other, stage):
    """Two runs moved the same weights to the same places, and said the same on the way."""
    assert apart(one, other) <= NEAR[stage], other
    for line, own in zip(lines(one), lines(other), strict=True):
        assert own.keys() == line.keys()
        for name in ("loss", "solve_rate", "actions", "advantage", "entropy_depth"):
            assert own[name] == pytest.approx(line[name], abs=2e-5), name


def looks(run, world):
    """Of every rank, graph by graph, the states that it looked at."""
    return [json.loads((run / f"looks-{rank}.json").read_text()) for rank in range(world)]


def once(one, other, world):
    """Every state of every graph is looked at by one rank, and they are those of one process."""
    (whole,) = looks(one, 1)
    for graph, *parts in zip(whole, *looks(other, world), strict=True):
        assert Counter(graph) == sum((Counter(part) for part in parts), Counter())
        assert max(Counter(graph).values()) == 1


def learned(place, run):
    """How far a weight moved from the warm start."""
    start, end = weights(place / ("lora" if "-lora-" in run.name else "init")), weights(run)
    return max((start[k] - end[k]).abs().max().item() for k in start if start[k].shape == end[k].shape)


@pytest.mark.parametrize("defect", ["masters", "ranks"])
def test_what_a_rank_forgets_is_noticed(place, alone, defect):
    (spoilt,) = together(place, 2, [job(place, "sound", "2", 2, defect, name=defect)])
    with pytest.raises(AssertionError):
        same(alone("sound"), spoilt, "2")
    assert apart(alone("sound"), spoilt) > 1e-3


@pytest.mark.parametrize("world", [2, 4])
@pytest.mark.parametrize("stage", ["plain", "0", "1", "2", "3"])
def test_every_credit_and_variant_is_that_of_one_process(place, alone, stage, world):
    runs = together(place, world, [job(place, case, stage, world) for case in CASES])
    for case, own in zip(CASES, runs, strict=True):
        assert learned(place, own) > 1e-4, case
        same(alone(case), own, stage)
        once(alone(case), own, world)


@pytest.mark.parametrize("stage", ["2", "3"])
def test_a_run_that_was_stopped_ends_in_the_same_bits(place, stage):
    """In its middle, between the head's own moves."""
    stopped = [job(place, "sound", stage, 2, patch, name="stopped") for patch in ("interrupted", "")]
    straight, other, _ = together(place, 2, [job(place, "sound", stage, 2, "", name="straight"), *stopped])
    one, two = weights(straight), weights(other)
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert (straight / "metrics.jsonl").read_bytes() == (other / "metrics.jsonl").read_bytes()


@pytest.mark.parametrize("world", [2, 3])
def test_weights_that_are_put_in_are_what_every_stage_goes_on_from(tmp_path, world):
    well(launch("tests.invariant.assign_rank", [], world, tmp_path / "assign"))
