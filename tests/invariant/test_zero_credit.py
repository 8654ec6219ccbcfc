"""T4: reinforcement on two and four ranks is that of one process, whatever the credit; no state is seen twice."""

from __future__ import annotations

import json
from collections import Counter

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("deepspeed", reason="needs the deepspeed extra")
from tests.invariant.credit_rank import CASES, DEFECTS, STEPS, play
from tests.invariant.zero_runs import apart, succeed, weights
from tests.unit.train.runs import lines, small_boards, warm_start

pytestmark = pytest.mark.nightly  # of every commit test_zero_lora.py puts two ranks beside one process

#: What weights may differ by; those of stage 3 are added up in another order, of which Adam makes more where a gradient
#: is next to nothing.
NEAR = {"0": 2e-6, "1": 2e-6, "2": 2e-6, "3": 2e-5}
#: A planted defect stands behind the @.
PLANTED = {"2": [f"sound@{name}" for name in DEFECTS]}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("credit")
    data = small_boards(folder / "data")
    warm_start(data, folder / "init")
    return folder


@pytest.fixture(scope="module")
def adapted(place):
    """A warm start with adapters beside the other."""
    return warm_start(place / "data", place / "lora", lora={"rank": 4, "alpha": 8, "dropout": 0.05})


@pytest.fixture(scope="module")
def alone(place):
    """A case's run in one plain process."""

    def run(case):
        out = place / f"{case}-plain-1"
        if not out.is_dir():
            assert play(place, case, "plain") == 0
        return out

    return run


@pytest.fixture(scope="module")
def together(place):
    """Runs on several ranks; ``cases`` by stage in one start."""

    def run(cases, world):
        names = [f"{case}-{stage}-{world}" for stage, listed in cases.items() for case in listed]
        if missing := [name for name in names if not (place / name).is_dir()]:
            succeed(
                "tests.invariant.credit_rank", [str(place), *missing], world, place / f"{missing[0]}-ranks", limit=1800
            )
        return {stage: {case: place / f"{case}-{stage}-{world}" for case in listed} for stage, listed in cases.items()}

    return run


def difference(one, other):
    return max(apart(weights(one, STEPS), weights(other, STEPS)).values())


def same(one, other, stage):
    """Two runs moved the same weights to the same places, and said the same on the way."""
    for name, own in apart(weights(one, STEPS), weights(other, STEPS)).items():
        assert own <= NEAR[stage], name
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
    start, end = weights(place / ("lora" if "-lora-" in run.name else "init"), 40), weights(run, STEPS)
    return max((start[k] - end[k]).abs().max().item() for k in start if start[k].shape == end[k].shape)


@pytest.mark.parametrize("defect", DEFECTS)
def test_what_a_rank_forgets_is_noticed(alone, together, defect):
    run = together(PLANTED, 2)["2"][f"sound@{defect}"]
    with pytest.raises(AssertionError):
        same(alone("sound"), run, "2")
    assert difference(alone("sound"), run) > 1e-3


@pytest.mark.usefixtures("adapted")
@pytest.mark.parametrize("world", [2, 4])
@pytest.mark.parametrize("stage", ["0", "1", "2", "3"])
def test_every_credit_and_variant_is_that_of_one_process(place, alone, together, stage, world):
    for case, run in together({stage: CASES}, world)[stage].items():
        assert learned(place, run) > 1e-4, case
        same(alone(case), run, stage)
        once(alone(case), run, world)


@pytest.mark.parametrize("stage", ["2", "3"])
def test_a_run_that_was_stopped_ends_in_the_same_bits(together, stage):
    """In its middle, between the head's own moves."""
    straight, stopped = together({stage: ["sound", "sound@stopped"]}, 2)[stage].values()
    one, other = weights(straight, STEPS), weights(stopped, STEPS)
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert (straight / "metrics.jsonl").read_bytes() == (stopped / "metrics.jsonl").read_bytes()


@pytest.mark.parametrize("world", [2, 3])
def test_weights_that_are_put_in_are_what_every_stage_goes_on_from(tmp_path, world):
    succeed("tests.invariant.assign_rank", [], world, tmp_path / "assign")
