"""D5: one seed gives the same weights, optimiser and logs to the bit, in other processes, places and surroundings."""

from __future__ import annotations

import json

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("pyarrow")
from tests.invariant.rank_jobs import Job, run, train, well
from tests.unit.train import runs
from tests.unit.train.runs import lines, same

from recommit.train.config import plain

#: What the second process sees otherwise than the first.
SURROUNDINGS = {"PYTHONHASHSEED": "4321", "TZ": "Asia/Kathmandu", "LC_ALL": "C"}
STEPS = {"sft": 8, "grpo": 4}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """This process trains straight on, another is interrupted twice; planted runs in that one."""
    folder = tmp_path_factory.mktemp("seed")
    runs.small_boards(folder / "data")
    (folder / "recipe.yaml").write_text(json.dumps({"sft": runs.TINY, "grpo": plain(runs.plan_of())}))  # JSON is YAML

    def job(kind, out, source, *changes, patch=""):
        device = ["run.device=cpu", *changes]
        return Job(kind, str(folder / "recipe.yaml"), str(folder / source), str(folder / out), device, patch)

    first = [job("sft", "sft-first", "data"), job("grpo", "grpo-first", "sft-first")]
    second = [
        job(kind, f"{kind}-second", source, patch=patch)
        for kind, source in (("sft", "data"), ("grpo", "sft-first"))
        for patch in ("interrupted", "")
    ]
    second += [job("sft", "sft-seed", "data", "run.seed=1"), job("sft", "sft-planted", "data", patch="unseeded")]
    assert [train(job) for job in first] == [0, 0]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SURROUNDINGS.items():
            patch.setenv(name, value)
        said = well(run(second, 1, folder))
    assert said.count("-second: 130") == 2, said
    return folder


@pytest.mark.parametrize("kind", STEPS)
def test_a_seed_decides_every_bit(place, kind, record_property):
    same(place / f"{kind}-first", place / f"{kind}-second", steps=STEPS[kind])
    record_property("executed", len(lines(place / f"{kind}-second")))


@pytest.mark.parametrize("name", ["sft-seed", "sft-planted"])
def test_the_comparison_sees_another_seed_and_an_order_that_nobody_decided(place, name):
    with pytest.raises(AssertionError):
        same(place / "sft-first", place / name, steps=STEPS["sft"])
